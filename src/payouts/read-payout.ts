import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Payout } from "./schema.ts";
import { findPayout, listLines } from "./store.ts";
import { viewPayout } from "./view-payout.ts";

export async function readPayout(
  ctx: Pick<Context, "db">,
  caller: Caller,
  payoutId: string,
): Promise<Payout> {
  const party = holderOf(caller);
  const row = isId("pay", payoutId) ? await findPayout(ctx.db, party, payoutId) : undefined;
  if (!row) throw notFound();
  return viewPayout(row, await listLines(ctx.db, [payoutId]));
}
