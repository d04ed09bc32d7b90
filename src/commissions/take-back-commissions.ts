import type { Environment } from "../kernel/caller.ts";
import { balancesOf, entriesAbout } from "../ledger/read-books.ts";
import { type Entry, firmOf } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { isPayment, takingBackOf } from "./rules.ts";

/**
 * Takes back what was paid for a settlement, whatever the rate is now; for the caller to write.
 * What each desk still has is used up payment by payment.
 */
export async function takeBackCommissions(
  tx: Tx,
  environment: Environment,
  settlementId: string,
): Promise<Entry[]> {
  const written = await entriesAbout(tx, {
    environment,
    kind: "commission",
    subject: settlementId,
  });
  const paid = written
    .filter(({ ordinal }) => isPayment(ordinal))
    .flatMap(({ ordinal, movements }) =>
      movements.map((movement) => ({
        environment,
        subject: settlementId,
        ordinal,
        deskId: firmOf(movement.to_account) ?? "",
        paise: movement.amount,
      })),
    );
  const deskIds = [...new Set(paid.map(({ deskId }) => deskId))];
  const balances = await balancesOf(tx, environment, deskIds);
  const left = new Map(balances.map((balance) => [balance.firm_id, balance.commission_paise]));
  return paid.map((commission) => {
    const available = left.get(commission.deskId) ?? 0;
    const covered = Math.min(commission.paise, available);
    left.set(commission.deskId, available - covered);
    return takingBackOf(commission, covered);
  });
}
