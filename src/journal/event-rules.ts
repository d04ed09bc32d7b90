// The catalog of events and the JSON body of an event.
//
// GET /v1/events is a desk's append-only log: what happened, to which entity, in which version, from
// which state to which, by which request. The text of an event is made once and every reader (list,
// stream, webhook) gets these bytes. A desk's sequence starts at 1 and has no gap: its row is raised in
// the transaction of the change and stays locked until the commit, so numbers become visible in order.

import { exactJson } from "../kernel/json.ts";
import type { Change, ChangeEvent } from "../kernel/actor.ts";
import type { AuditRecord } from "./audit-rules.ts";

export const eventCatalog = [
  "firm.registered",
  "firm.action_required",
  "firm.rejected",
  "firm.verified",
  "firm.authorized",
  "firm.bank_changed",
  "firm.mandate_expiring",
  "firm.suspended",
  "firm.resumed",
  "firm.offboarded",
  "requirement.uncovered",
  "credit.listed",
  "credit.withdrawn",
  "credit.expiring",
  "credit.expired",
  "credit.suspended",
  "credit.used",
  "order.accepted",
  "order.matched",
  "order.cancelled",
  "order.expired",
  "order.failed",
  "settlement.created",
  "settlement.funded",
  "settlement.transfer_initiated",
  "settlement.transfer_confirmed",
  "settlement.settled",
  "settlement.failed",
  "settlement.reversed",
  "settlement.default_paid",
  "task.waiting",
  "task.done",
  "task.late",
  "payout.scheduled",
  "payout.held",
  "payout.instructed",
  "payout.sent",
  "payout.paid",
  "payout.returned",
  "deposit.received",
  "deposit.queued",
  "deposit.returned",
  "dues.raised",
  "dues.set_off",
  "cross.proposed",
  "cross.agreed",
  "cross.declined",
  "cross.cancelled",
  "cross.expired",
  "cross.funded",
  "cross.released",
  "cross.refunded",
  "cross.settled",
  "cross.failed",
  "statement.ready",
  "second_key.proposed",
  "second_key.approved",
  "second_key.rejected",
  "key.created",
  "key.updated",
  "key.revoked",
  "usage.threshold",
  "audit.checkpoint",
  "webhook.ping",
  "webhook.updated",
  "webhook.failing",
  "webhook.disabled",
] as const;

export type EventName = (typeof eventCatalog)[number];

/** The name under which an event is read whose body had to be erased. Nobody subscribes to it. */
const erasedEvent = "event.erased";

/** Announced after every commit that stores events. */
export const eventsTopic = "events";

/** The text of an event around its sequence, which is known only when the desk is locked. */
export type EventText = { readonly head: string; readonly tail: string };

type ErasedRecord = Pick<
  AuditRecord,
  | "environment"
  | "desk_id"
  | "record_id"
  | "request_id"
  | "entity_type"
  | "entity_id"
  | "entity_version"
  | "at_text"
>;

const sequenceName = ',"sequence":';

/** Serialised once: lists, streams and webhooks send these bytes, and webhooks sign them. */
export function writeEvent({
  eventId,
  change,
  event,
  requestId,
  createdAt,
}: {
  readonly eventId: string;
  readonly change: Change;
  readonly event: ChangeEvent;
  readonly requestId: string | null;
  /** In IST. */
  readonly createdAt: string;
}): EventText {
  const text = exactJson({
    id: eventId,
    event: event.name,
    created_at: createdAt,
    environment: change.environment,
    firm_id: change.firmId,
    sequence: 0,
    entity: change.entity,
    from: event.from,
    to: event.to,
    data: event.data,
    request_id: requestId,
  });
  const { head, tail } = splitEvent(text);
  return { head, tail: tail.slice(1) };
}

/** What readers get in place of a body that had to be erased: nothing but what the record says. */
export function writeErased(record: ErasedRecord, sequence: number): string {
  return exactJson({
    id: record.record_id.replace(/^aud_/, "evt_"),
    event: erasedEvent,
    created_at: record.at_text.replace(/\d{3}\+/, "+"),
    environment: record.environment,
    firm_id: record.desk_id,
    sequence,
    entity: {
      type: record.entity_type,
      id: record.entity_id,
      version: record.entity_version,
      href: "/v1/audit",
    },
    from: null,
    to: null,
    data: {},
    request_id: record.request_id,
  });
}

export function joinEvent({ head, tail }: EventText, sequence: number): string {
  return `${head}${sequence}${tail}`;
}

/** Splits head and tail that were stored as one text; no member before the sequence has this name. */
export function splitEvent(text: string): EventText {
  const end = text.indexOf(sequenceName) + sequenceName.length;
  return { head: text.slice(0, end), tail: text.slice(end) };
}

/** What others need of an event to decide whether it concerns them. */
export type EventHead = {
  readonly sequence: number;
  readonly event_id: string;
  readonly created_at: string;
  readonly firm_id: string;
  readonly event: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly entity_version: number;
};

export function readEventHead(body: string): EventHead {
  const { id, event, created_at, firm_id, sequence, entity } = JSON.parse(body) as {
    readonly id: string;
    readonly created_at: string;
    readonly event: string;
    readonly firm_id: string;
    readonly sequence: number;
    readonly entity: Change["entity"];
  };
  return {
    sequence,
    event_id: id,
    created_at,
    firm_id,
    event,
    entity_type: entity.type,
    entity_id: entity.id,
    entity_version: entity.version,
  };
}
