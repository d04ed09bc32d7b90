import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { deliveryLifecycle } from "./rules.ts";
import type { Attempt, Delivery } from "./schema.ts";
import type { DeliveryRow } from "./lists-store.ts";
import type { AttemptRow } from "./store.ts";

export function viewDelivery(row: DeliveryRow): Delivery {
  return {
    delivery_id: row.delivery_id,
    webhook_id: row.webhook_id,
    event: row.event,
    event_id: row.event_id,
    sequence: row.sequence,
    status: row.state,
    reason: row.reason,
    attempts: row.attempts,
    last_status: row.last_status,
    next_attempt_at: row.state === "pending" ? istTimestamp(row.due_at) : null,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: allowedActions(deliveryLifecycle, row.state),
  };
}

export function viewAttempt(row: AttemptRow): Attempt {
  return {
    at: istTimestamp(row.at),
    duration_ms: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
    reason: row.reason,
    answer: row.answer,
  };
}
