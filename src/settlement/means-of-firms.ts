import type { Environment } from "../kernel/caller.ts";
import type { Paise } from "../kernel/money.ts";
import { balancesOf } from "../ledger/read-books.ts";
import type { Tx } from "../platform/postgres.ts";
import { listUnfunded } from "./store.ts";

/** What a firm can pay at once, and what it has bought that waits for money. */
export type Means = { readonly availablePaise: Paise; readonly unfundedPaise: Paise };

/** What firms can buy with, by their ids. */
export async function meansOfFirms(
  tx: Tx,
  environment: Environment,
  firmIds: readonly string[],
): Promise<Map<string, Means>> {
  if (firmIds.length === 0) return new Map();
  const [balances, unfunded] = await Promise.all([
    balancesOf(tx, environment, firmIds),
    listUnfunded(tx, environment, firmIds),
  ]);
  const waiting = new Map(unfunded.map((row) => [row.firm_id, row.unfunded_paise]));
  return new Map(
    balances.map(({ firm_id, available_paise }) => [
      firm_id,
      {
        // More than a double holds is more than any deal costs.
        availablePaise: Math.min(Number(available_paise), Number.MAX_SAFE_INTEGER),
        unfundedPaise: waiting.get(firm_id) ?? 0,
      },
    ]),
  );
}
