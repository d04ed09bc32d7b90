// A firm's membership is a column of the firm, so that it is in one group or in none; groups decide
// about it and this file writes it. Whoever needs both rows locks the firm before the group.

import type { Change } from "../kernel/actor.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres.ts";
import { lockMembership as lockRow, type Membership, setFirmGroup } from "./store.ts";

export type GroupMove = {
  readonly deskId: string;
  readonly from: string | null;
  readonly to: string | null;
};

/**
 * What groups have to say about a firm that is about to come or go by a field of its own: they may
 * refuse it, and what changes of them is recorded with the firm.
 */
export type OnMoved = (tx: Tx, move: GroupMove, now: Date) => Promise<readonly Change[]>;

export async function lockMembership(tx: Tx, deskId: string, firmId: string): Promise<Membership> {
  const row = isId("frm", firmId) ? await lockRow(tx, deskId, firmId) : undefined;
  if (!row) throw notFound();
  return row;
}

/** Puts a locked firm into a group of its desk, or into none. */
export async function setGroup(
  tx: Tx,
  { firm_id, desk_id }: Membership,
  groupId: string | null,
  now: Date,
): Promise<Membership> {
  const changed = await setFirmGroup(tx, desk_id, { firmId: firm_id, groupId, now });
  if (!changed) throw new Error("a locked firm can be changed");
  return changed;
}

/** The firm's side of a change of membership, for the audit trail. */
export function membershipChange({
  before,
  after,
}: {
  readonly before: Membership;
  readonly after: Membership;
}): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: "firm.group_changed",
    entity: {
      type: "firm",
      id: after.firm_id,
      version: after.version,
      href: `/v1/firms/${after.firm_id}`,
    },
    before,
    after,
  };
}
