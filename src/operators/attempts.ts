import type { Context } from "../platform/context.ts";
import { tooManyAttempts, waitAfter } from "./rules.ts";
import { forgetAttempts, lockAttempts, setAttempts } from "./store.ts";

/** Names that nobody has are forgotten when nobody has tried them for a day. */
const forgetAfterMs = 86_400_000;

/**
 * Runs an attempt at somebody's credentials. It is counted before it is judged, and each failure makes
 * the next one wait longer, whether or not somebody has that name. Success ends the count.
 */
export async function limitAttempts<Result>(
  ctx: Pick<Context, "db" | "now">,
  nameKey: string,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const now = ctx.now();
  const waitMs = await ctx.db.transaction(async (tx) => {
    const { failures, next_at } = await lockAttempts(tx, nameKey, now);
    if (next_at > now) return next_at.getTime() - now.getTime();
    const nextAt = new Date(now.getTime() + waitAfter(failures + 1) * 1_000);
    await setAttempts(tx, nameKey, { failures: failures + 1, next_at: nextAt });
    return 0;
  });
  if (waitMs > 0) throw tooManyAttempts(Math.ceil(waitMs / 1_000));
  const result = await attempt();
  await ctx.db.transaction(async (tx) => {
    await forgetAttempts(tx, { nameKey, before: new Date(now.getTime() - forgetAfterMs) });
  });
  return result;
}
