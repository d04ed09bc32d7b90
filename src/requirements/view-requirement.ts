import type { Change } from "../kernel/actor.ts";
import { istTimestamp } from "../kernel/time.ts";
import { requirementActions } from "./rules.ts";
import type { Requirement } from "./schema.ts";
import type { RequirementRow } from "./store.ts";

export function viewRequirement(row: RequirementRow): Requirement {
  return {
    requirement_id: row.requirement_id,
    firm_id: row.firm_id,
    scheme: row.scheme,
    amount_paise: row.amount_paise,
    due_on: row.due_on,
    reference: row.reference,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: [...requirementActions],
  };
}

/** A change of a requirement for the audit trail; nobody else is told of it. */
export function requirementChange(
  action: string,
  {
    before,
    after,
  }: { readonly before: RequirementRow | null; readonly after: RequirementRow | null },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change is of something");
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id,
    action,
    entity: {
      type: "requirement",
      id: row.requirement_id,
      version: row.version,
      href: `/v1/firms/${row.firm_id}/requirements/${row.requirement_id}`,
    },
    before: before && viewRequirement(before),
    after: after && viewRequirement(after),
  };
}
