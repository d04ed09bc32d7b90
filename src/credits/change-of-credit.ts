import type { Change } from "../kernel/actor.ts";
import type { CreditRow } from "./store.ts";

/** A change of a credit, as events and the audit trail record it. */
export function changeOfCredit({
  action,
  before,
  after,
  event,
  data = {},
}: {
  readonly action: string;
  readonly before: CreditRow | null;
  readonly after: CreditRow;
  readonly event?:
    | "credit.listed"
    | "credit.withdrawn"
    | "credit.expiring"
    | "credit.expired"
    | "credit.suspended";
  readonly data?: object;
}): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `credit.${action}`,
    entity: {
      type: "credit",
      id: after.credit_id,
      version: after.version,
      href: `/v1/credits/${encodeURIComponent(after.scrip_no)}`,
    },
    before: before && factsOfRow(before),
    after: factsOfRow(after),
    event: event && {
      name: event,
      from: before?.state ?? "declared",
      to: after.state,
      data: {
        scrip_no: after.scrip_no,
        scheme: after.scheme,
        face_paise: after.face_paise,
        expires_on: after.expires_on,
        ...data,
      },
    },
  };
}

function factsOfRow(row: CreditRow): object {
  return {
    scrip_no: row.scrip_no,
    scheme: row.scheme,
    firm_id: row.firm_id,
    issued_paise: row.issued_paise,
    face_paise: row.face_paise,
    port_code: row.port_code,
    issued_on: row.issued_on,
    expires_on: row.expires_on,
    state: row.state,
    reserved_for: row.reserved_for,
    reason: row.reason,
    version: row.version,
  };
}
