// The month's pack for the accountant, like the command `accounts pack`.

import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { Type } from "typebox";

import { makeMonthPack } from "../accounts/month-pack.ts";
import { unprocessable } from "../kernel/failure.ts";
import { formatStatement } from "../reports/format-statement.ts";
import { archiveFormats, archiveMonth, listRegister } from "../reports/month-end.ts";
import { showStatement } from "../reports/read-statements.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { environment, query, under } from "./operation.ts";
import { flag, sum, text } from "./schema.ts";

const accounts = under("Accounts");

const MonthPack = Type.Object(
  {
    name: text("The file's name."),
    content: Type.String({
      contentMediaType: "application/zip",
      contentEncoding: "base64",
      description: "The archive, in base64.",
    }),
    ties: Type.Array(
      Type.Object({
        total: text("Which total of the registers."),
        register_paise: sum("What the registers have."),
        ledger_paise: sum("What was posted in the month."),
        ties: flag("Whether these are the same."),
      }),
      { description: "Each total beside the ledger. Do not file where one does not tie." },
    ),
  },
  { title: "MonthPack", description: "The accounts of a month, as one archive." },
);

const FileOfBooks = Type.Object(
  {
    name: text("The file's name."),
    content: Type.String({ contentEncoding: "base64", description: "The file, in base64." }),
  },
  { title: "FileOfBooks", description: "A file of the books." },
);

/** An archive of more statements is made by the command, which writes it piece by piece. */
const archivedMost = 500;

export const accountOperations: readonly Operation[] = [
  operation({
    ...accounts.read("readStatementFile", "/ops/firms/:firm_id/statements/:period/file"),
    summary: "Make the file of a firm's statement of a month: PDF, workbook or CSV",
    query: query({ format: closedEnum(archiveFormats, { description: "What it is written as." }) }),
    answer: FileOfBooks,
    run: async ({ ctx, wiring: { letterhead } }, { firm_id: firmId, period, format }) => {
      const statement = await showStatement(ctx, { firmId, period, letterhead });
      const by = { environment: "live", deskId: firmId } as const;
      const file = await formatStatement(ctx.heavy, statement, { format, by });
      if (!("content" in file)) throw new Error("a file of books is whole");
      const name = `statement-${period}-${firmId}.${format}`;
      return { name, content: Buffer.from(file.content).toString("base64") };
    },
  }),
  operation({
    ...accounts.read("readStatementArchive", "/ops/statements/archive"),
    summary: "Make the archive of a month: statements, register and fee invoices, up to 500 firms",
    query: query({
      environment,
      period: Type.String({
        pattern: "^\\d{4}-\\d{2}$",
        description: "The month, YYYY-MM, in IST.",
      }),
    }),
    answer: FileOfBooks,
    run: async ({ ctx, wiring: { letterhead } }, { environment: where, period }) => {
      const month = { environment: where, period };
      const some = await listRegister(ctx, { ...month, after: undefined, limit: archivedMost + 1 });
      if (some.length > archivedMost) {
        const problem = `has more than ${archivedMost} statements: use the command statements archive`;
        throw unprocessable({ path: "period", problem });
      }
      const pieces: Buffer[] = [];
      const formats = ["csv", "pdf"] as const;
      for await (const piece of archiveMonth(ctx, { ...month, formats, letterhead })) {
        pieces.push(piece);
      }
      const content = await promisify(gzip)(Buffer.concat(pieces));
      return { name: `statements-${period}.tar.gz`, content: content.toString("base64") };
    },
  }),
  operation({
    ...accounts.read("readMonthPack", "/ops/accounts/:period/pack"),
    summary: "Make the pack of a month (YYYY-MM) for the accountant",
    description:
      "Registers of sales, purchases, fees and deductions, bank and house ledgers and balances as " +
      "workbooks, a draft of GSTR-1, vouchers for Tally, and the ties of every total to the ledger.",
    query: query({ environment }),
    answer: MonthPack,
    run: async ({ ctx }, asked) => {
      const { name, content, ties } = await makeMonthPack(ctx, asked);
      return { name, content: content.toString("base64"), ties };
    },
  }),
];
