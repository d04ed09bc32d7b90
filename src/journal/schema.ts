import { type Static, Type } from "typebox";

import { environments } from "../kernel/caller.ts";
import {
  closedEnum,
  maybeText,
  nullableObject,
  openEnum,
  pageFields,
  pageQuery,
  text,
  timestamp,
} from "../platform/http/wire.ts";
import { eventCatalog } from "./event-rules.ts";

const instant = (description: string) =>
  Type.Optional(text(`${description} ISO 8601 with an offset.`));

export const ListEventsQuery = Type.Object(
  {
    after_sequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Show events after this one; 0, the default, shows from the first.",
      }),
    ),
    event: Type.Optional(closedEnum(eventCatalog, { description: "Only those of this name." })),
    entity_type: Type.Optional(
      Type.String({ maxLength: 64, description: "Only those about this kind of thing." }),
    ),
    entity_id: Type.Optional(
      Type.String({ maxLength: 128, description: "Only those about this thing." }),
    ),
    from: instant("Only those at or after this time."),
    to: instant("Only those before this time."),
    order: Type.Optional(
      closedEnum(["asc", "desc"], {
        description: "asc, the default, is the oldest first; desc is the newest first.",
      }),
    ),
    ...pageQuery,
  },
  { additionalProperties: false },
);
export type ListEventsQuery = Static<typeof ListEventsQuery>;

export const StreamEventsQuery = Type.Object(
  {
    after_sequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Begin after this event, when there is no Last-Event-ID; absent: from now on.",
      }),
    ),
  },
  { additionalProperties: false },
);

export const StreamEventsHeaders = Type.Object({
  "Last-Event-ID": Type.Optional(
    Type.String({
      description: "The last id you have seen; what came after it is sent first.",
      examples: ["42"],
    }),
  ),
});

/** What OpenAPI can say of a stream; each event's data is an Event. */
export const EventStream = {
  description: "The events, one after another.",
  content: {
    "text/event-stream": {
      schema: Type.String({
        description: "id is the sequence, event the name and data the Event as JSON.",
        examples: ["id: 42\nevent: credit.listed\ndata: {}\n\n"],
      }),
    },
  },
};

export const Event = Type.Object(
  {
    id: Type.String({
      description: "The event's id.",
      examples: ["evt_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    event: openEnum(eventCatalog, "The event's name."),
    created_at: timestamp("When it happened."),
    environment: openEnum(environments, "Where it happened."),
    firm_id: text("The firm it happened to."),
    sequence: Type.Integer({ description: "Gap-free per desk, from 1.", examples: [1] }),
    entity: Type.Object(
      {
        type: Type.String({ description: "What kind of thing it is.", examples: ["firm"] }),
        id: Type.String({
          description: "The thing's id.",
          examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
        }),
        version: Type.Integer({ description: "The thing's version after it.", examples: [2] }),
        href: text("Read it again here for what holds now."),
      },
      { description: "The thing it happened to." },
    ),
    from: maybeText("The state before; null when there was none."),
    to: maybeText("The state after; null when there is none."),
    data: Type.Object(
      {},
      {
        additionalProperties: true,
        description: "The facts of this event; the catalog says which.",
      },
    ),
    request_id: maybeText("The request that caused it; null where a worker did."),
  },
  { title: "Event", description: "A fact, recorded once with the change it tells of." },
);
export type Event = Static<typeof Event>;

export const EventParams = Type.Object({
  event_id: Type.String({
    description: "The event's id.",
    examples: ["evt_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
});

export const EventList = Type.Object(
  {
    events: Type.Array(Event, { description: "In the order that was asked for." }),
    latest_sequence: Type.Integer({
      description: "Of the desk's last event; 0 before the first.",
      examples: [1],
    }),
    ...pageFields,
  },
  { title: "EventList" },
);

export const auditFilters = {
  entity_type: Type.Optional(
    Type.String({ maxLength: 64, description: "Only changes of this kind of thing." }),
  ),
  entity_id: Type.Optional(
    Type.String({ maxLength: 128, description: "Only changes of this thing." }),
  ),
  actor: Type.Optional(
    Type.String({ maxLength: 128, description: "Only changes by this actor_id." }),
  ),
  action: Type.Optional(Type.String({ maxLength: 128, description: "Only this action." })),
  from: instant("Only changes at or after this time."),
  to: instant("Only changes before this time."),
};

const digest = (description: string) => maybeText(`${description} SHA-256, hex.`);

export const AuditEntry = Type.Object(
  {
    seq: Type.Integer({ description: "Its place in the desk's chain, from 1.", examples: [1] }),
    record_id: Type.String({
      description: "The record's id.",
      examples: ["aud_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    environment: openEnum(environments, "Where it happened."),
    at: timestamp("When it happened."),
    actor_kind: openEnum(
      ["key", "operator", "worker", "visitor", "counterparty"],
      "Who changed it. A counterparty is another desk, which stays unnamed.",
    ),
    actor_id: text("Key id, operator's name or worker's name."),
    request_id: maybeText("The request that did it; null where a worker did."),
    action: Type.String({ description: "What was done.", examples: ["firm.register"] }),
    entity_type: Type.String({
      description: "What kind of thing was changed.",
      examples: ["firm"],
    }),
    entity_id: Type.String({
      description: "The thing's id.",
      examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    entity_version: Type.Integer({ description: "The thing's version after it.", examples: [1] }),
    before_hash: digest(
      "The thing before. Null when it is new, and in a block, where it is not recorded.",
    ),
    after_hash: digest(
      "The thing after. Null when it is gone, and in a block where event_hash is given.",
    ),
    event_hash: digest(
      "The event that told of it: in a block without the digits of its sequence, otherwise as it was sent. Null when nobody was told, and in records of form 1.",
    ),
    hash: text(
      "Of everything up to here, as exported: of its whole block where block is given, otherwise of this record. SHA-256, hex.",
    ),
    block: nullableObject(
      {
        first_seq: Type.Integer({ description: "The first record of the block.", examples: [1] }),
        last_seq: Type.Integer({ description: "The last record of the block.", examples: [3] }),
      },
      {
        description:
          "The records that are hashed as one with this. Null for a record with a hash of its own.",
      },
    ),
  },
  { title: "AuditEntry", description: "One change: who, what, when, and digests of the thing." },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const ExportAuditQuery = Type.Object(
  {
    after_seq: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "Export what follows this place: last_seq of the export before. Inside a block of form 3 the export begins with that block, as first_seq of its first line and of the checkpoint say. Default 0.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type ExportAuditQuery = Static<typeof ExportAuditQuery>;

/** What OpenAPI can say of lines. */
export const AuditExport = {
  description:
    "In the order of the chain: a line for each record, and above those that are hashed as one the header of their block; the last line is a signed checkpoint.",
  content: {
    "application/x-ndjson": {
      schema: text(
        "The bytes are hashed as they are; do not write a line anew before it is verified.",
      ),
    },
  },
};

export const AuditKeys = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        algorithm: openEnum(["Ed25519"], "How checkpoints are signed."),
        public_key: text("32 bytes, hex, as in checkpoints."),
      }),
      { description: "The key in use first, then those of earlier master keys." },
    ),
  },
  {
    title: "AuditKeys",
    description:
      "What checkpoints of exports are signed with, and below it what they were signed with before.",
  },
);
export type AuditKeys = Static<typeof AuditKeys>;
