// A payout file instructs the bank to pay. It has one line per remittance.
//
//   file   live ──┬── answered   the bank has answered every line
//                 └── voided     two operators say that the bank never got it
//
//   line   live ──paid──▶ paid ──return──▶ returned   (also from live)
//            └────void──▶ voided
//
// The format of a bank's file is data: its columns in order, the field of each, and how amounts and
// days are written.

import { createHash } from "node:crypto";

import { bankCsvText, type Cell } from "../kernel/csv.ts";
import { unprocessable, Failure } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { rupeesPlain } from "../kernel/money.ts";
import type { IstDay } from "../kernel/time.ts";

export const fileStates = ["live", "answered", "voided"] as const;

export type FileState = (typeof fileStates)[number];

export function noPayoutFile(fileId: string): Failure {
  return new Failure("not_found", `no payout file ${fileId}`);
}

export const fileLifecycle = {
  noun: "payout file",
  initial: ["live"],
  states: fileStates,
  moves: {
    answer: { from: ["live"], to: "answered", by: "bank" },
    void: { from: ["live"], to: "voided", by: "operator" },
  },
} as const satisfies Lifecycle<FileState>;

export const lineStates = ["live", "paid", "returned", "voided"] as const;

export type LineState = (typeof lineStates)[number];

export const lineLifecycle = {
  noun: "line of a payout file",
  initial: ["live"],
  states: lineStates,
  moves: {
    pay: { from: ["live"], to: "paid", by: "bank" },
    return: { from: ["live", "paid"], to: "returned", by: "bank" },
    void: { from: ["live"], to: "voided", by: "operator" },
  },
} as const satisfies Lifecycle<LineState>;

export const columnFields = [
  "account_no",
  "ifsc",
  "name",
  "amount_rupees",
  "amount_paise",
  "reference",
  "rail",
  "line_no",
  "day",
  "firm_id",
] as const;

type ColumnField = (typeof columnFields)[number];

export const dayForms = ["YYYY-MM-DD", "DD/MM/YYYY", "DD-MM-YYYY"] as const;

type DayForm = (typeof dayForms)[number];

/** A column holds a fact of the remittance, or the same text in every line. */
type PayoutFileColumn = { readonly header: string } & (
  | { readonly field: ColumnField }
  | { readonly text: string }
);

export type FileFormat = {
  readonly name: string;
  /** Whether the first line names the columns. */
  readonly has_header: boolean;
  readonly day_form: DayForm;
  readonly columns: readonly PayoutFileColumn[];
};

/** For banks without a format of their own: the operator converts it by hand. */
export const genericFormat: FileFormat = {
  name: "generic",
  has_header: true,
  day_form: "YYYY-MM-DD",
  columns: [
    { header: "line", field: "line_no" },
    { header: "rail", field: "rail" },
    { header: "account_no", field: "account_no" },
    { header: "ifsc", field: "ifsc" },
    { header: "name", field: "name" },
    { header: "amount", field: "amount_rupees" },
    { header: "reference", field: "reference" },
  ],
};

const columnsMax = 50;
const textLengthMax = 100;
/** The bank needs the account to pay, and the reference links its answer to the line. */
const neededFields = ["account_no", "ifsc", "reference"] as const satisfies readonly ColumnField[];

/** Parses an operator's format; throws for the first problem. */
export function parseFileFormat(value: unknown): FileFormat {
  const wrong = (path: string, problem: string) => unprocessable({ path, problem });
  if (!isRecord(value)) throw wrong("format", "must be an object");
  const { name, has_header: hasHeader = true, day_form: dayForm = "YYYY-MM-DD", columns } = value;
  if (!isShortText(name) || name === "") throw wrong("format.name", "must be a short text");
  if (typeof hasHeader !== "boolean") throw wrong("format.has_header", "must be true or false");
  const form = dayForms.find((known) => known === dayForm);
  if (!form) throw wrong("format.day_form", `must be one of ${dayForms.join(", ")}`);
  if (!Array.isArray(columns) || columns.length === 0 || columns.length > columnsMax) {
    throw wrong("format.columns", `must be a list of 1 to ${columnsMax}`);
  }
  const read = columns.map((column, at) => {
    const path = `format.columns.${at}`;
    if (!isRecord(column) || !isShortText(column["header"]))
      throw wrong(path, "must have a header");
    const { header, field, text } = column as { header: string; field?: unknown; text?: unknown };
    const known = columnFields.find((candidate) => candidate === field);
    if (known && text === undefined) return { header, field: known };
    if (field === undefined && isShortText(text)) return { header, text };
    throw wrong(path, `must have a text or a field of ${columnFields.join(", ")}`);
  });
  const fields = read.flatMap((column) => ("field" in column ? [column.field] : []));
  const missing = neededFields.filter((field) => !fields.includes(field));
  if (missing.length > 0) throw wrong("format.columns", `must have ${missing.join(", ")}`);
  if (!fields.includes("amount_rupees") && !fields.includes("amount_paise")) {
    throw wrong("format.columns", "must have amount_rupees or amount_paise");
  }
  return { name, has_header: hasHeader, day_form: form, columns: read };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isShortText(value: unknown): value is string {
  return typeof value === "string" && value.length <= textLengthMax;
}

/** The facts of one line. */
type LineFacts = {
  readonly ordinal: number;
  readonly rail: string;
  readonly firm_id: string;
  readonly account_no: string;
  readonly ifsc: string;
  readonly account_name: string;
  readonly paise: number;
  readonly reference: string;
};

/** Deterministic: the same lines in the same format give the same bytes. */
export function buildFileText(
  { has_header, day_form, columns }: FileFormat,
  lines: readonly LineFacts[],
  day: IstDay,
): string {
  const rows = lines.map((line) =>
    columns.map((column) =>
      "text" in column ? column.text : formatCell(column.field, line, formatDay(day, day_form)),
    ),
  );
  return bankCsvText(has_header ? [columns.map(({ header }) => header), ...rows] : rows);
}

function formatCell(field: ColumnField, line: LineFacts, day: string): Cell {
  switch (field) {
    case "account_no":
      return line.account_no;
    case "ifsc":
      return line.ifsc;
    case "name":
      return line.account_name;
    case "amount_rupees":
      return rupeesPlain(line.paise);
    case "amount_paise":
      return line.paise;
    case "reference":
      return line.reference;
    case "rail":
      return line.rail;
    case "line_no":
      return line.ordinal;
    case "day":
      return day;
    case "firm_id":
      return line.firm_id;
  }
}

function formatDay(day: IstDay, form: DayForm): string {
  const [year = "", month = "", date = ""] = day.split("-");
  if (form === "YYYY-MM-DD") return day;
  return [date, month, year].join(form === "DD/MM/YYYY" ? "/" : "-");
}

const referenceDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const referenceLength = 14;

/**
 * The reference that the bank repeats in its statement. It depends on the file: after a file is voided,
 * the remittance gets another one, so that a late payment of the first is not matched to the second.
 */
export function buildRemittanceReference(fileId: string, leadId: string): string {
  const digest = createHash("sha256").update(`${fileId} ${leadId}`).digest();
  const digits = [...digest.subarray(0, referenceLength)].map((byte) =>
    referenceDigits.charAt(byte & 31),
  );
  return `SD${digits.join("")}`;
}
