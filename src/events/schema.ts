import { type Static, Type } from "typebox";

import { environments } from "../kernel/caller.ts";
import { nullable, openEnum, pageFields, pageQuery, timestamp } from "../platform/wire.ts";
import { eventCatalog } from "./rules.ts";

export const ListEventsQuery = Type.Object(
  {
    after_sequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Show events after this one; 0, the default, shows from the first.",
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
    id: Type.String({ examples: ["evt_01jd2m7q4x8r5v6w9y0abcdefg"] }),
    event: openEnum(eventCatalog, "What happened."),
    created_at: timestamp("When it happened."),
    environment: openEnum(environments, "Where it happened."),
    firm_id: Type.String({ description: "The firm it happened to." }),
    sequence: Type.Integer({ description: "Gap-free per desk, from 1.", examples: [1] }),
    entity: Type.Object({
      type: Type.String({ examples: ["firm"] }),
      id: Type.String({ examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"] }),
      version: Type.Integer({ examples: [2] }),
      href: Type.String({ description: "Read it again here for what holds now." }),
    }),
    from: nullable<string>({ type: "string", description: "The state before." }),
    to: nullable<string>({ type: "string", description: "The state after." }),
    data: Type.Object({}, { additionalProperties: true, description: "Facts of this event." }),
    request_id: nullable<string>({ type: "string", description: "The request that caused it." }),
  },
  { title: "Event", description: "A fact, recorded once with the change it tells of." },
);
export type Event = Static<typeof Event>;

export const EventList = Type.Object(
  {
    events: Type.Array(Event, { description: "In the order of their sequence." }),
    ...pageFields,
  },
  { title: "EventList" },
);
