import { negatePaise, type PaiseSum, percentText, rupeesText, sumPaise } from "../kernel/money.ts";
import { dayText, monthText, parseInstant, timeText } from "../kernel/time.ts";
import { heavyKind } from "../platform/heavy/kinds.ts";
import {
  drawPapers,
  type Paper,
  type PdfRow,
  type PdfSection,
  toPaperHead,
} from "../platform/pdf.ts";
import type { LineKind } from "./statement-rules.ts";
import type { Statement } from "./statement-schema.ts";

type PrintedLine = Statement["lines"][number];

const totalNames: Readonly<Record<LineKind, string>> = {
  sale: "Sales: scrip value, HSN 4907, exempt from GST",
  purchase: "Purchases: scrip value, HSN 4907, exempt from GST",
  fee: "Fees",
  gst: "GST 18 % on fees",
  cgst: "CGST on fees",
  sgst: "SGST or UTGST on fees",
  igst: "IGST on fees",
  tds: "Tax deducted at source, less what was returned",
  deposit: "Deposits received",
  payout: "Payouts",
  refund: "Refunds",
  reversal: "Reversals: scrip value, HSN 4907, exempt from GST",
  dues: "Carried to dues, less dues settled",
  default: "Paid and received for being late at customs",
  commission: "Commission",
  adjustment: "Adjustments",
};

const notYetFinal: Readonly<Record<string, string>> = {
  running: "PROVISIONAL: the month is not over",
  provisional: "PROVISIONAL: the month is being closed",
};

export const drawStatement = heavyKind(
  "statement pdf",
  async (statement: Statement, stop): Promise<Uint8Array> => {
    const title = titleStatement(statement);
    const dated = requireInstant(statement.as_of);
    return await drawPapers({ papers: [paper(statement)], title, dated }, stop);
  },
);

/** `Statement of account, Asha Exports, November 2026` */
export function titleStatement({ firm, period }: Pick<Statement, "firm" | "period">): string {
  return `${heading}, ${firm.legal_name}, ${monthText(period)}`;
}

const heading = "Statement of account";

function paper(statement: Statement): Paper {
  return {
    title: heading,
    subtitle: `${monthText(statement.period)}\nNo. ${statement.statement_no}`,
    mark: notYetFinal[statement.status],
    letterhead: toPaperHead(statement.house),
    sections: [
      factsSection(statement),
      linesSection(statement),
      ...totalsSections(statement),
      ...noteSections(statement),
    ],
  };
}

function factsSection({ firm, ...statement }: Statement): PdfSection {
  const rupees = (paise: PaiseSum) => `₹ ${rupeesText(paise)}`;
  return {
    kind: "facts",
    columns: [
      [
        { label: "Account of", value: firm.legal_name },
        { label: "Account number", value: statement.firm_id },
      ],
      [
        { label: "Period", value: periodText(statement) },
        { label: "PAN", value: firm.pan ?? "not given" },
        { label: "GSTIN", value: firm.gstin ?? "not given" },
      ],
      [
        { label: "Opening balance", value: rupees(statement.opening_paise) },
        { label: "Closing balance", value: rupees(statement.closing_paise) },
        ...(statement.dues_paise === 0
          ? []
          : [{ label: "Owed to us", value: rupees(statement.dues_paise) }]),
      ],
    ],
  };
}

/** The first and last day of the month. */
function periodText({ from, to }: Pick<Statement, "from" | "to">): string {
  const lastMoment = new Date(requireInstant(to).getTime() - 1);
  return `${dayText(requireInstant(from))} to ${dayText(lastMoment)}`;
}

const columns = [
  { head: "Date", width: 60 },
  { head: "Particulars", width: 227.28 },
  { head: "Debit ₹", width: 75, align: "right" },
  { head: "Credit ₹", width: 75, align: "right" },
  { head: "Balance ₹", width: 78, align: "right" },
] as const;

function linesSection(statement: Statement): PdfSection {
  const amounts = statement.lines.map((line) => line.amount_paise);
  const debits = sumPaise(amounts.filter((paise) => paise < 0));
  const credits = sumPaise(amounts.filter((paise) => paise > 0));
  const opening = ["", "Opening balance", "", "", rupeesText(statement.opening_paise)];
  const closing = [
    "",
    "Closing balance",
    rupeesText(negatePaise(debits)),
    rupeesText(credits),
    rupeesText(statement.closing_paise),
  ];
  return {
    kind: "table",
    columns,
    rows: [
      { cells: opening, strong: true },
      ...statement.lines.map(toRow),
      { cells: closing, strong: true },
    ],
  };
}

function toRow(line: PrintedLine): PdfRow {
  const at = requireInstant(line.at);
  const isDebit = line.amount_paise < 0;
  const amount = rupeesText(isDebit ? negatePaise(line.amount_paise) : line.amount_paise);
  return {
    cells: [
      `${dayText(at)}\n${timeText(at)}`,
      `${line.description}\n${describeLine(line)}`,
      isDebit ? amount : "",
      isDebit ? "" : amount,
      rupeesText(line.balance_paise),
    ],
  };
}

/** The contract note lists all scrip numbers. */
const scripNosShown = 2;

function describeLine({
  kind,
  face_paise,
  price_bps,
  scrip_nos,
  utr,
  reference,
}: PrintedLine): string {
  const more = scrip_nos.length - scripNosShown;
  const scrips =
    scrip_nos.slice(0, scripNosShown).join(", ") + (more > 0 ? ` and ${more} more` : "");
  const price = price_bps === null ? "" : ` at ${percentText(price_bps)}`;
  const isOwnReference = kind === "deposit" || utr === reference;
  return [
    scrips,
    face_paise === null ? "" : `face ₹ ${rupeesText(face_paise)}${price}`,
    utr === null ? "" : `UTR ${utr}`,
    isOwnReference ? "" : reference,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function totalsSections({ totals }: Statement): PdfSection[] {
  if (totals.length === 0) return [];
  return [
    { kind: "heading", text: "Totals" },
    {
      kind: "table",
      columns: [
        { head: "What", width: 345.28 },
        { head: "Lines", width: 70, align: "right" },
        { head: "Amount ₹", width: 100, align: "right" },
      ],
      rows: totals.map(({ kind, lines, amount_paise }) => ({
        cells: [totalNames[kind], String(lines), rupeesText(amount_paise)],
      })),
    },
  ];
}

function noteSections(statement: Statement): PdfSection[] {
  const notes = [
    "Amounts are in Indian rupees. Times are IST. Scrip value is exempt from GST (HSN 4907); GST is on the fee only.",
    statement.commission_paise === 0
      ? ""
      : `The closing balance includes ₹ ${rupeesText(statement.commission_paise)} of commission earned as a desk.`,
    statement.digest === null
      ? "This statement may still change: it becomes final after the end of the month."
      : `Final since ${dayText(requireInstant(statement.frozen_at ?? ""))}; later corrections are in later statements. SHA-256 ${statement.digest}`,
    "Made by a computer; valid without a signature.",
  ];
  return notes.filter((text) => text !== "").map((text) => ({ kind: "note", text }));
}

function requireInstant(text: string): Date {
  const instant = parseInstant(text);
  if (!instant) throw new Error(`${text} is not an instant`);
  return instant;
}
