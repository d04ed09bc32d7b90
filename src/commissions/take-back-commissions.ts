import type { Environment } from "../kernel/caller.ts";
import { balancesOf, entriesAbout } from "../ledger/read-books.ts";
import { type Entry, firmOf } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { isPayment, takingsBack } from "./rules.ts";

/** Takes back what was paid for a settlement, whatever the rate is now; for the caller to write. */
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
  return takingsBack(paid, left);
}
