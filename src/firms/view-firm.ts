import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { firmLifecycle, holdsOf, maskedAccountNo } from "./rules.ts";
import type { Connection, Firm } from "./schema.ts";
import type { FirmRow } from "./store.ts";

/** A firm as its desk sees it: the bank's number is never in it. */
export function viewFirm(row: FirmRow, now: Date): Firm {
  return {
    firm_id: row.firm_id,
    environment: row.environment,
    legal_name: row.legal_name,
    iec: row.iec,
    pan: row.pan,
    gstin: row.gstin,
    cin: row.cin,
    email: row.email,
    phone: row.phone,
    role: row.role,
    bank: viewBank(row),
    group_id: row.group_id,
    external_id: row.external_id,
    ...viewState(row, now),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** What is the same in a firm and in its connection. */
export function viewState(
  row: FirmRow,
  now: Date,
): Omit<Connection, "firm_id" | "ports" | "as_of"> {
  return {
    connection_state: row.connection_state,
    checks: [...row.checks],
    holds: holdsOf(row, now).map(({ on, reason, until }) => ({
      on,
      reason: reason as Connection["holds"][number]["reason"], // An open set.
      until: until && istTimestamp(until),
    })),
    mandate: row.mandate,
    suspension:
      row.suspended_by === null
        ? null
        : { by: row.suspended_by, reason: row.suspension_reason ?? "" },
    version: row.version,
    allowed_actions: allowedActions(firmLifecycle, row.connection_state),
  };
}

function viewBank({ bank_last4, bank_ifsc, bank_name }: FirmRow): Firm["bank"] {
  if (bank_last4 === null || bank_ifsc === null || bank_name === null) return null;
  return { account_no_masked: maskedAccountNo(bank_last4), ifsc: bank_ifsc, name: bank_name };
}
