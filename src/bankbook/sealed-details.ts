import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/reseal.ts";
import { detailsPurpose } from "./receive-statement.ts";
import { listSealedDetails, setSealedDetails } from "./seal-store.ts";

/** Where it is sealed what banks wrote in their statements. */
export function sealedDetails({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "bank statement lines",
    list: async (after, limit) => {
      const rows = await listSealedDetails(db, after, limit);
      return rows.map(({ line_key, ...row }) => ({ ...row, purpose: detailsPurpose(line_key) }));
    },
    set: (rows) => setSealedDetails(db, rows),
  };
}
