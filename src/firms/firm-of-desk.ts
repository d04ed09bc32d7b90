import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Db } from "../platform/postgres.ts";
import { boundFirm } from "./doer.ts";
import { findFirm, type FirmRow } from "./store.ts";

/** A firm of this desk; not found when it is another desk's or nobody's. */
export async function firmOfDesk(db: Db, deskId: string, firmId: string): Promise<FirmRow> {
  const firm = isId("frm", firmId) ? await findFirm(db, deskId, firmId) : undefined;
  if (!firm) throw notFound();
  return firm;
}

/** A firm that this caller's key may see: for a sub_account key, its own and no other. */
export async function firmOfCaller(db: Db, caller: Caller, firmId: string): Promise<FirmRow> {
  const bound = boundFirm(caller);
  if (bound !== null && bound !== firmId) throw notFound();
  return await firmOfDesk(db, caller.deskId, firmId);
}
