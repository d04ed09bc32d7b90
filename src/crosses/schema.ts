import { type Static, Type } from "typebox";

import { bpsOfPar } from "../kernel/money.ts";
import { noQuoteReasons } from "../trading/quote-rules.ts";
import { schemes, sides } from "../kernel/scheme.ts";
import {
  body,
  closedEnum,
  flag,
  form,
  historySchema,
  maybeText,
  maybeTime,
  openEnum,
  paise,
  text,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import { waitingOn } from "../settlement/rules.ts";
import { crossKinds, crossStates } from "./rules.ts";

const creditsMax = 500;

const crossId = Type.String({
  description: "The cross's id.",
  examples: ["crs_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const amount = (description: string) => Type.Integer({ description, examples: [990_000_000] });
const fee = Type.Integer({ description: "The fee within the all-in amount.", examples: [169_492] });
const gst = Type.Integer({
  description: "GST on the fee, within the all-in amount.",
  examples: [30_508],
});
const id = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });
const scripNos = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: creditsMax,
    description,
  });

export const QuoteCrossBody = body(
  {
    kind: closedEnum(crossKinds, {
      description: "A block with anybody, or a transfer between firms of one of your groups.",
    }),
    side: closedEnum(sides, { description: "The side of the firm that is acted for." }),
    firm_id: Type.Optional(id("The firm of your desk that is acted for; the key's when absent.")),
    counterparty_firm_id: Type.Optional(id("The other side, when it is a firm of your desk.")),
    counterparty_iec: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "The other side by its importer-exporter code, whoever acts for it.",
        examples: ["AABCT1234K"],
      }),
    ),
    scrip_nos: Type.Optional(
      scripNos(
        "The credits. A buyer that names credits of another desk gives scheme and face_paise too.",
      ),
    ),
    scheme: Type.Optional(
      closedEnum(schemes, { description: "The scheme; needed with face_paise." }),
    ),
    face_paise: Type.Optional(
      paise(
        "Whole credits of this face, with at least 365 days left. Where the seller is on your desk, " +
          "those of its own whose sum is the largest within this; otherwise exactly this.",
      ),
    ),
    price_bps: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: bpsOfPar,
        description: "The price between the two; the rate card's mid when absent.",
        examples: [9_800],
      }),
    ),
  },
  {
    title: "CrossQuoteRequest",
    description: "scrip_nos, or scheme and face_paise; one of the two counterparty fields.",
    "x-forms": [
      [form({ counterparty_firm_id: true }), form({ counterparty_iec: true })],
      [form({ scrip_nos: true }), form({ scheme: true, face_paise: true }, { scrip_nos: true })],
    ],
  },
);
export type QuoteCrossBody = Static<typeof QuoteCrossBody>;

export const CrossQuote = Type.Object(
  {
    cross_quote_ref: Type.Optional(
      Type.String({
        description: "Propose the cross with it, once and in time.",
        examples: ["cqt_01jd2m7q4x8r5v6w9y0abcdefg"],
      }),
    ),
    kind: Type.Optional(openEnum(crossKinds, "The kind that was asked for.")),
    firm_id: Type.Optional(text("The firm that is acted for.")),
    side: Type.Optional(openEnum(sides, "Its side.")),
    counterparty_iec: Type.Optional(text("The importer-exporter code of the other side.")),
    scheme: Type.Optional(openEnum(schemes, "Which scheme.")),
    scrip_nos: Type.Optional(
      Type.Array(Type.String(), {
        description: "The credits that the terms name; none where the seller is to choose.",
      }),
    ),
    face_paise: Type.Optional(amount("The face value in paise.")),
    price_bps: Type.Optional(
      Type.Integer({ description: "The price between the two sides.", examples: [9_800] }),
    ),
    fee_paise: Type.Optional(fee),
    gst_paise: Type.Optional(gst),
    all_in_paise: Type.Optional(amount("What you pay or get, everything included.")),
    terms_hash: Type.Optional(text("Names the terms. The other side accepts this very text.")),
    valid_until: Type.Optional(timestamp("Until when it can be proposed.")),
    no_quote: Type.Optional(flag("True, and beside it only a reason.")),
    reason: Type.Optional(
      openEnum(
        noQuoteReasons,
        "With no_quote: market_unavailable, wait; size_unavailable, change the amount.",
      ),
    ),
  },
  { title: "CrossQuote", description: "The terms of a cross, your side of them." },
);
export type CrossQuote = Static<typeof CrossQuote>;

export const ProposeCrossBody = body({
  cross_quote_ref: id("The quote whose terms are proposed."),
});
export type ProposeCrossBody = Static<typeof ProposeCrossBody>;

export const AcceptCrossBody = body({
  terms_hash: Type.String({
    minLength: 1,
    maxLength: 128,
    description: "The terms you agree to, as the cross shows them.",
  }),
  scrip_nos: Type.Optional(
    scripNos(
      "Seller, where the terms name no credits: those you deliver, of exactly the face. Found among " +
        "your own when absent.",
    ),
  ),
});
export type AcceptCrossBody = Static<typeof AcceptCrossBody>;

export const FundCrossBody = body({
  payment_ref: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$",
    description: "Your own name for the payment. The same again is the same payment.",
    examples: ["PAY-2026-0042"],
  }),
});
export type FundCrossBody = Static<typeof FundCrossBody>;

export const NoFields = body({});

const Side = Type.Object({
  side: openEnum(sides, "Which side."),
  firm_id: text("The firm of your desk that is on it."),
  fee_paise: fee,
  gst_paise: gst,
  all_in_paise: amount("What it pays or gets, everything included."),
});

export const Cross = Type.Object(
  {
    cross_id: crossId,
    kind: openEnum(crossKinds, "Block or intra-group."),
    side: openEnum(sides, "Your side; the proposing one where your desk has both."),
    firm_id: text("The firm of your desk that is on it."),
    counterparty_iec: text("The importer-exporter code of the other side."),
    scheme: openEnum(schemes, "Which scheme."),
    scrip_nos: Type.Array(Type.String(), {
      description: "The credits; none before the seller has chosen.",
    }),
    face_paise: amount("The face value in paise."),
    price_bps: Type.Integer({ description: "The price between the two.", examples: [9_800] }),
    fee_paise: fee,
    gst_paise: gst,
    all_in_paise: amount("What you pay or get, everything included."),
    sides: Type.Array(Side, {
      description: "What your firms do in it, and nothing of anybody else.",
    }),
    terms_hash: text("Names the terms that both sides agree to."),
    status: openEnum(crossStates, "The state it is in."),
    reason: maybeText("Why it ended; null while it has not, and where that is obvious."),
    waiting_on: openEnum(waitingOn, "Whose move it is."),
    due_at: maybeTime("By when that must have happened; null where nothing is awaited."),
    payment_ref: maybeText(
      "The reference that the buyer gave for its payment; null for the seller, and before it is funded.",
    ),
    settlement_id: maybeText("The settlement of what was released; null before the release."),
    settlement_status: maybeText("The state of that settlement; null before the release."),
    netting_ref: maybeText(
      "The netting of a group that it is a part of; null for a cross of its own.",
    ),
    history: historySchema(crossStates),
    version,
    allowed_actions: Type.Array(Type.String(), { description: "What you can do with it now." }),
    created_at: timestamp("When it was proposed."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Cross", description: "A deal of two named firms, away from the market." },
);
export type Cross = Static<typeof Cross>;

export const CrossParams = Type.Object({ cross_id: crossId });

export const crossFilters = {
  status: Type.Optional(closedEnum(crossStates, { description: "Only those in this state." })),
  kind: Type.Optional(closedEnum(crossKinds, { description: "Only of this kind." })),
  firm_id: Type.Optional(id("Only those that this firm has a side in.")),
  netting_ref: Type.Optional(id("Only those of this netting.")),
};
