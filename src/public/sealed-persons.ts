import type { Context } from "../platform/context.ts";
import type { SealedPlace, SealedRow } from "../platform/reseal.ts";
import type { Person } from "./rules.ts";
import { listSealedPersons, type SealedEnquiry, setSealedPersons } from "./seal-store.ts";
import { digestOf } from "./submit-enquiry.ts";
import { sealPurpose } from "./view-enquiry.ts";

/** Where it is sealed who sent an enquiry. */
export function sealedPersons(
  ctx: Pick<Context, "db" | "sealKey">,
): SealedPlace<SealedEnquiry & SealedRow> {
  return {
    name: "enquiries",
    list: async (after, limit) => {
      const rows = await listSealedPersons(ctx.db, after, limit);
      return rows.map((row) => ({ ...row, purpose: sealPurpose(row.id) }));
    },
    set: (rows) =>
      setSealedPersons(
        ctx.db,
        rows.map(({ row, text, sealed }) => {
          const { kind, scheme, amount_paise } = row;
          const person = JSON.parse(text) as Person; // What sealPerson was given.
          const digest = digestOf({ kind, scheme, amount_paise, ...person }, ctx);
          return { id: row.id, before: row.sealed, sealed, digest };
        }),
      ),
  };
}
