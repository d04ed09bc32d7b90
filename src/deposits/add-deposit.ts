import { recordChanges } from "../events/record-changes.ts";
import { operatorOn } from "../firms/doer.ts";
import { refuseOffboarded } from "../firms/firm-of-caller.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import { tradingFirms } from "../firms/trading-firms.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { utrForm } from "../kernel/utr.ts";
import { assertWritten } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import { type DepositRow, findDeposit } from "./store.ts";
import { takeDeposits } from "./take-deposits.ts";

export type AddDeposit = {
  readonly environment: Environment;
  readonly firmId: string;
  readonly paise: number;
  readonly reference: string;
};

/**
 * Money that a firm has paid in ahead of its deals. The bank's reference names it: adding it again
 * finds it, and another firm or amount under it is a conflict.
 */
export async function addDeposit(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { environment, firmId, paise, reference }: AddDeposit,
): Promise<{ readonly outcome: "added" | "known"; readonly deposit: DepositRow }> {
  if (!utrForm.test(reference)) {
    throw unprocessable({ path: "reference", problem: "must be 12 to 22 capitals and digits" });
  }
  const now = ctx.now();
  const { deskId } = await operatorOn(ctx, firmId);
  return await ctx.db.transaction(async (tx) => {
    const firm = await firmOfDesk(tx, deskId, firmId);
    if (firm.environment !== environment) {
      throw new Failure("not_found", `${firmId} is not a firm of ${environment}`);
    }
    const known = await findDeposit(tx, environment, reference);
    if (known) {
      if (known.firm_id === firmId && known.paise === paise) {
        return { outcome: "known", deposit: known };
      }
      throw new Failure("conflict", `${reference} brought other money`, {
        detail: { reason: "reference_used", firm_id: known.firm_id, paise: known.paise },
      });
    }
    // Locked, so that a firm which is leaving has left, or stays until its money is seen.
    const [locked] = (await tradingFirms(tx, [firmId])).values();
    if (locked) refuseOffboarded(locked);
    const deposit = { environment, reference, deskId, firmId, paise, settlementId: null };
    const { entries, changes } = await takeDeposits(tx, [deposit], now);
    assertWritten(await postEntries(tx, entries, now));
    await recordChanges(tx, operator, changes, now);
    const row = await findDeposit(tx, environment, reference);
    if (!row) throw new Error("a deposit that was taken is there");
    return { outcome: "added", deposit: row };
  });
}
