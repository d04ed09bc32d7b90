import { type Static, Type } from "typebox";

import {
  body,
  historySchema,
  maybeText,
  maybeTime,
  nullable,
  nullableObject,
  openEnum,
  text,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import { payoutKinds, payoutStates, rails } from "./rules.ts";

const payoutId = Type.String({
  description: "The payout's id.",
  examples: ["pay_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const amount = (description: string) => Type.Integer({ description, examples: [24_412_500] });

const Line = Type.Object({
  order_id: maybeText("The order that sold it; null where a cross did."),
  cross_id: maybeText("The cross that sold it; null where an order did."),
  scrip_no: text("The credit's number."),
  amount_paise: amount("What this credit brought."),
});

export const Payout = Type.Object(
  {
    payout_id: payoutId,
    firm_id: text("The firm that is paid."),
    kind: openEnum(payoutKinds, "Where it comes from: a settlement, or the firm's balance."),
    settlement_id: maybeText("The settlement that it comes from; null for a withdrawal."),
    resend_of: maybeText(
      "The payout that came back and is sent again by this one; null for a first attempt.",
    ),
    amount_paise: amount("How much: the sum of its lines, less `set_off_paise`."),
    set_off_paise: amount("What of its lines was set off from what the firm owed the house."),
    rail: openEnum(rails, "How it goes: by the amount of its remittance, once it has one."),
    remittance: nullableObject(
      {
        payout_id: text("The payout that names it: the first of those that leave together."),
        amount_paise: amount("What reaches the account under one reference."),
      },
      {
        description:
          "What it leaves in: all that is due to one payee in one run reaches its account as one " +
          "amount, under one `utr`. Null until then.",
      },
    ),
    bank: nullableObject(
      {
        ifsc: text("The branch's IFSC."),
        account_no_masked: text("The last digits of the account number."),
      },
      { description: "Where it goes; null while the firm has given no account." },
    ),
    status: openEnum(payoutStates, "The state it is in."),
    reason: maybeText("Why it is held or came back; null otherwise."),
    held_until: maybeTime(
      "When the hold ends by itself; null without a hold, or where something else ends it.",
    ),
    utr: maybeText("The bank's reference (UTR); null before it is sent."),
    lines: Type.Array(Line, {
      description: "Which order each paisa comes from; a withdrawal has none.",
    }),
    history: historySchema(payoutStates),
    version,
    allowed_actions: Type.Array(Type.String(), { description: "What you can do with it now." }),
    created_at: timestamp("When it was scheduled."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Payout", description: "Money on its way to a firm's bank." },
);
export type Payout = Static<typeof Payout>;

export const PayoutParams = Type.Object({ payout_id: payoutId });

export const WithdrawalParams = Type.Object({
  firm_id: Type.String({
    description: "The firm whose money it is.",
    examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
});

export const WithdrawMoneyBody = body({
  amount_paise: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "How much of what the firm has available.",
    examples: [250_000_000],
  }),
});
export type WithdrawMoneyBody = Static<typeof WithdrawMoneyBody>;

const depositStates = ["received", "returned"] as const;

export const Deposit = Type.Object(
  {
    reference: Type.String({
      description: "The bank's reference of the payment.",
      examples: ["HDFCR52026111500054321"],
    }),
    firm_id: text("The firm whose money it is."),
    amount_paise: amount("The amount that came, in paise."),
    settlement_id: maybeText("The settlement that it came for; null where it became balance."),
    status: openEnum(depositStates, "Whether it is the firm's, or was taken back."),
    reason: maybeText("Why it was taken back; null while it was not."),
    received_at: timestamp("When it was booked."),
    returned_at: nullable<string>({
      type: "string",
      format: "date-time",
      description: "When it was taken back; null while it was not.",
    }),
  },
  { title: "Deposit", description: "Money that came from a firm." },
);
export type Deposit = Static<typeof Deposit>;
