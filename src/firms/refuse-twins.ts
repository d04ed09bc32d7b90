import { Failure, notFound } from "../kernel/failure.ts";
import { type Db, violatedConstraint } from "../platform/postgres.ts";
import { findTwin, type FirmRow } from "./store.ts";

type Particulars = Pick<FirmRow, "desk_id" | "firm_id" | "iec" | "external_id">;

/**
 * One legal entity is one firm of a desk: the conflict names the one that is there, unless the
 * caller is bound to another firm and must not learn of it.
 */
export async function duplicateOf(
  db: Db,
  firm: Particulars,
  boundTo: string | null,
): Promise<Failure> {
  const twin = await findTwin(db, firm);
  if (!twin) throw new Error("a firm that stood in the way is visible afterwards");
  const sameIec = twin.iec === firm.iec;
  return new Failure(
    "conflict",
    sameIec ? "a firm of this IEC is on your desk" : "a firm of this external_id is on your desk",
    {
      detail: {
        reason: sameIec ? "duplicate_iec" : "duplicate_external_id",
        ...(boundTo === null && { firm_id: twin.firm_id }),
      },
    },
  );
}

/** What the caller is told when the database refused to store a firm. */
export async function explainRefusal(
  db: Db,
  error: unknown,
  { firm, boundTo }: { readonly firm: Particulars; readonly boundTo: string | null },
): Promise<unknown> {
  const constraint = violatedConstraint(error);
  if (constraint === "firms_group_of_desk") return notFound();
  if (constraint === "firms_iec" || constraint === "firms_external_id") {
    return await duplicateOf(db, firm, boundTo);
  }
  return error;
}
