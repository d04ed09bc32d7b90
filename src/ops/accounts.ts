// The books: the month's pack for the accountant, the files of statements, and the proofs that all holds.

import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { Type } from "typebox";

import { makeMonthPack } from "../accounts/month-pack.ts";
import { unprocessable } from "../kernel/failure.ts";
import { sides } from "../kernel/scheme.ts";
import { listFirmPapers, paperKinds, readFirmPaper } from "../reports/firm-papers.ts";
import { formatStatement } from "../reports/format-statement.ts";
import { archiveFormats, archiveMonth, listRegister } from "../reports/month-end.ts";
import { showStatement } from "../reports/read-statements.ts";
import { settlementStates } from "../settlement/rules.ts";
import { supplyKinds } from "../taxes/tax-rules.ts";
import { closedEnum, nullableObject, openEnum, timestamp } from "../platform/http/wire.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { environment, query, searchQuery, spanQuery, under } from "./operation.ts";
import {
  count,
  day,
  environment as shownEnvironment,
  flag,
  maybeText,
  pageList,
  scheme,
  sum,
  text,
} from "./schema.ts";
import { type Context } from "../platform/context.ts";
import { checkLedger, recordVerdict } from "../ledger/check-ledger.ts";
import { verifyChain } from "../journal/verify-chain.ts";

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

const FirmPapers = pageList(
  "papers",
  Type.Object(
    {
      settlement_id: text("The settlement's id."),
      dealt_at: timestamp("When it was dealt."),
      scheme,
      side: openEnum(sides, "Which side the firm is on."),
      status: openEnum(settlementStates, "Where that side stands."),
      face_paise: count("The face of what it deals, in paise."),
      all_in_paise: count("What it pays or gets for it."),
      note_no: text("The number of its contract note."),
      bills: Type.Array(
        Type.Object({
          kind: openEnum(supplyKinds, "A supply, or its return after a reversal."),
          number: maybeText("The house's number; null on a draft that its supplier numbers."),
          date: day("The day of the supply."),
          total_paise: count("What it bills, in paise."),
        }),
        { description: "Of what was delivered; none before." },
      ),
    },
    { title: "DealPapers", description: "The papers of a firm's side of a deal." },
  ),
  "The newest deal first.",
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
    ...accounts.read("listFirmPapers", "/ops/firms/:firm_id/papers"),
    summary: "List the deals of a firm in a span with their contract notes and bills of supply",
    query: query({ limit: searchQuery.limit, cursor: searchQuery.cursor, ...spanQuery }),
    answer: FirmPapers,
    run: ({ ctx }, asked) => listFirmPapers(ctx, asked),
  }),
  operation({
    ...accounts.read("readPaperFile", "/ops/firms/:firm_id/papers/:settlement_id/file"),
    summary: "Make the PDF of a firm's contract note of a deal, or of its bills of supply",
    query: query({ paper: closedEnum(paperKinds, { description: "Which of the two." }) }),
    answer: FileOfBooks,
    run: async ({ ctx, wiring: { letterhead } }, asked) => {
      const { name = "", content } = await readFirmPaper(ctx, { ...asked, letterhead });
      return { name, content: Buffer.from(content).toString("base64") };
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

const proofs = under("Proofs");

const LedgerVerdict = Type.Object(
  {
    sound: flag("Whether the books hold."),
    entries: count("How many entries there are."),
    took_ms: count("How long the check took."),
    checked_at: timestamp("When it began."),
    first_break: nullableObject(
      {
        check: text("The rule that does not hold."),
        place: text("Where it is: the row of the books."),
        found: text("What the books hold there."),
        expected: text("What the books should hold there."),
      },
      { description: "The first place where they do not hold; null where they do." },
    ),
  },
  { title: "LedgerVerdict", description: "Whether the books hold." },
);

const AuditVerdict = Type.Object(
  {
    whole: flag("Whether every chain is whole."),
    desks: count("The number of chains that were read."),
    records: count("The number of records that were read."),
    erased: count("Events whose body was erased; the hash that is left proves the chain."),
    first_break: nullableObject(
      {
        environment: shownEnvironment,
        desk_id: text("The id of the desk whose chain it is."),
        seq: count("The place of the record in its chain, from 1."),
        record_id: maybeText("The record; null where it is missing."),
        problem: text("What is wrong, in words."),
      },
      { description: "The first place where one is not whole; null where all are." },
    ),
  },
  { title: "AuditVerdict", description: "Whether the audit trail is whole." },
);

export const proofOperations: readonly Operation[] = [
  operation({
    ...proofs.read("checkLedger", "/ops/ledger/check"),
    summary: "Prove that the books hold, or name the first place where they do not",
    answer: LedgerVerdict,
    run: ({ ctx }) =>
      shareRun("ledger", ctx, async () => {
        const verdict = await checkLedger(ctx);
        await recordVerdict(ctx.db, verdict);
        return verdict;
      }),
  }),
  operation({
    ...proofs.read("verifyAudit", "/ops/audit/verify"),
    summary: "Prove that the audit trail is whole, or name the first place where it is not",
    answer: AuditVerdict,
    run: ({ ctx }) => shareRun("audit", ctx, async () => await verifyChain(ctx)),
  }),
];

const running = new WeakMap<Context["db"], Map<string, Promise<object>>>();

/** A proof reads everything, so concurrent calls share one run. */
async function shareRun<Verdict extends object>(
  proof: "ledger" | "audit",
  { db }: Pick<Context, "db">,
  run: () => Promise<Verdict>,
): Promise<Verdict> {
  const underWay = running.get(db) ?? new Map<string, Promise<object>>();
  running.set(db, underWay);
  // Each proof has one type of verdict.
  const joined = underWay.get(proof) as Promise<Verdict> | undefined;
  const shared = joined ?? run().finally(() => underWay.delete(proof));
  underWay.set(proof, shared);
  return await shared;
}
