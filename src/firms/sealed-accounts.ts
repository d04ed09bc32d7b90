import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/reseal.ts";
import { sealPurpose } from "./particulars.ts";
import { listSealedAccounts, setSealedAccounts } from "./seal-store.ts";

/** Where account numbers are sealed. */
export function sealedAccounts({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "bank accounts",
    list: async (after, limit) => {
      const rows = await listSealedAccounts(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: sealPurpose(row.id) }));
    },
    set: (rows) => setSealedAccounts(db, rows),
  };
}

/** What an account number is sealed for, wherever it is kept. */
export function accountPurpose(firmId: string): string {
  return sealPurpose(firmId);
}
