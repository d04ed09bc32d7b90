import { Type } from "typebox";

import { assignLine, repeatLine, sendLineBack } from "../bankbook/decide-line.ts";
import { importStatement } from "../bankbook/import-statement.ts";
import { listQueue, listStatements, showStatement } from "../bankbook/list-queue.ts";
import {
  addPayingAccount,
  removePayingAccount,
  showPayingAccount,
} from "../bankbook/paying-account.ts";
import { parseStatementFormat } from "../bankbook/read-statement.ts";
import { reconcileBank } from "../bankbook/reconcile-bank.ts";
import { unprocessable } from "../kernel/failure.ts";
import {
  AddedPayingAccount,
  AssignedLine,
  BankQueue,
  BankStatements,
  ImportedStatement,
  PayingAccount,
  Reconciled,
  RemovedPayingAccount,
  RepeatedLine,
  ReturnedLine,
  ShownBankStatement,
} from "./bank-schema.ts";
import { cursor, id, listQuery, optional, query, readPage, text, under } from "./operation.ts";
import { body } from "../platform/http/wire.ts";
import { type Operation, operation } from "../platform/http/operation.ts";

const bank = under("Bank");
/** Only live money is on the bank account. */
const environment = "live";
/** Fits into a body of 1 MiB. */
const contentLengthMax = 1_000_000;

const heading = (description: string) => text(description, 100);

const headings = Type.Object(
  {
    name: heading("What the form is called."),
    day: heading("The heading of the day."),
    reference: heading("The heading of the bank's own reference."),
    narration: heading("The heading of what is written about it."),
    debit: optional(heading("The heading of what left; with `credit`.")),
    credit: optional(heading("The heading of what came in; with `debit`.")),
    amount: optional(heading("The heading of the amount; with `direction`.")),
    direction: optional(heading("The heading of CR or DR; with `amount`.")),
    balance: optional(heading("The heading of the balance after the line.")),
    time: optional(heading("The heading of the time of day, in IST.")),
    remitter_name: optional(heading("The heading of the remitter's name.")),
    remitter_account: optional(heading("The heading of the remitter's account.")),
  },
  {
    additionalProperties: false,
    description: "The headings of the bank's own form; the generic one when left out.",
  },
);

/** Decodes strictly: invalid UTF-8 is refused, not replaced. */
function decodeText(contentBase64: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(contentBase64, "base64"));
  } catch {
    throw unprocessable({ path: "content_base64", problem: "must be UTF-8 text" });
  }
}

export const bankOperations: readonly Operation[] = [
  operation({
    ...bank.act("importBankStatement", "/ops/bank/statements", "bank.write"),
    summary:
      "Import the bank's statement: payouts are answered, money in is matched, the rest is queued",
    body: body({
      content_base64: Type.String({
        minLength: 4,
        maxLength: contentLengthMax,
        pattern: "^[A-Za-z0-9+/]+={0,2}$",
        description: "The file, in base64; larger ones by the command line.",
      }),
      format: optional(headings),
    }),
    answer: ImportedStatement,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, asked) =>
      importStatement(ctx, actor, {
        environment,
        text: decodeText(asked.content_base64),
        format: asked.format && parseStatementFormat(asked.format),
        twoFromPaise,
      }),
  }),
  operation({
    ...bank.read("listBankStatements", "/ops/bank/statements"),
    summary: "List the bank's statements that were imported, the newest first",
    query: query({ limit: listQuery.limit, cursor }),
    answer: BankStatements,
    run: ({ ctx }, asked) =>
      readPage("statements", asked.limit, {
        list: (limit) => listStatements(ctx, { environment, before: asked.cursor, limit }),
        findId: (row) => row.statement_id,
      }),
  }),
  operation({
    ...bank.read("readBankStatement", "/ops/bank/statements/:statement_id", "bank.write"),
    summary: "Read a statement of the bank: where each line went, and why",
    answer: ShownBankStatement,
    run: ({ ctx }, { statement_id }) => showStatement(ctx, statement_id),
  }),
  operation({
    ...bank.read("reconcileBank", "/ops/bank/reconciliation"),
    summary: "Compare the bank's closing balance with the books; every difference has a name",
    answer: Reconciled,
    run: ({ ctx }) => reconcileBank(ctx, environment),
  }),
  operation({
    ...bank.read("listBankQueue", "/ops/bank/queue", "bank.write"),
    summary: "List the bank's lines that nobody could explain, the oldest first",
    query: query({ limit: listQuery.limit, cursor }),
    answer: BankQueue,
    run: ({ ctx }, asked) =>
      readPage("lines", asked.limit, {
        list: (limit) => listQueue(ctx, { environment, after: asked.cursor, limit }),
        findId: (row) => row.line_id,
      }),
  }),
  operation({
    ...bank.act("assignBankLine", "/ops/bank/queue/:line_id/assign", "bank.write"),
    summary: "Say whose money of the queue is; large sums take two people",
    body: body({
      to: id("A firm, settlement or cross by its id, or `house` for our own."),
      reason: text("How you know, in words, for whoever reads the trail."),
    }),
    answer: AssignedLine,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, to: given, reason }) => {
      const to = given === "house" ? null : given;
      return assignLine(ctx, actor, { lineId, to, reason, twoFromPaise });
    },
  }),
  operation({
    ...bank.act("returnBankLine", "/ops/bank/queue/:line_id/return", "bank.write"),
    summary: "Say that money of the queue was sent back; the bank's debit ends it",
    body: body({
      utr: id("The bank's reference (UTR) of the payment back."),
      reason: text("The reason in words."),
    }),
    answer: ReturnedLine,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, ...told }) =>
      sendLineBack(ctx, actor, { lineId, ...told, twoFromPaise }),
  }),
  operation({
    ...bank.act("repeatBankLine", "/ops/bank/queue/:line_id/repeat", "bank.write"),
    summary:
      "Say that a line of the queue is one that an earlier file had; large sums take two people",
    body: body({ reason: text("How you know, in words, for whoever reads the trail.") }),
    answer: RepeatedLine,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, reason }) =>
      repeatLine(ctx, actor, { lineId, reason, twoFromPaise }),
  }),
  operation({
    ...bank.read("showPayingAccount", "/ops/firms/:firm_id/paying-account"),
    summary: "Show the second account that a firm pays from; the number stays masked",
    answer: PayingAccount,
    run: ({ ctx }, asked) => showPayingAccount(ctx, asked.firm_id),
  }),
  operation({
    ...bank.act("addPayingAccount", "/ops/firms/:firm_id/paying-account", "bank.write"),
    summary: "Say that a firm pays from a second account too; in live this takes two people",
    body: body({
      account_no: text("The whole account number.", 40),
      ifsc: text("The branch's IFSC.", 20),
      name: text("Who holds it, as the bank's letter says.", 200),
      reason: text("How you know, in words, for whoever reads the trail."),
    }),
    answer: AddedPayingAccount,
    run: ({ ctx, actor }, { firm_id: firmId, account_no: accountNo, ...given }) =>
      addPayingAccount(ctx, actor, { firmId, accountNo, ...given }),
  }),
  operation({
    ...bank.act("removePayingAccount", "/ops/firms/:firm_id/paying-account/remove", "bank.write"),
    summary: "Take the second account of a firm away",
    body: body({ reason: text("The reason in words.") }),
    answer: RemovedPayingAccount,
    run: ({ ctx, actor }, { firm_id: firmId, reason }) =>
      removePayingAccount(ctx, actor, { firmId, reason }),
  }),
];
