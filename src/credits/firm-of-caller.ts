import { firmOfDesk } from "../firms/firm-of-desk.ts";
import type { FirmRow } from "../firms/store.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import type { Db } from "../platform/postgres.ts";
import type { Holder } from "./store.ts";

/** A key that is bound to one firm sees that firm's credits; any other key those of its desk. */
export function holderOf(caller: Caller): Holder {
  return {
    deskId: caller.deskId,
    firmId: caller.kind === "sub_account" ? caller.firmId : null,
  };
}

export async function firmOfCaller(db: Db, caller: Caller, firmId: string): Promise<FirmRow> {
  const { deskId, firmId: only } = holderOf(caller);
  if (only !== null && only !== firmId) throw notFound();
  return await firmOfDesk(db, deskId, firmId);
}
