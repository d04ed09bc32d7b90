import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Db } from "../platform/postgres.ts";
import { findFirm, type FirmRow } from "./store.ts";

/** A firm as other slices know it. */
export type FirmOfDesk = FirmRow;

/** A firm of this desk; not found when it is another desk's or nobody's. */
export async function firmOfDesk(db: Db, deskId: string, firmId: string): Promise<FirmRow> {
  const firm = isId("frm", firmId) ? await findFirm(db, deskId, firmId) : undefined;
  if (!firm) throw notFound();
  return firm;
}
