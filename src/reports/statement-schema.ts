import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import {
  formatQuery,
  listFormats,
  maybeText,
  maybeTime,
  nullable,
  openEnum,
  paiseSum,
  tableContent,
  text,
  timestamp,
} from "../platform/http/wire.ts";
import { lineKinds, partMax, statementStates } from "./statement-rules.ts";

const amount = (description: string) => paiseSum(description, 24_412_500);
const maybeNumber = (description: string) => nullable<number>({ type: "integer", description });

const period = Type.String({ description: "The month in IST.", examples: ["2026-11"] });
const firmId = Type.String({
  description: "Whose statement it is.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const status = openEnum(
  statementStates,
  "running until the month is over, provisional until what was under way at its end is in the books, then final and never changed.",
);

const Line = Type.Object({
  line_no: Type.Integer({ description: "The place of the line, from 1.", examples: [1] }),
  at: timestamp("When it took effect."),
  kind: openEnum(lineKinds, "The kind of line."),
  description: text("The same in words."),
  reference: text("The settlement or payout it is about, or the bank's reference of a deposit."),
  utr: maybeText("The bank's reference (UTR) of money that came or went; null for other lines."),
  hsn: maybeText(
    "The tariff heading of what changed hands: scrips are 4907 and exempt from GST; null for lines of no credits.",
  ),
  scheme: nullable<string>({
    type: "string",
    "x-extensible-enum": [...schemes],
    description: "The scheme of the credits; null for lines of no credits.",
  }),
  scrip_nos: Type.Array(Type.String(), { description: "The credits' numbers." }),
  face_paise: maybeNumber("The sum of the credits' face values; null for lines of no credits."),
  price_bps: maybeNumber("Your price; null where the credits had several."),
  amount_paise: amount("What it adds to the balance; below zero where it takes."),
  balance_paise: amount("The balance after the line, in paise."),
});

const Total = Type.Object({
  kind: openEnum(lineKinds, "Of which lines."),
  lines: Type.Integer({ description: "The number of lines.", examples: [3] }),
  amount_paise: amount("The sum of their amounts, in paise."),
});

const summary = {
  statement_no: Type.String({
    description: "The statement's number.",
    examples: ["2026-11/01JD2M7Q4X8R5V6W9Y0ABCDEFG"],
  }),
  firm_id: firmId,
  period,
  status,
  opening_paise: amount("The balance at the beginning: what the statement before closed with."),
  closing_paise: amount("The balance at the end, or by now."),
  frozen_at: maybeTime("Since when it is final; null while the month runs."),
  digest: maybeText("SHA-256 of a final statement, as it is kept; null before it is final."),
  version: Type.Integer({
    description: "The last entry of the books that was seen: raised by everything that moves.",
    examples: [4_711],
  }),
  allowed_actions: Type.Array(Type.String(), {
    description: "Always empty: a paper has no actions.",
  }),
};

export const Statement = Type.Object(
  {
    ...summary,
    from: timestamp("The first instant of the month."),
    to: timestamp("The first instant after it."),
    as_of: timestamp("When this was made."),
    firm: Type.Object(
      {
        legal_name: text("The legal name as it is registered."),
        pan: maybeText("The firm's PAN; null until it is told."),
        gstin: maybeText("The GSTIN; null until it is told."),
      },
      { description: "Whose account it is." },
    ),
    house: Type.Object(
      {
        name: text("Who keeps the account."),
        address: Type.Array(Type.String(), { description: "The address, line by line." }),
        gstin: maybeText("The GSTIN; null until it is told."),
        cin: Type.Optional(
          maybeText("Its number in the register of companies (CIN); null where none is told."),
        ),
      },
      { description: "Who keeps the account." },
    ),
    lines: Type.Array(Line, {
      description:
        "What moved, in the order it took effect: opening_paise and all of them sum to closing_paise.",
    }),
    line_count: Type.Integer({
      description: "How many lines there are, on this page and all others.",
      examples: [3],
    }),
    totals: Type.Array(Total, { description: "What the lines of each kind add up to." }),
    commission_paise: amount("What of the closing balance was earned as a desk."),
    dues_paise: amount("What the firm owes the house, beside the balance."),
  },
  { title: "Statement", description: "What a firm had with us, what moved and what is left." },
);
export type Statement = Static<typeof Statement>;

export const StatementSummary = Type.Object(summary, { title: "StatementSummary" });
export type StatementSummary = Static<typeof StatementSummary>;

export const StatementList = Type.Object(
  { statements: Type.Array(StatementSummary, { description: "Newest first." }) },
  { title: "StatementList" },
);
export type StatementList = Static<typeof StatementList>;

export const StatementAnswer = {
  description: "The statement.",
  content: {
    "application/json": { schema: Statement },
    ...tableContent("One row per line of the statement, between opening and closing."),
    "application/pdf": {
      schema: Type.String({
        contentMediaType: "application/pdf",
        description: "The same as a PDF for people.",
      }),
    },
  },
};

const ofFirm = {
  firm_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Of this firm of your desk; your key's own unless given.",
    }),
  ),
};

export const StatementParams = Type.Object({ period });

export const ListStatementsQuery = Type.Object(ofFirm, { additionalProperties: false });
export type ListStatementsQuery = Static<typeof ListStatementsQuery>;

export const StatementQuery = Type.Object(
  {
    ...ofFirm,
    format: formatQuery([...listFormats, "pdf"]),
    after_line: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Only the lines after this one; not as pdf.",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: partMax,
        description: `At most so many lines; not as pdf. ${partMax} where after_line alone is given.`,
      }),
    ),
  },
  { additionalProperties: false },
);
export type StatementQuery = Static<typeof StatementQuery>;
