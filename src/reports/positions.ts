import { readLastSequence } from "../journal/read-events.ts";
import { requireVisibleFirm } from "../firms/find-firms.ts";
import type { Caller } from "../kernel/caller.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { readBalances } from "../ledger/read-books.ts";
import type { Context } from "../platform/context.ts";
import { sumCash, sumHeld } from "./position-rules.ts";
import type { Positions, PositionsQuery } from "./position-schema.ts";
import { listFirmIds, sumCredits } from "./store.ts";

/** Reads credits, cash and version in one snapshot, so that they agree. */
export async function readPositions(
  ctx: Context,
  caller: Caller,
  query: PositionsQuery,
): Promise<Positions> {
  const now = ctx.now();
  const { deskId, environment } = caller;
  return await ctx.db.transaction(
    async (tx) => {
      const firmId = query.firm_id ?? visibleTo(caller).firmId;
      if (firmId !== null) await requireVisibleFirm(tx, caller, firmId);
      const holder = { deskId, firmId };
      const held = await sumCredits(tx, holder, istDay(now));
      const balances = await readBalances(tx, environment, await listFirmIds(tx, holder));
      return {
        firm_id: firmId,
        schemes: held.map((sums) => ({ ...sums, held_paise: sumHeld(sums) })),
        cash: sumCash(balances),
        as_of: istTimestamp(now),
        version: await readLastSequence(tx, deskId),
      };
    },
    { snapshot: true },
  );
}
