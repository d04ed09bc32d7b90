import type { Db } from "../platform/postgres.ts";
import { type Hold, holdsOf } from "./rules.ts";
import { listFirmsById } from "./store.ts";

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
  const firms = await listFirmsById(db, firmIds);
  return new Map(
    firms.map((firm) => {
      const { bank_ifsc: ifsc, bank_last4: last4 } = firm;
      const account = ifsc !== null && last4 !== null ? { ifsc, last4 } : null;
      return [firm.firm_id, { account, holds: holdsOf(firm, now) }];
    }),
  );
}
