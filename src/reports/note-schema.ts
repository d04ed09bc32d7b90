import { type Static, Type } from "typebox";

import { schemes, sides } from "../kernel/scheme.ts";
import { nullable, openEnum, timestamp, formatQuery } from "../platform/http/wire.ts";

const amount = (description: string) => Type.Integer({ description, examples: [24_412_500] });
const text = (description: string) => Type.String({ description });
const maybeText = (description: string) => nullable<string>({ type: "string", description });

const split = {
  face_paise: amount("Face."),
  value_paise: amount("What the scrips are worth at your price; HSN 4907, exempt from GST."),
  fee_paise: amount("The fee within the all-in amount."),
  gst_paise: amount("GST on the fee, within the all-in amount."),
  all_in_paise: amount(
    "What changes hands: value less fee and GST when you sell, plus both when you buy.",
  ),
};

const NoteLeg = Type.Object({
  scrip_no: text("The credit."),
  price_bps: Type.Integer({ description: "Your price.", examples: [9_765] }),
  hsn: text("The tariff heading of scrips."),
  ...split,
  status: text("Where the credit stands, as in its settlement."),
  default_by: maybeText("The side that pays the other for being late: sell or buy."),
  default_paise: amount("How much it pays; 0 where nobody does."),
});

const Payment = Type.Object({
  direction: openEnum(["out", "in"], "To the firm's bank, or from it."),
  utr: maybeText("The bank's reference; null until it was sent."),
  amount_paise: amount("How much."),
  status: text("received, or where the payout stands."),
});

const TaxLine = Type.Object({
  kind: openEnum(
    ["cgst", "sgst", "igst", "tds"],
    "A part of gst_paise by the place of supply, or tax deducted at source from what you get.",
  ),
  name: text("The same for people, with its rate."),
  rate_bps: Type.Integer({ description: "Its rate.", examples: [900] }),
  amount_paise: amount("How much."),
});

const FeeInvoice = Type.Object({
  invoice_no: text("Its number, without a gap in the financial year."),
  kind: openEnum(["invoice", "credit_note"], "A credit note takes back what was invoiced."),
  issued_at: timestamp("When it was issued."),
  place_of_supply: text("The state code by which the tax was divided."),
  fee_paise: amount("The fee."),
  gst_paise: amount("All tax on it."),
});

const ContractNote = Type.Object(
  {
    note_no: text("Names the note."),
    firm_id: text("Whose deal it is."),
    side: openEnum(sides, "Which side it was on."),
    scheme: openEnum(schemes, "Which scheme."),
    status: text("Where the settlement stands."),
    dealt_at: timestamp("When it was dealt."),
    order_ids: Type.Array(Type.String(), { description: "The orders that it was dealt by." }),
    firm: Type.Object({
      legal_name: text("As registered."),
      pan: maybeText("Its PAN."),
      gstin: maybeText("Its GSTIN."),
    }),
    legs: Type.Array(NoteLeg, { description: "One per credit." }),
    ...split,
    settled_paise: amount("What of the all-in amount has changed hands."),
    undelivered_paise: amount("What of it will not."),
    payments: Type.Array(Payment, { description: "Money that the banks moved for it." }),
    taxes: Type.Optional(
      Type.Array(TaxLine, {
        description: "Of credits delivered while tax lines were set, and not reversed.",
      }),
    ),
    net_paise: Type.Optional(
      amount("What a seller is paid for what was settled, less tax deducted at source."),
    ),
    invoices: Type.Optional(
      Type.Array(FeeInvoice, { description: "What was issued for the fee of this side." }),
    ),
  },
  { title: "ContractNote" },
);

export const ContractNotes = Type.Object(
  {
    settlement_id: text("The deal."),
    as_of: timestamp("When this was made."),
    house: Type.Object({
      name: text("Who stands between the sides."),
      address: Type.Array(Type.String(), { description: "In lines." }),
      gstin: maybeText("Its GSTIN."),
      cin: Type.Optional(maybeText("Its number in the register of companies.")),
    }),
    notes: Type.Array(ContractNote, {
      description: "One for each of your firms that has a side in it, and nothing of anybody else.",
    }),
    version: Type.Integer({ description: "That of the settlement.", examples: [4] }),
    allowed_actions: Type.Array(Type.String(), { description: "Always empty." }),
  },
  { title: "ContractNotes", description: "What your firms dealt in a settlement, on paper." },
);
export type ContractNotes = Static<typeof ContractNotes>;

export const ContractNoteAnswer = {
  description: "The notes.",
  content: {
    "application/json": { schema: ContractNotes },
    "application/pdf": {
      schema: Type.String({ contentMediaType: "application/pdf", description: "For people." }),
    },
  },
};

export const NoteParams = Type.Object({ settlement_id: text("The settlement's id.") });

export const NoteQuery = Type.Object(
  {
    format: formatQuery(["json", "pdf"]),
  },
  { additionalProperties: false },
);
export type NoteQuery = Static<typeof NoteQuery>;
