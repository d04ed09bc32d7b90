import { accountPurpose } from "../firms/sealed-accounts.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/reseal.ts";
import { listSealedLines, setSealedLines } from "./seal-store.ts";

/** Where account numbers are sealed that files were made with. */
export function sealedFileLines({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "payout file lines",
    list: async (after, limit) => {
      const rows = await listSealedLines(db, after, limit);
      return rows.map(({ firm_id, ...row }) => ({ ...row, purpose: accountPurpose(firm_id) }));
    },
    set: (rows) => setSealedLines(db, rows),
  };
}
