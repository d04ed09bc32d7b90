// The webhooks of the document: what arrives for each event.

import { type TObject, type TProperties, Type } from "typebox";

import { Key } from "./access/schema.ts";
import { Credit } from "./credits/schema.ts";
import { Cross } from "./crosses/schema.ts";
import { DeskApproval } from "./deskapprovals/schema.ts";
import { Requirement } from "./firms/requirement-schema.ts";
import { queueReasons } from "./bankbook/rules.ts";
import { Firm, maskedBankFields } from "./firms/schema.ts";
import { type EventName, eventCatalog } from "./journal/event-rules.ts";
import { Event } from "./journal/schema.ts";
import { Deposit, Payout } from "./payouts/schema.ts";
import type { Json } from "./platform/http/build-document.ts";
import { nullable, nullableObject, openEnum, timestamp } from "./platform/http/wire.ts";
import { Settlement, Side as SettlementSide, Task } from "./settlement/schema.ts";
import { Order } from "./trading/schema.ts";
import { Webhook } from "./webhooks/schema.ts";

const text = (description: string) => Type.String({ description });
const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });
const maybeText = (description: string) => nullable<string>({ type: "string", description });

function pick({ properties }: TObject, names: readonly string[]): TProperties {
  return Object.fromEntries(
    names.map((name) => {
      const field = properties[name];
      if (!field) throw new Error(`${name} is no field`);
      return [name, field];
    }),
  );
}

const data = (title: string, properties: TProperties) =>
  Type.Object(properties, { title, description: "The data of an event." });

const creditFields = pick(Credit, ["scrip_no", "scheme", "face_paise", "expires_on"]);
const credit = data("CreditEventData", {
  ...creditFields,
  reason: Type.Optional(maybeText("Why it came to this state; null where that is obvious.")),
});
const expiring = data("CreditExpiringData", {
  ...creditFields,
  days_left: count("The number of days until it expires.", 30),
  warning_days: count("The warning that this is: so many days before.", 30),
});
const approval = data(
  "SecondKeyData",
  pick(DeskApproval, [
    "kind",
    "firm_id",
    "shown",
    "proposed_by",
    "decided_by",
    "payout_id",
    "reason",
  ]),
);
const checked = data("FirmCheckedData", pick(Firm, ["checks"]));
const order = data("OrderEventData", {
  ...pick(Order, [
    "client_ref",
    "side",
    "scheme",
    "scrip_nos",
    "face_paise",
    "requirement_paise",
    "covered_paise",
    "price_bps",
    "limit_bps",
    "all_in_paise",
    "quote_ref",
    "settlement_id",
    "status",
  ]),
  reason: maybeText("Why it came to this state; null where that is obvious."),
});
const settlement = data("SettlementEventData", {
  ...pick(SettlementSide, [
    "side",
    "order_ids",
    "face_paise",
    "all_in_paise",
    "settled_paise",
    "undelivered_paise",
    "default_owed_paise",
    "default_due_paise",
    "status",
  ]),
  ...pick(Settlement, ["scheme", "reason", "failed_step"]),
  scrip_nos: Type.Array(Type.String(), { description: "The credits of this side." }),
});
const task = data("TaskEventData", {
  settlement_id: text("The settlement that it carries out."),
  ...pick(Task, ["task_id", "kind", "side", "scrip_no", "by", "status", "due_at", "done_at"]),
  amount_paise: nullable<number>({
    type: "integer",
    description: "For pay: what is to be paid; null for the other kinds.",
  }),
  face_paise: nullable<number>({
    type: "integer",
    description: "The credit's face; null for pay.",
  }),
});
const payout = data(
  "PayoutEventData",
  pick(Payout, [
    "kind",
    "settlement_id",
    "resend_of",
    "amount_paise",
    "set_off_paise",
    "rail",
    "remittance",
    "utr",
    "status",
    "reason",
  ]),
);
const deposit = data(
  "DepositEventData",
  pick(Deposit, [
    "reference",
    "amount_paise",
    "settlement_id",
    "status",
    "received_at",
    "returned_at",
  ]),
);
const cross = data(
  "CrossEventData",
  pick(Cross, [
    "kind",
    "side",
    "counterparty_iec",
    "scheme",
    "scrip_nos",
    "face_paise",
    "price_bps",
    "all_in_paise",
    "terms_hash",
    "payment_ref",
    "settlement_id",
    "netting_ref",
    "status",
    "reason",
  ]),
);
const dues = data("DuesEventData", {
  reference: text("The settlement, payout, cross or deposit that it comes from."),
  amount_paise: count("What was added to the dues, or paid on them.", 24_412_500),
  dues_paise: count("What the firm owes the house after it.", 24_412_500),
});
const key = data("KeyEventData", pick(Key, ["name", "kind"]));
const failing = data("WebhookFailingData", {
  ...pick(Webhook, ["url"]),
  failing_since: timestamp("Since when nothing was taken."),
  disabled_at: timestamp("When it is disabled, or was."),
});

const dataByEvent: Readonly<Record<EventName, TObject>> = {
  "firm.registered": data("FirmRegisteredData", pick(Firm, ["legal_name", "role", "external_id"])),
  "firm.action_required": checked,
  "firm.rejected": checked,
  "firm.verified": checked,
  "firm.authorized": data("FirmAuthorizedData", {
    mandate: Type.Object(
      {
        reference: text("The mandate's reference."),
        valid_until: text("The end of its validity."),
      },
      { description: "The firm's permission to trade for it." },
    ),
  }),
  "firm.bank_changed": data("FirmBankChangedData", {
    ...pick(Firm, ["bank"]),
    former_bank: nullableObject(maskedBankFields, {
      description: "The account until then, in part; null where there was none.",
    }),
  }),
  "firm.mandate_expiring": data("FirmMandateExpiringData", {
    reference: text("The mandate's reference."),
    valid_until: timestamp("The end of its validity."),
    days_left: count("Days until its last day.", 30),
  }),
  "firm.suspended": data("FirmSuspendedData", {
    by: text("Who suspended it: the desk or the operator."),
    reason: maybeText("The reason in words; null without one."),
  }),
  "firm.resumed": data("FirmResumedData", {
    suspended_by: maybeText(
      "Who had suspended it: the desk or the operator; null where that is not recorded.",
    ),
  }),
  "firm.offboarded": data("FirmOffboardedData", {}),
  "requirement.uncovered": data(
    "RequirementUncoveredData",
    pick(Requirement, [
      "requirement_id",
      "reference",
      "scheme",
      "due_on",
      "amount_paise",
      "covered_paise",
      "uncovered_paise",
      "resting_paise",
    ]),
  ),
  "credit.listed": credit,
  "credit.withdrawn": credit,
  "credit.expiring": expiring,
  "credit.expired": credit,
  "credit.suspended": credit,
  "credit.used": data("CreditUsedData", {
    ...creditFields,
    amount_paise: count("The part that was used; face_paise is what it left.", 1_000_000),
    bill_of_entry: maybeText("The bill of entry that it paid; null where customs tells of it."),
    used_on: maybeText("The day it paid duty. YYYY-MM-DD, IST; null where none was given."),
    port: maybeText("The customs port of the bill of entry; null where none was given."),
    reason: Type.Optional(maybeText("Why it came to this state; null where that is obvious.")),
  }),
  "order.accepted": order,
  "order.matched": order,
  "order.cancelled": order,
  "order.expired": order,
  "order.failed": order,
  "settlement.created": settlement,
  "settlement.funded": settlement,
  "settlement.transfer_initiated": settlement,
  "settlement.transfer_confirmed": settlement,
  "settlement.settled": settlement,
  "settlement.failed": settlement,
  "settlement.reversed": settlement,
  "settlement.default_paid": settlement,
  "task.waiting": task,
  "task.done": task,
  "task.late": task,
  "payout.scheduled": payout,
  "payout.held": payout,
  "payout.instructed": payout,
  "payout.sent": payout,
  "payout.paid": payout,
  "payout.returned": payout,
  "deposit.received": deposit,
  "deposit.queued": data("DepositQueuedData", {
    ...pick(Deposit, ["amount_paise"]),
    reason: openEnum(queueReasons, "Why it waits for a person."),
  }),
  "deposit.returned": deposit,
  "dues.raised": dues,
  "dues.set_off": dues,
  "cross.proposed": cross,
  "cross.agreed": cross,
  "cross.declined": cross,
  "cross.cancelled": cross,
  "cross.expired": cross,
  "cross.funded": cross,
  "cross.released": cross,
  "cross.refunded": cross,
  "cross.settled": cross,
  "cross.failed": cross,
  "statement.ready": data("StatementReadyData", {
    statement_no: text("The statement's number."),
    period: text("Its month, YYYY-MM."),
  }),
  "second_key.proposed": approval,
  "second_key.approved": approval,
  "second_key.rejected": approval,
  "key.created": key,
  "key.updated": key,
  "key.revoked": key,
  "usage.threshold": data("UsageThresholdData", {
    key_id: text("The key's id."),
    month: text("The IST month, YYYY-MM."),
    threshold_percent: count("How much of the quota is used: 80 or 100.", 80),
    quota: count("Calls allowed in the month.", 100_000),
    quota_used: count("Calls made in the month.", 80_000),
    quota_resets_at: timestamp("When the next month begins."),
  }),
  "audit.checkpoint": data("AuditCheckpointData", {
    seq: count("The place of the head in the chain.", 42),
    hash: text("Of the head, SHA-256 as hex."),
    public_key: text("What it was signed with, hex."),
    signature: text("The Ed25519 signature as hex."),
    checkpoint: text("The signed line, as in an export."),
  }),
  "webhook.ping": data("WebhookPingData", pick(Webhook, ["url"])),
  "webhook.updated": data("WebhookUpdatedData", pick(Webhook, ["url", "events", "description"])),
  "webhook.failing": failing,
  "webhook.disabled": failing,
};

const header = (name: string, description: string, required = true) => ({
  name,
  in: "header",
  required,
  description,
  schema: { type: "string" },
});

const headers = [
  header("X-Service-Signature", "`sha256=<hex>`: HMAC-SHA-256 of the raw body by your secret."),
  header("X-Service-Event", "The event's name."),
  header("X-Service-Delivery", "The delivery's id; what was handled under it is not done again."),
  header("webhook-id", "The same as X-Service-Delivery."),
  header("webhook-timestamp", "When this attempt was sent, in seconds since 1970."),
  header("webhook-signature", "As Standard Webhooks has it, of id, time and body."),
  header("traceparent", "W3C Trace Context, where the request that did it had one.", false),
];

/** Every event as a webhook of the document. */
export function describeWebhooks(): Json {
  return Object.fromEntries(
    eventCatalog.map((event) => [event, { post: describeWebhook(event, dataByEvent[event]) }]),
  );
}

function describeWebhook(event: EventName, shape: TObject): Json {
  const own = { type: "object", properties: { event: { const: event }, data: shape } };
  return {
    operationId: `on${event.split(/[._]/).map(capitalize).join("")}`,
    tags: ["Webhooks"],
    summary: `${event} has happened`,
    description:
      "Verify the signature over the raw bytes, do the work once for each delivery id, answer 2xx " +
      "quickly. An event is a hint: read entity.href for what holds now.",
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: { "application/json": { schema: { allOf: [Event, own] } } },
    },
    responses: {
      "2XX": { description: "Any 2xx: the delivery is taken." },
      "4XX": { description: "Given up at once and kept as a dead letter; 429 is tried again." },
      "5XX": { description: "Tried again later." },
    },
  };
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
