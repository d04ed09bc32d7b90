import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import {
  nullable,
  nullableObject,
  openEnum,
  paiseSum,
  text,
  timestamp,
} from "../platform/http/wire.ts";
import { boardStates } from "./rules.ts";

export const MarketPath = Type.Object({
  scheme: Type.String({ description: `One of ${schemes.join(", ")}.`, examples: ["RODTEP"] }),
});

const bps = { type: "integer", examples: [9_795] } as const;

const place = {
  as_of: timestamp("Since when this holds; nothing has changed in between."),
  epoch: Type.String({
    description: "Names the log; another one when it was restarted.",
    examples: ["5f0c1b2a9e"],
  }),
  seq: Type.Integer({
    description: "The place in the log: `<epoch>-<seq>` as Last-Event-ID continues from here.",
    examples: [17],
  }),
};

const DepthBand = Type.Object({
  below_paise: nullable<number>({
    type: "integer",
    description: "Faces below this and not below the band before; null for the last band.",
    examples: [50_000_000],
  }),
  count: Type.Integer({ description: "The number of credits.", examples: [12] }),
  face_paise: Type.Integer({
    description: "What they add up to, rounded to two digits.",
    examples: [310_000_000],
  }),
});

export const Market = Type.Object(
  {
    scheme: openEnum(schemes, "The scheme of the credits."),
    state: openEnum(boardStates, "Whether there are prices; unavailable until a first card."),
    sell_price_bps: nullable<number>({
      ...bps,
      description:
        "What a seller gets for a credit of ₹10 lakh with at least 365 days left. Indicative: a " +
        "quote binds. Null while the market is not open.",
    }),
    buy_price_bps: Type.Optional(
      nullable<number>({
        ...bps,
        description:
          "What a buyer pays for cover of ₹10 lakh. Only for keys with the buy side; null while " +
          "the market is not open.",
        examples: [9_905],
      }),
    ),
    index_bps: nullable<number>({
      ...bps,
      description: "The last published index; null before there is one.",
    }),
    last_deal: nullableObject(
      {
        price_bps: Type.Integer({
          description: "What the seller got, in basis points of face.",
          examples: [9_795],
        }),
        face_paise: Type.Integer({
          description: "Its face, rounded to two digits.",
          examples: [12_000_000],
        }),
        at: timestamp("When it was agreed."),
      },
      { description: "The last credit that changed hands; null before there was one." },
    ),
    volume_24h_paise: paiseSum(
      "Face dealt in the last 24 hours, each rounded to two digits.",
      480_000_000,
    ),
    deals_24h: Type.Integer({ description: "Credits dealt in that time.", examples: [9] }),
    depth: Type.Array(DepthBand, {
      description: "What the house could sell now, by the size bands of its card.",
    }),
    ...place,
  },
  { title: "Market", description: "One scheme's market. It names no firm and no credit." },
);
export type Market = Static<typeof Market>;

export const MarketList = Type.Object(
  { markets: Type.Array(Market, { description: "One per scheme." }), ...place },
  { title: "MarketList" },
);
export type MarketList = Static<typeof MarketList>;

export const StreamHeaders = Type.Object({
  "Last-Event-ID": Type.Optional(
    Type.String({
      description: "The last id you have seen; what came after it is sent first.",
      examples: ["5f0c1b2a9e-17"],
    }),
  ),
});

export const MarketEvents = text("One event after another, without an end.");

export const StateTables = Type.Object(
  {
    lifecycles: Type.Array(
      Type.Object({
        noun: Type.String({
          description: "The kind of thing that has these states.",
          examples: ["key"],
        }),
        initial: Type.Array(Type.String(), {
          description: "The states that it can begin in.",
          examples: [["active"]],
        }),
        states: Type.Array(Type.String(), {
          description: "Every state that it can be in.",
          examples: [["active", "expired", "revoked"]],
        }),
        moves: Type.Array(
          Type.Object({
            action: Type.String({
              description: "The action, as allowed_actions names it.",
              examples: ["revoke"],
            }),
            from: Type.Array(Type.String(), {
              description: "The states that it can start from.",
              examples: [["active", "expired"]],
            }),
            to: Type.String({ description: "The state that it leads to.", examples: ["revoked"] }),
            by: Type.String({
              description:
                "Who makes the move, such as the caller, the operator, the bank or the clock.",
              examples: ["caller"],
            }),
          }),
          { description: "What can happen to it, and who does it." },
        ),
      }),
      { description: "One table per lifecycle; the service decides by the same tables." },
    ),
  },
  { title: "StateTables", description: "Every state and every move of every resource, as data." },
);
export type StateTables = Static<typeof StateTables>;
