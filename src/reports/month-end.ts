// The month as the house files it: a register with one row for each firm, the fee invoices, and every
// firm's statement, as one archive. It is made of final statements, so it is the same whenever it is made.

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { periodSpan, refuseOtherPeriod } from "../kernel/months.ts";
import { financialYear, type IstMonth, istTimestamp, monthText } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { onThisThread } from "../platform/heavy/kinds.ts";
import type { FileAnswer } from "../platform/http/documents.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { formatTable, type TableFormat, tableFormats } from "../platform/sheets/format-table.ts";
import type { SheetTable, TableColumn, TableRow } from "../platform/sheets/table.ts";
import { listFeeInvoices } from "../taxes/taxes.ts";
import { buildStatementNo } from "./account-for.ts";
import { formatStatement } from "./format-statement.ts";
import { showStatement } from "./read-statements.ts";
import { listRegisterRows, type RegisterRow } from "./store.ts";

type Month = { readonly environment: Environment; readonly period: IstMonth };

/** A firm's month, in the register. */
type RegisteredMonth = {
  readonly statement_no: string;
  readonly firm_id: string;
  readonly legal_name: string;
  readonly period: IstMonth;
  readonly opening_paise: RegisterRow["opening_paise"];
  readonly closing_paise: RegisterRow["closing_paise"];
  readonly commission_paise: RegisterRow["commission_paise"];
  readonly dues_paise: RegisterRow["dues_paise"];
  readonly frozen_at: string;
  readonly digest: string;
};

const rowsPerPage = 500;

/** The firms with a final statement of a month, by their ids. */
export async function listRegister(
  { db }: Pick<Context, "db">,
  { environment, period, after = "", limit }: Month & { after?: string | undefined; limit: number },
): Promise<RegisteredMonth[]> {
  refuseOtherPeriod(period);
  const rows = await listRegisterRows(db.planned, { environment, period }, { after, limit });
  return rows.map((row) => ({
    statement_no: buildStatementNo(row.firm_id, row.period),
    firm_id: row.firm_id,
    legal_name: row.legal_name,
    period: row.period,
    opening_paise: row.opening_paise,
    closing_paise: row.closing_paise,
    commission_paise: row.commission_paise,
    dues_paise: row.dues_paise,
    frozen_at: istTimestamp(row.frozen_at),
    digest: row.digest.toString("hex"),
  }));
}

/** All firms with a final statement of a month. */
async function* readRegister(
  ctx: Pick<Context, "db">,
  month: Month,
): AsyncGenerator<RegisteredMonth> {
  let after = "";
  for (;;) {
    const rows = await listRegister(ctx, { ...month, after, limit: rowsPerPage });
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < rowsPerPage) return;
    after = last.firm_id;
  }
}

/** The whole register as a file. */
export async function formatRegister(
  ctx: Pick<Context, "db" | "now">,
  { environment, period, format }: Month & { readonly format: TableFormat },
): Promise<FileAnswer & { readonly statements: number }> {
  const rows: TableRow[] = [];
  for await (const row of readRegister(ctx, { environment, period })) rows.push(toRow(row));
  const title = `Register, ${monthText(period)}`;
  const table = { sheet: "Register", title, columns: registerColumns, rows };
  const by = { environment, deskId: houseFirmId[environment] };
  const file = { format, name: `register-${period}`, dated: ctx.now(), by };
  return { ...(await formatTable(onThisThread, table, file)), statements: rows.length };
}

export const archiveFormats = ["csv", "xlsx", "pdf"] as const;
type ArchiveFormat = (typeof archiveFormats)[number];

/** The archive of a month, in pieces, so that it never has to fit into memory. */
export async function* archiveMonth(
  ctx: Pick<Context, "db" | "now">,
  {
    environment,
    period,
    formats,
    letterhead,
    onProgress = () => {},
  }: Month & {
    readonly formats: readonly ArchiveFormat[];
    readonly letterhead: Letterhead;
    readonly onProgress?: (firms: number) => void;
  },
): AsyncGenerator<Buffer> {
  const at = ctx.now();
  const register: TableRow[] = [];
  for await (const row of readRegister(ctx, { environment, period })) {
    const files = await writeStatements(ctx, row, { environment, formats, letterhead });
    for (const { name, content } of files) yield tarFile(name, content, at);
    const names = files.map(({ name }) => name);
    register.push([
      ...toRow(row),
      names.length === 0 ? "too long for a file: read it in parts" : names.join(" "),
    ]);
    onProgress(register.length);
  }
  const invoices = await listInvoiceRows(ctx, { environment, period });
  const month = monthText(period);
  const tables = {
    register: {
      sheet: "Register",
      title: `Register, ${month}`,
      columns: [...registerColumns, filesColumn],
      rows: register,
    },
    "fee-invoices": {
      sheet: "Fee invoices",
      title: `Fee invoices, ${month}`,
      ...invoiceTable,
      rows: invoices,
    },
  };
  for (const [name, table] of Object.entries(tables)) {
    for (const format of formats.includes("xlsx") ? tableFormats : (["csv"] as const)) {
      const by = { environment, deskId: houseFirmId[environment] };
      const file = await formatTable(onThisThread, table, { format, name, dated: at, by });
      yield tarFile(`${name}.${format}`, Buffer.from(file.content), at);
    }
  }
  yield tarEnd;
}

async function writeStatements(
  ctx: Pick<Context, "db" | "now">,
  { firm_id: firmId, period }: RegisteredMonth,
  {
    environment,
    formats,
    letterhead,
  }: Pick<Month, "environment"> & {
    readonly formats: readonly ArchiveFormat[];
    readonly letterhead: Letterhead;
  },
): Promise<{ readonly name: string; readonly content: Buffer }[]> {
  const by = { environment, deskId: firmId };
  const files: { name: string; content: Buffer }[] = [];
  try {
    const statement = await showStatement(ctx, { firmId, period, letterhead });
    for (const format of formats) {
      const file = await formatStatement(onThisThread, statement, { format, by });
      if (!("content" in file)) continue;
      const name = `statements/${period}-${firmId}.${format}`;
      files.push({ name, content: Buffer.from(file.content) });
    }
  } catch (error) {
    // One that is too long for a file is read in parts; the register says that it has no file.
    if (!(error instanceof Failure)) throw error;
  }
  return files;
}

const registerColumns: readonly TableColumn[] = [
  { name: "statement_no", kind: "text", width: 36 },
  { name: "firm_id", kind: "text", width: 34 },
  { name: "legal_name", kind: "text", width: 34 },
  { name: "opening_rupees", kind: "money" },
  { name: "closing_rupees", kind: "money" },
  { name: "commission_rupees", kind: "money" },
  { name: "dues_rupees", kind: "money" },
  { name: "frozen_at", kind: "time" },
  { name: "sha256", kind: "text", width: 66 },
];

/** The files of a firm's month in the archive. */
const filesColumn: TableColumn = { name: "files", kind: "text", width: 40 };

function toRow(row: RegisteredMonth): TableRow {
  return [
    row.statement_no,
    row.firm_id,
    row.legal_name,
    row.opening_paise,
    row.closing_paise,
    row.commission_paise,
    row.dues_paise,
    row.frozen_at,
    row.digest,
  ];
}

const invoiceTable: Pick<SheetTable, "columns"> = {
  columns: [
    { name: "invoice_no", kind: "text", width: 22 },
    { name: "kind", kind: "text", width: 12 },
    { name: "firm_id", kind: "text", width: 34 },
    { name: "settlement_id", kind: "text", width: 34 },
    { name: "side", kind: "text", width: 7 },
    { name: "place_of_supply", kind: "text" },
    { name: "fee_rupees", kind: "money" },
    { name: "cgst_rupees", kind: "money" },
    { name: "sgst_rupees", kind: "money" },
    { name: "igst_rupees", kind: "money" },
    { name: "issued_at", kind: "time" },
  ],
};

async function listInvoiceRows(
  ctx: Pick<Context, "db">,
  { environment, period }: Month,
): Promise<TableRow[]> {
  const { from, to } = periodSpan(period);
  const search = { environment, year: financialYear(from), firmId: null, from, to };
  const invoices = await listFeeInvoices(ctx, search);
  return invoices.map((row) => [
    row.invoice_no,
    row.kind,
    row.firm_id,
    row.settlement_id,
    row.side,
    row.place_of_supply,
    row.fee_paise,
    row.cgst_paise,
    row.sgst_paise,
    row.igst_paise,
    istTimestamp(row.issued_at),
  ]);
}

// An archive in the ustar format, which every system opens. Only plain files, named by short ASCII.

const blockBytes = 512;
const nameBytesMax = 100;

/** The bytes of one file of an archive. */
function tarFile(name: string, content: Uint8Array, at: Date): Buffer {
  if (name.length > nameBytesMax || /[^ -~]/.test(name)) throw new Error(`${name} is no file name`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(Math.floor(at.getTime() / 1_000), 11), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const rest = (blockBytes - (content.length % blockBytes)) % blockBytes;
  return Buffer.concat([header, content, Buffer.alloc(rest)]);
}

/** What an archive ends with. */
const tarEnd = Buffer.alloc(2 * blockBytes);
