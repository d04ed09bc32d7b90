import { lastSequence } from "../events/last-sequence.ts";
import { boundFirm } from "../firms/doer.ts";
import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { balancesOf } from "../ledger/read-books.ts";
import type { Context } from "../platform/context.ts";
import { heldPaise, sumOfCash } from "./rules.ts";
import type { Positions, PositionsQuery } from "./schema.ts";
import { listFirmIds, sumCredits } from "./store.ts";

/** Credits, cash and the version are read as of one moment, so that they agree with each other. */
export async function readPositions(
  ctx: Context,
  caller: Caller,
  query: PositionsQuery,
): Promise<Positions> {
  const now = ctx.now();
  const { deskId, environment } = caller;
  return await ctx.db.transaction(
    async (tx) => {
      const firmId = query.firm_id ?? boundFirm(caller);
      if (firmId !== null) await firmOfCaller(tx, caller, firmId);
      const holder = { deskId, firmId };
      const held = await sumCredits(tx, holder, istDay(now));
      const balances = await balancesOf(tx, environment, await listFirmIds(tx, holder));
      return {
        firm_id: firmId,
        schemes: held.map((sums) => ({ ...sums, held_paise: heldPaise(sums) })),
        cash: sumOfCash(balances),
        as_of: istTimestamp(now),
        version: await lastSequence(tx, deskId),
      };
    },
    { snapshot: true },
  );
}
