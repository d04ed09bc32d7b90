import type { Db, Tx } from "../platform/postgres.ts";
import { type Hold, holdsOf } from "./rules.ts";
import { type FirmRow, listFirmsById, shareFirms } from "./store.ts";

/** Where a firm's money goes, as far as anybody is shown, and what keeps it from going there. */
export type PayeeFirm = {
  readonly account: { readonly ifsc: string; readonly last4: string } | null;
  readonly holds: readonly Hold[];
};

export async function payeesOf(
  db: Db,
  firmIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, PayeeFirm>> {
  return toPayees(await listFirmsById(db, firmIds), now);
}

/** The same for money that leaves now: a hold that is being put on a firm is waited for. */
export async function lockPayees(
  tx: Tx,
  firmIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, PayeeFirm>> {
  return toPayees(await shareFirms(tx, firmIds), now);
}

function toPayees(firms: readonly FirmRow[], now: Date): ReadonlyMap<string, PayeeFirm> {
  return new Map(
    firms.map((firm) => {
      const { bank_ifsc: ifsc, bank_last4: last4 } = firm;
      const account = ifsc !== null && last4 !== null ? { ifsc, last4 } : null;
      return [firm.firm_id, { account, holds: holdsOf(firm, now) }];
    }),
  );
}
