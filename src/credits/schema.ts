import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import {
  body,
  closedEnum,
  flag,
  form,
  itemError,
  nullable,
  openEnum,
  paise,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import { creditStates, notSellableReasons } from "./rules.ts";

const declarationsMax = 500;
export const reportRowsMax = 5_000;

const scripNo = Type.String({
  description: "The credit's number: opaque, taken trimmed and in capitals.",
  examples: ["0123/RODTEP/4567"],
});
const firmId = Type.String({
  description: "The firm that holds it.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});

function day(description: string) {
  return Type.String({
    maxLength: 32,
    description: `${description} YYYY-MM-DD.`,
    examples: ["2026-11-15"],
  });
}

export const CreditDeclaration = body(
  {
    scrip_no: Type.String({
      maxLength: 64,
      description: "The credit's number: opaque, taken trimmed and in capitals.",
      examples: ["0123/RODTEP/4567"],
    }),
    scheme: closedEnum(schemes, { description: "The scheme it was issued under." }),
    face_paise: paise("The balance that can be transferred: what is priced and sold."),
    issued_paise: Type.Optional(
      paise("What it was issued with; the balance when it is not given."),
    ),
    port_code: Type.Optional(
      Type.String({ maxLength: 16, description: "Its customs port.", examples: ["INNSA1"] }),
    ),
    issued_on: day("The day it was issued."),
    expires_on: day("The last day it can be used, IST."),
  },
  { title: "CreditDeclaration", description: "What a firm says about a credit it holds." },
);
export type CreditDeclaration = Static<typeof CreditDeclaration>;

export const DeclareCreditsBody = body({
  credits: Type.Array(CreditDeclaration, {
    minItems: 1,
    maxItems: declarationsMax,
    description: "Each is answered by itself.",
  }),
});
/** Items are validated one by one in the use case, so the schema accepts any value. */
export type DeclareCreditsBody = { readonly credits: readonly unknown[] };

export const ImportCreditsBody = body(
  {
    csv: Type.Optional(
      Type.String({
        minLength: 1,
        contentMediaType: "text/csv",
        description: `A report of the customs portal, at most ${reportRowsMax} rows. Amounts are rupees. This or xlsx.`,
        examples: [
          'Scrip Number,Scheme,Amount,Balance,Issue Date,Expiry Date\nABC123456,RODTEP,"12,34,567.00","12,34,567.00",01/10/2026,01/10/2028\n',
        ],
      }),
    ),
    xlsx: Type.Optional(
      Type.String({
        minLength: 1,
        contentMediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        contentEncoding: "base64",
        description: `The same as a workbook, in base64. Scrip numbers are stored as text there. This or csv.`,
      }),
    ),
  },
  { "x-forms": [[form({ csv: true }), form({ xlsx: true })]] },
);
export type ImportCreditsBody = Static<typeof ImportCreditsBody>;

export const UseCreditBody = body(
  {
    bill_of_entry: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The bill of entry whose basic customs duty it paid; one part per bill.",
        examples: ["7781234"],
      }),
    ),
    used_on: Type.Optional(day("The day it paid; today or before.")),
    port: Type.Optional(
      Type.String({
        maxLength: 16,
        description: "The customs port of the bill.",
        examples: ["INNSA1"],
      }),
    ),
    amount_paise: Type.Optional(
      paise("The part that was used; all that is left when it is left out."),
    ),
  },
  {
    title: "UseCredit",
    description: "The bill, the day and the port together; none of them to mark all as used.",
  },
);
export type UseCreditBody = Static<typeof UseCreditBody>;

export const CreditUse = Type.Object(
  {
    bill_of_entry: nullable<string>({
      type: "string",
      description: "The bill of entry; null where the credit was only marked as used.",
      examples: ["7781234"],
    }),
    used_on: nullable<string>({
      type: "string",
      format: "date",
      description: "The day it paid; null without a bill.",
      examples: ["2026-11-15"],
    }),
    port: nullable<string>({
      type: "string",
      description: "The customs port of the bill; null without a bill.",
      examples: ["INNSA1"],
    }),
    amount_paise: Type.Integer({
      description: "The part of the credit that paid, in paise.",
      examples: [1_000_000],
    }),
    balance_paise: Type.Integer({
      description: "What was left on the credit after it, in paise.",
      examples: [24_000_000],
    }),
  },
  { title: "CreditUse", description: "A part of a credit that paid basic customs duty." },
);

export const Credit = Type.Object(
  {
    credit_id: Type.String({
      description: "This firm's holding of the scrip, as events name it.",
      examples: ["crd_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    scrip_no: scripNo,
    scheme: openEnum(schemes, "The scheme it was issued under."),
    firm_id: firmId,
    issued_paise: Type.Integer({ description: "What it was issued with.", examples: [25_000_000] }),
    face_paise: Type.Integer({
      description:
        "The balance that can be transferred: what is priced and sold. 0 once it is used.",
      examples: [25_000_000],
    }),
    port_code: nullable<string>({
      type: "string",
      description: "The code of its customs port; null while it is unknown.",
      examples: ["INNSA1"],
    }),
    issued_on: day("The day it was issued."),
    expires_on: day("The last day it can be used, IST."),
    days_left: Type.Integer({
      description: "Days from today, IST, to expires_on; 0 on the last day and after it.",
      examples: [412],
    }),
    status: openEnum(creditStates, "Declared until the registry confirms it, then listed."),
    sellable: flag("Whether it can be sold now."),
    not_sellable_reason: nullable<string>({
      type: "string",
      "x-extensible-enum": [...notSellableReasons],
      description:
        "Null when sellable. Its status when that is not listed; firm_not_authorized when its firm " +
        "may not trade; too_short with fewer than 30 days left. Open set.",
    }),
    uses: Type.Array(CreditUse, {
      description: "The parts that its firm has told, in that order.",
    }),
    used_elsewhere_paise: Type.Integer({
      description:
        "What was used and is not told in uses: before it was declared, or seen in a report of " +
        "customs. issued_paise is face_paise, uses and this.",
      examples: [0],
    }),
    balance_shown_on: nullable<string>({
      type: "string",
      format: "date",
      description:
        "The day on which customs showed this balance, by confirming the holding or its transfer; " +
        "null for one that only its firm has told, as after a part was used.",
      examples: ["2026-11-15"],
    }),
    as_of: timestamp("When the registry, or the firm before it, last spoke about it."),
    version,
    allowed_actions: Type.Array(Type.String(), {
      description: "What its state allows you now; see GET /v1/meta/states.",
      examples: [["withdraw", "use"]],
    }),
  },
  { title: "Credit", description: "One firm's holding of one scrip." },
);
export type Credit = Static<typeof Credit>;

const resultFields = {
  ok: flag("Whether the credit stands as declared."),
  status: Type.Integer({
    description: "The status a call with this item alone would have: 201 new, 200 known, or 4xx.",
    examples: [201],
  }),
  error: itemError,
  credit: Type.Optional(Credit),
};
const sums = {
  accepted: Type.Integer({ description: "The number of items that were accepted.", examples: [1] }),
  failed: Type.Integer({ description: "The number of items that were refused.", examples: [0] }),
};

export const DeclarationResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: "Its place in the request, from 0.", examples: [0] }),
        ...resultFields,
      }),
      { description: "One per item, in the order of the request." },
    ),
    ...sums,
  },
  { title: "CreditDeclarationResults" },
);
export type DeclarationResults = Static<typeof DeclarationResults>;

export const ImportResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        row: Type.Integer({
          description: "Its row in the file as a spreadsheet counts: the heading is row 1.",
          examples: [2],
        }),
        ...resultFields,
      }),
      { description: "One per row with content, in the order of the file." },
    ),
    ...sums,
    skipped: Type.Integer({
      description:
        "Blank rows, rows above the heading and the totals row, which say nothing of a credit.",
      examples: [1],
    }),
  },
  { title: "CreditImportResults" },
);
export type ImportResults = Static<typeof ImportResults>;

export const FirmParams = Type.Object({ firm_id: firmId });
export const CreditParams = Type.Object({
  scrip_no: Type.String({
    description: "The credit's number, with %2F for each /; or its credit_id, which has none.",
    examples: ["crd_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
});
