import { type Static, type TSchema, Type } from "typebox";

import { schemes, sides } from "../kernel/scheme.ts";
import { supplyKinds } from "../taxes/tax-rules.ts";
import { formatQuery, maybeText, openEnum, text, timestamp } from "../platform/http/wire.ts";

const amount = (description: string) => Type.Integer({ description, examples: [24_412_500] });

const split = {
  face_paise: amount("The face value in paise."),
  value_paise: amount("What the scrips are worth at your price; HSN 4907, exempt from GST."),
  fee_paise: amount("The fee within the all-in amount."),
  gst_paise: amount("GST on the fee, within the all-in amount."),
  all_in_paise: amount(
    "What changes hands: value less fee and GST when you sell, plus both when you buy.",
  ),
};

const NoteLeg = Type.Object({
  scrip_no: text("The credit's number."),
  price_bps: Type.Integer({
    description: "Your price in basis points of face.",
    examples: [9_765],
  }),
  hsn: text("The tariff heading of scrips."),
  ...split,
  status: text("Where the credit stands, as in its settlement."),
  default_by: maybeText(
    "The side that pays the other for being late, sell or buy; null where none does.",
  ),
  default_paise: amount("How much it pays; 0 where nobody does."),
});

const Payment = Type.Object({
  direction: openEnum(["out", "in"], "To the firm's bank, or from it."),
  utr: maybeText("The bank's reference; null until it was sent."),
  amount_paise: amount("The amount in paise."),
  status: text("received, or where the payout stands."),
});

const TaxLine = Type.Object({
  kind: openEnum(
    ["cgst", "sgst", "igst", "tds"],
    "A part of gst_paise by the place of supply, or tax deducted at source from what you get.",
  ),
  name: text("The same for people, with its rate."),
  rate_bps: Type.Integer({ description: "Its rate in basis points.", examples: [900] }),
  amount_paise: amount("The amount in paise."),
});

const FeeInvoice = Type.Object({
  invoice_no: text("Its number, without a gap in the financial year."),
  kind: openEnum(["invoice", "credit_note"], "A credit note takes back what was invoiced."),
  issued_at: timestamp("When it was issued."),
  place_of_supply: text("The state code by which the tax was divided."),
  sac: maybeText("The code of the service; null on papers from before it was kept."),
  fee_paise: amount("The fee before tax, in paise."),
  gst_paise: amount("All tax on the fee, in paise."),
  cgst_paise: amount("Central tax, within the house's state."),
  sgst_paise: amount("The state's tax, within the house's state."),
  igst_paise: amount("Integrated tax, across a border."),
  cgst_bps: Type.Integer({ description: "The rate of cgst_paise.", examples: [900] }),
  sgst_bps: Type.Integer({ description: "The rate of sgst_paise.", examples: [900] }),
  igst_bps: Type.Integer({ description: "The rate of igst_paise.", examples: [0] }),
  against: Type.Array(Type.String(), {
    description: "Of a credit note, the invoices that it takes back.",
  }),
});

const ContractNote = Type.Object(
  {
    note_no: text("The number of the note."),
    firm_id: text("The id of the firm whose deal it is."),
    side: openEnum(sides, "Which side it was on."),
    scheme: openEnum(schemes, "Which scheme."),
    status: text("Where the settlement stands."),
    dealt_at: timestamp("When it was dealt."),
    order_ids: Type.Array(Type.String(), { description: "The orders that it was dealt by." }),
    firm: Type.Object(
      {
        legal_name: text("The legal name as it is registered."),
        pan: maybeText("The firm's PAN; null until it is told."),
        gstin: maybeText("The GSTIN; null until it is told."),
      },
      { description: "Whose side it is." },
    ),
    legs: Type.Array(NoteLeg, { description: "One per credit." }),
    ...split,
    settled_paise: amount("What of the all-in amount has changed hands."),
    undelivered_paise: amount("What of the price will not be delivered, in paise."),
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
    settlement_id: text("The settlement's id."),
    as_of: timestamp("When this was made."),
    house: Type.Object(
      {
        name: text("Who stands between the sides."),
        address: Type.Array(Type.String(), { description: "The address, line by line." }),
        gstin: maybeText("The GSTIN; null until it is told."),
        cin: Type.Optional(
          maybeText("Its number in the register of companies (CIN); null where none is told."),
        ),
      },
      { description: "Who stands between the sides." },
    ),
    notes: Type.Array(ContractNote, {
      description: "One for each of your firms that has a side in it, and nothing of anybody else.",
    }),
    version: Type.Integer({ description: "The settlement's version.", examples: [4] }),
    allowed_actions: Type.Array(Type.String(), {
      description: "Always empty: a paper has no actions.",
    }),
  },
  { title: "ContractNotes", description: "What your firms dealt in a settlement, on paper." },
);
export type ContractNotes = Static<typeof ContractNotes>;
export type Note = ContractNotes["notes"][number];

const Party = Type.Object({
  name: text("Its legal name."),
  iec: maybeText("Its importer-exporter code (IEC); null where none is told."),
  gstin: maybeText("Its GSTIN; null of who is not registered."),
  address: Type.Array(Type.String(), { description: "In lines; empty where we do not know it." }),
  state_code: maybeText("The two digits of its state, as a GSTIN begins; null where none is told."),
});

const BillOfSupply = Type.Object(
  {
    kind: openEnum(supplyKinds, "A supply, or its return after a reversal."),
    number: maybeText("The house's number, without a gap in its series; null on a draft."),
    series: maybeText("The series of the number, one for each financial year; null on a draft."),
    date: Type.String({ format: "date", description: "The day of the supply, IST." }),
    supplier: Type.Object(Party.properties, { description: "Who supplies the credits." }),
    recipient: Type.Object(Party.properties, { description: "Who receives them." }),
    place_of_supply: maybeText(
      "The state code of the recipient's GSTIN, or of the supplier's for a recipient without; null where neither has one.",
    ),
    lines: Type.Array(
      Type.Object({
        scrip_no: text("The credit's number."),
        hsn: text("The tariff heading of scrips."),
        description: text("What it is, in words."),
        value_paise: amount("Its value in paise."),
      }),
      { description: "One per credit." },
    ),
    total_paise: amount("The sum of the lines; nothing is rounded."),
    total_words: text("The total in words, as it is printed."),
    exemption: text("The citation by which no GST is charged."),
    signatory: maybeText("Who signs for the supplier; null on a draft in a client's name."),
    against: Type.Array(Type.String(), {
      description: "Of a return, the house's bills that it takes back.",
      examples: [[]],
    }),
    draft: Type.Boolean({
      description:
        "Whether the supplier has to number and sign it: your firm, or the seller of what you bought. The house's own is a draft for the seconds until it has its number.",
    }),
  },
  { title: "BillOfSupply" },
);

export const BillsOfSupply = Type.Object(
  {
    settlement_id: text("The settlement's id."),
    as_of: timestamp("When this was made."),
    bills: Type.Array(BillOfSupply, {
      description: "Of what was delivered and your firms supplied or received.",
    }),
    version: Type.Integer({ description: "The settlement's version.", examples: [4] }),
    allowed_actions: Type.Array(Type.String(), {
      description: "Always empty: a paper has no actions.",
    }),
  },
  { title: "BillsOfSupply", description: "The bills of supply of a settlement." },
);
export type BillsOfSupply = Static<typeof BillsOfSupply>;
export type Bill = BillsOfSupply["bills"][number];
export type BillParty = Bill["supplier"];

const asJsonOrPdf = (description: string, schema: TSchema) => ({
  description,
  content: {
    "application/json": { schema },
    "application/pdf": {
      schema: Type.String({
        contentMediaType: "application/pdf",
        description: "The same as a PDF for people.",
      }),
    },
  },
});

export const ContractNoteAnswer = asJsonOrPdf("The notes.", ContractNotes);
export const BillsOfSupplyAnswer = asJsonOrPdf("The bills.", BillsOfSupply);

export const NoteParams = Type.Object({ settlement_id: text("The settlement's id.") });

export const NoteQuery = Type.Object(
  {
    format: formatQuery(["json", "pdf"]),
  },
  { additionalProperties: false },
);
export type NoteQuery = Static<typeof NoteQuery>;
