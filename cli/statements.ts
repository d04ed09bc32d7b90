import { writeFile } from "node:fs/promises";

import { readConfig } from "../src/config.ts";
import { type PaiseSum, rupeesText } from "../src/kernel/money.ts";
import { onThisThread } from "../src/platform/heavy/kinds.ts";
import { formatStatement } from "../src/reports/format-statement.ts";
import { showStatement } from "../src/reports/read-statements.ts";
import { command, oneOf, print, printOne } from "./command.ts";
import { withOperator } from "./operators.ts";

type Statement = Awaited<ReturnType<typeof showStatement>>;

const files = ["csv", "pdf"] as const;

const show = command({
  name: "statements show",
  summary: "show a firm's statement of a month, or write it to a file",
  operand: "FIRM_ID",
  options: {
    period: { required: true, help: "the month, YYYY-MM, in IST" },
    format: { default: "csv", help: "what --out is written as: csv or pdf" },
    out: { help: "a file to write; without it the lines are printed" },
  },
  example: "npx scripdesk statements show frm_… --period 2026-11 --format pdf --out nov.pdf",
  async run(options, firmId) {
    const { letterhead } = readConfig(process.env);
    const wanted = { firmId, period: options.period, letterhead };
    const format = oneOf("format", options.format, files);
    const statement = await withOperator(
      options,
      { permission: "read", about: [firmId] },
      ({ ctx }) => showStatement(ctx, wanted),
    );
    if (options.out === undefined) {
      print(options.json ? [statement] : rowsOf(statement), options);
      return;
    }
    const by = { environment: "live", deskId: firmId } as const;
    const file = await formatStatement(onThisThread, statement, { format, by });
    if ("content" in file) await writeFile(options.out, file.content);
    const { status, lines, closing_paise } = statement;
    printOne({ file: options.out, status, lines: lines.length, closing_paise }, options);
  },
});

/** The lines between what the month began and ended with. */
function rowsOf(statement: Statement): Record<string, unknown>[] {
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

export const statementCommands = [show];
