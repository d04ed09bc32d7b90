import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfCredit } from "./change-of-credit.ts";
import { actionOf, creditLifecycle, isLive, normalScripNo, type RegistryNews } from "./rules.ts";
import { type CreditRow, lockOpenByNumber, setCredits } from "./store.ts";

export type News = {
  readonly scripNo: string;
  readonly news: RegistryNews;
  readonly reason: string;
};

export type NewsResult = {
  readonly scrip_no: string;
  readonly ok: boolean;
  readonly from: string | null;
  readonly to: string | null;
  /** The deal that had the credit, which must now look at it. */
  readonly reserved_for: string | null;
  readonly problem: string | null;
};

/** Customs may speak about a credit at any time, also while a deal has it. */
export async function applyRegistryNews(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  environment: Environment,
  news: readonly News[],
): Promise<NewsResult[]> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => await tellNews(tx, actor, environment, news, now));
}

/** The same inside somebody else's transaction. A number that comes twice is heard once. */
export async function tellNews(
  tx: Tx,
  actor: Actor,
  environment: Environment,
  news: readonly News[],
  now: Date,
): Promise<NewsResult[]> {
  const numbers = news.map(({ scripNo }) => normalScripNo(scripNo) ?? "");
  const open = await lockOpenByNumber(tx, environment, [...new Set(numbers)]);
  const live = new Map(open.filter(({ state }) => isLive(state)).map((row) => [row.scrip_no, row]));
  const heard = new Map<string, { readonly before: CreditRow; readonly item: News }>();
  const placements: CreditRow[] = [];
  const results = news.map((item, index): NewsResult => {
    const number = numbers[index] ?? "";
    const before = live.get(number);
    if (!before) return nothing(item, "no live holding of this number");
    if (heard.has(before.credit_id)) return nothing(item, "this number was named before");
    const placed = placementOf(before, item, now);
    if (placed instanceof Failure) return nothing(item, placed.message);
    heard.set(before.credit_id, { before, item });
    placements.push(placed);
    return {
      scrip_no: number,
      ok: true,
      from: before.state,
      to: placed.state,
      reserved_for: before.reserved_for,
      problem: null,
    };
  });
  const placed = placements.length > 0 ? await setCredits(tx, placements, now) : [];
  const changes = placed.flatMap((after) => {
    const told = heard.get(after.credit_id);
    if (!told) return [];
    const { before, item } = told;
    const event = eventOf(item.news, after);
    const data = { reason: item.reason };
    return [changeOfCredit({ action: item.news, before, after, data, ...(event && { event }) })];
  });
  await recordChanges(tx, actor, changes, now);
  return results;
}

function placementOf(row: CreditRow, { news, reason }: News, now: Date): CreditRow | Failure {
  try {
    const state = advance(creditLifecycle, row.state, actionOf(news, row.state_before_suspension));
    const ends = !isLive(state);
    return {
      ...row,
      state,
      state_before_suspension: state === "suspended" ? row.state : null,
      reserved_for: ends ? null : row.reserved_for,
      reason,
      as_of: now,
    };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function eventOf(news: RegistryNews, after: CreditRow) {
  if (news === "suspend") return "credit.suspended" as const;
  if (after.state === "listed") return "credit.listed" as const;
  return undefined;
}

function nothing({ scripNo }: News, problem: string): NewsResult {
  return { scrip_no: scripNo, ok: false, from: null, to: null, reserved_for: null, problem };
}
