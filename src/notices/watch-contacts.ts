// The contact that a firm has registered is told of the firm's tasks, and when its bank account is
// changed, whoever changed it. The address is made when the contact is given, and again in the transaction
// of a change, from the firm as it was, so that a contact that is changed together with the account or
// shortly before is told all the same.

import type { LeavingFirm } from "../firms/offboard-firm.ts";
import type { OnContactConcerned } from "../firms/update-firm.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  findByEmail,
  forgetOfFirm,
  insertAddress,
  openCursor,
  setAddress,
} from "./address-store.ts";
import { findAddressProblem, normalizeEmail } from "./rules.ts";

/** The sandbox tells the desk's own addresses only: anybody's address can be given there. */
export const watchContact: OnContactConcerned = async (tx, firm, now) => {
  if (firm.environment === "sandbox" || firm.email === null) return;
  const email = normalizeEmail(firm.email);
  if (findAddressProblem(email) !== undefined) return;
  const { environment, desk_id, firm_id } = firm;
  const of = { environment, desk_id, firm_id, operator_id: null };
  const after_sequence = await openCursor(tx, desk_id);
  const before = await findByEmail(tx, { ...of, email });
  if (before) {
    await setAddress(tx, { ...before, version: before.version + 1, updated_at: now });
    return;
  }
  await insertAddress(tx, [
    {
      ...of,
      address_id: newId("nad", now),
      email,
      opted_out: [],
      after_sequence,
      removed_at: null,
      created_by: firm_id,
      version: 1,
      created_at: now,
      updated_at: now,
    },
  ]);
};

export async function forgetContacts(
  tx: Tx,
  _actor: Actor,
  { firmId }: LeavingFirm,
  now: Date,
): Promise<readonly Change[]> {
  await forgetOfFirm(tx, firmId, now);
  return [];
}
