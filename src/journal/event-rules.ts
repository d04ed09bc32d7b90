// The catalog of events and the JSON body of an event.
//
// GET /v1/events is a desk's append-only log: what happened, to which entity, in which version, from
// which state to which, by which request. The text of an event is made once and every reader (list,
// stream, webhook) gets these bytes. A desk's sequence starts at 1 and has no gap: its row is raised in
// the transaction of the change and stays locked until the commit, so numbers become visible in order.

import type { Change, ChangeEvent } from "../kernel/actor.ts";
import { istTimestamp } from "../kernel/time.ts";

export const eventCatalog = [
  "firm.registered",
  "firm.action_required",
  "firm.rejected",
  "firm.verified",
  "firm.authorized",
  "firm.suspended",
  "firm.resumed",
  "firm.offboarded",
  "credit.listed",
  "credit.withdrawn",
  "credit.expiring",
  "credit.expired",
  "credit.suspended",
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
  "payout.scheduled",
  "payout.held",
  "payout.instructed",
  "payout.sent",
  "payout.paid",
  "payout.returned",
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
  "key.created",
  "key.revoked",
  "usage.threshold",
  "audit.checkpoint",
  "webhook.ping",
  "webhook.failing",
  "webhook.disabled",
] as const;

export type EventName = (typeof eventCatalog)[number];

/** Announced after every commit that stores events. */
export const eventsTopic = "events";

export type EventDraft = {
  readonly eventId: string;
  readonly sequence: number;
  readonly change: Change;
  readonly event: ChangeEvent;
  readonly requestId: string | null;
  readonly now: Date;
};

/** Serialised once: lists, streams and webhooks send these bytes, and webhooks sign them. */
export function eventBody({
  eventId,
  sequence,
  change,
  event,
  requestId,
  now,
}: EventDraft): string {
  return JSON.stringify({
    id: eventId,
    event: event.name,
    created_at: istTimestamp(now),
    environment: change.environment,
    firm_id: change.firmId,
    sequence,
    entity: change.entity,
    from: event.from,
    to: event.to,
    data: event.data,
    request_id: requestId,
  });
}
