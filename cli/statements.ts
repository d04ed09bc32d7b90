import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { readConfig } from "../src/config.ts";
import { environments } from "../src/kernel/caller.ts";
import { type PaiseSum, rupeesText } from "../src/kernel/money.ts";
import { onThisThread } from "../src/platform/heavy/kinds.ts";
import { tableFormats } from "../src/platform/sheets/format-table.ts";
import { formatStatement } from "../src/reports/format-statement.ts";
import {
  archiveFormats,
  archiveMonth,
  formatRegister,
  listRegister,
} from "../src/reports/month-end.ts";
import { showStatement } from "../src/reports/read-statements.ts";
import { command, parseChoice, print, printOne, wholeNumber } from "./command.ts";
import { withOperator } from "./operators.ts";
import { writeToOut } from "./out-file.ts";

const rowsMost = 10_000;

type Statement = Awaited<ReturnType<typeof showStatement>>;

const show = command({
  name: "statements show",
  summary: "show a firm's statement of a month, or write it to a file",
  operand: "FIRM_ID",
  options: {
    period: { required: true, help: "the month, YYYY-MM, in IST" },
    format: { default: "csv", help: "what --out is written as: csv, xlsx or pdf" },
    out: { help: "a file to write; without it the lines are printed" },
  },
  example: "npx scripdesk statements show frm_… --period 2026-11 --format pdf --out nov.pdf",
  async run(options, firmId) {
    const { letterhead } = readConfig(process.env);
    const wanted = { firmId, period: options.period, letterhead };
    const format = parseChoice("format", options.format, archiveFormats);
    const statement = await withOperator(
      options,
      { permission: "read", about: [firmId] },
      ({ ctx }) => showStatement(ctx, wanted),
    );
    if (options.out === undefined) {
      print(options.json ? [statement] : toRows(statement), options);
      return;
    }
    const by = { environment: "live", deskId: firmId } as const;
    const file = await formatStatement(onThisThread, statement, { format, by });
    const { out } = options;
    if ("content" in file) await writeToOut(() => writeFile(out, file.content));
    const { status, lines, closing_paise } = statement;
    printOne({ file: options.out, status, lines: lines.length, closing_paise }, options);
  },
});

/** The lines between what the month began and ended with. */
function toRows(statement: Statement): Record<string, unknown>[] {
  const edge = (kind: string, paise: PaiseSum) => ({
    at: kind === "opening" ? statement.from : statement.as_of,
    kind,
    reference: null,
    utr: null,
    amount: null,
    balance: rupeesText(paise),
  });
  return [
    edge("opening", statement.opening_paise),
    ...statement.lines.map((line) => ({
      at: line.at,
      kind: line.kind,
      reference: line.reference,
      utr: line.utr,
      amount: rupeesText(line.amount_paise),
      balance: rupeesText(line.balance_paise),
    })),
    edge("closing", statement.closing_paise),
  ];
}

const month = {
  env: { required: true, help: "live or sandbox" },
  period: { required: true, help: "the month, YYYY-MM, in IST" },
} as const;

const list = command({
  name: "statements list",
  summary: "list the final statements of a month: the register, one row for each firm",
  options: {
    ...month,
    limit: { default: "100", help: "how many at most" },
    cursor: { help: "go on after the last page, which said this" },
    format: { default: "csv", help: "what --out is written as: csv or xlsx" },
    out: { help: "a file to write the whole register to" },
  },
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const { out } = options;
    if (out !== undefined) {
      const asked = { environment, period: options.period };
      const format = parseChoice("format", options.format, tableFormats);
      const { content, statements } = await withOperator(
        options,
        { permission: "read", environment },
        ({ ctx }) => formatRegister(ctx, { ...asked, format }),
      );
      await writeToOut(() => writeFile(out, content));
      printOne({ file: out, period: options.period, statements }, options);
      return;
    }
    const { period, cursor: after } = options;
    const limit = Math.min(wholeNumber("limit", options.limit), rowsMost);
    const rows = await withOperator(options, { permission: "read", environment }, ({ ctx }) =>
      listRegister(ctx, { environment, period, after, limit }),
    );
    print(rows, options);
    const last = rows.at(-1);
    if (last && rows.length === limit && !options.json) {
      process.stderr.write(`scripdesk: there may be more: add --cursor ${last.firm_id}\n`);
    }
  },
});

const archive = command({
  name: "statements archive",
  summary:
    "write the statements of all firms of a month, its register and fee invoices as one file",
  options: {
    ...month,
    out: { required: true, help: "the file to make, .tar.gz" },
    formats: { default: "csv,pdf", help: "csv, xlsx, pdf, or several of them" },
  },
  example: "npx scripdesk statements archive --env live --period 2026-11 --out 2026-11.tar.gz",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const formats = options.formats
      .split(",")
      .map((format) => parseChoice("formats", format, archiveFormats));
    const { letterhead } = readConfig(process.env);
    let firms = 0;
    await withOperator(options, { permission: "read", environment }, async ({ ctx }) => {
      const pieces = archiveMonth(ctx, {
        environment,
        period: options.period,
        formats,
        letterhead,
        onProgress(count) {
          firms = count;
          if (count % 100 === 0) process.stderr.write(`${count} statements\n`);
        },
      });
      const out = createWriteStream(options.out, { mode: 0o600, flags: "wx", flush: true });
      await writeToOut(() => pipeline(pieces, createGzip(), out));
    });
    printOne({ file: options.out, period: options.period, statements: firms }, options);
  },
});

export const commands = [list, show, archive];
