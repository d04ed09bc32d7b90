import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { firmOfDesk } from "./firm-of-desk.ts";
import { type FirmRow, lockFirm } from "./store.ts";

/** A firm this caller may read; a sub_account key knows of its own firm and of no other. */
export async function firmOfCaller(db: Db, caller: Caller, firmId: string): Promise<FirmRow> {
  if (caller.kind === "sub_account" && caller.firmId !== firmId) throw notFound();
  return await firmOfDesk(db, caller.deskId, firmId);
}

/** The same, and it stays as it is until the transaction ends. */
export async function lockFirmOfCaller(tx: Tx, caller: Caller, firmId: string): Promise<FirmRow> {
  await firmOfCaller(tx, caller, firmId);
  const firm = await lockFirm(tx, caller.deskId, firmId);
  if (!firm) throw notFound();
  return firm;
}

/** A firm that left the desk stays readable, and takes on nothing new. */
export function refuseOffboarded({ connection_state }: Pick<FirmRow, "connection_state">): void {
  if (connection_state !== "offboarded") return;
  throw new Failure("conflict", "the firm has left your desk", {
    detail: { reason: "firm_offboarded", state: connection_state, allowed_actions: [] },
  });
}
