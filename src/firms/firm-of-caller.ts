import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import type { Db } from "../platform/postgres.ts";
import { firmOfDesk } from "./firm-of-desk.ts";
import type { FirmRow } from "./store.ts";

/** A firm this caller may read; a sub_account key knows of its own firm and of no other. */
export async function firmOfCaller(db: Db, caller: Caller, firmId: string): Promise<FirmRow> {
  if (caller.kind === "sub_account" && caller.firmId !== firmId) throw notFound();
  return await firmOfDesk(db, caller.deskId, firmId);
}

/** A firm that left the desk stays readable, and takes on nothing new. */
export function refuseOffboarded({ connection_state }: Pick<FirmRow, "connection_state">): void {
  if (connection_state !== "offboarded") return;
  throw new Failure("conflict", "the firm has left your desk", {
    detail: { reason: "firm_offboarded", state: connection_state, allowed_actions: [] },
  });
}
