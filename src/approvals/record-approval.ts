import { hash } from "node:crypto";

import type { Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/house.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { ApprovalRow } from "./store.ts";

/** Proposals are the operator's own: their records are on the house's desk. */
export function changeOfApproval(
  action: "propose" | "approve" | "reject" | "void" | "expire",
  row: ApprovalRow,
): Change {
  const house = houseFirmId[row.environment];
  const version = action === "propose" ? 1 : 2;
  const href = `/ops/approvals/${row.approval_id}`;
  return {
    environment: row.environment,
    deskId: house,
    firmId: house,
    action: `approval.${action}`,
    entity: { type: "approval", id: row.approval_id, version, href },
    before: action === "propose" ? null : shownAs({ ...row, state: "proposed", decided_by: null }),
    after: shownAs(row),
  };
}

function shownAs(row: ApprovalRow): object {
  const { proposed_at: _proposed, expires_at: _expires, decided_at: _decided, ...told } = row;
  return told;
}

/** Two things are the same when their canonical JSON is. */
export function digestFacts(facts: object): string {
  return hash("sha256", canonicalJson(facts));
}
