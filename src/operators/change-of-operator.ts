import type { Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/house.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { OperatorRow } from "./store.ts";

export type PersonStatus = "enrolling" | "enrolled" | "disabled";

/** A person as others are shown them: no credential, not even its hash. */
export function viewOperator(row: OperatorRow) {
  return {
    operator_id: row.operator_id,
    name: row.name,
    role: row.role,
    status: personStatus(row),
    created_by: row.created_by,
    created_at: istTimestamp(row.created_at),
    disabled_at: row.disabled_at && istTimestamp(row.disabled_at),
  };
}

function personStatus({ disabled_at, password_hash }: OperatorRow): PersonStatus {
  if (disabled_at !== null) return "disabled";
  return password_hash === null ? "enrolling" : "enrolled";
}

export type OperatorView = ReturnType<typeof viewOperator>;

/** People are the operator's own: their records are on the house's desk. */
export function changeOfOperator(
  action: "add" | "enrol" | "disable" | "reset" | "sign_in" | "sign_out" | "set_role",
  before: OperatorRow | undefined,
  after: OperatorRow,
): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: `operator.${action}`,
    entity: {
      type: "operator",
      id: after.operator_id,
      version: after.version,
      href: `/ops/operators/${after.operator_id}`,
    },
    before: before ? viewOperator(before) : null,
    after: viewOperator(after),
  };
}
