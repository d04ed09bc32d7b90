import { Type } from "typebox";

import { assignLine, repeatLine, sendLineBack } from "../bankbook/decide-line.ts";
import { importStatement } from "../bankbook/import-statement.ts";
import { listQueue } from "../bankbook/list-queue.ts";
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
  ImportedStatement,
  PayingAccount,
  Reconciled,
  RemovedPayingAccount,
  RepeatedLine,
  ReturnedLine,
} from "./bank-schema.ts";
import { act, cursor, id, listQuery, optional, read, readPage, text } from "./operation.ts";
import type { Operation } from "../platform/http/operation.ts";

const bank = { tag: "Bank" } as const;
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
  act("importBankStatement", "/ops/bank/statements", {
    ...bank,
    summary:
      "Import the bank's statement: payouts are answered, money in is matched, the rest is queued",
    permission: "bank.write",
    body: {
      content_base64: Type.String({
        minLength: 4,
        maxLength: contentLengthMax,
        pattern: "^[A-Za-z0-9+/]+={0,2}$",
        description: "The file, in base64; larger ones by the command line.",
      }),
      format: optional(headings),
    },
    answer: ImportedStatement,
    run: async ({ ctx, actor, body, wiring: { twoFromPaise } }) =>
      await importStatement(ctx, actor, {
        environment,
        text: decodeText(body.content_base64),
        format: body.format && parseStatementFormat(body.format),
        twoFromPaise,
      }),
  }),
  read("reconcileBank", "/ops/bank/reconciliation", {
    ...bank,
    summary: "Compare the bank's closing balance with the books; every difference has a name",
    answer: Reconciled,
    run: async ({ ctx }) => await reconcileBank(ctx, environment),
  }),
  read("listBankQueue", "/ops/bank/queue", {
    ...bank,
    summary: "List the bank's lines that nobody could explain, the oldest first",
    permission: "bank.write",
    query: { limit: listQuery.limit, cursor },
    answer: BankQueue,
    run: async ({ ctx, query }) =>
      await readPage("lines", query.limit, {
        list: async (limit) => await listQueue(ctx, { environment, after: query.cursor, limit }),
        findId: (row) => row.line_id,
      }),
  }),
  act("assignBankLine", "/ops/bank/queue/:line_id/assign", {
    ...bank,
    summary: "Say whose money of the queue is; large sums take two people",
    permission: "bank.write",
    body: {
      to: id("A firm, settlement or cross by its id, or `house` for our own."),
      reason: text("How you know."),
    },
    answer: AssignedLine,
    run: async ({ ctx, actor, params, body, wiring: { twoFromPaise } }) =>
      await assignLine(ctx, actor, {
        lineId: params["line_id"] ?? "",
        to: body.to === "house" ? null : body.to,
        reason: body.reason,
        twoFromPaise,
      }),
  }),
  act("returnBankLine", "/ops/bank/queue/:line_id/return", {
    ...bank,
    summary: "Say that money of the queue was sent back; the bank's debit ends it",
    permission: "bank.write",
    body: { utr: id("The bank's reference (UTR) of the payment back."), reason: text("Why.") },
    answer: ReturnedLine,
    run: async ({ ctx, actor, params, body, wiring: { twoFromPaise } }) =>
      await sendLineBack(ctx, actor, {
        lineId: params["line_id"] ?? "",
        utr: body.utr,
        reason: body.reason,
        twoFromPaise,
      }),
  }),
  act("repeatBankLine", "/ops/bank/queue/:line_id/repeat", {
    ...bank,
    summary:
      "Say that a line of the queue is one that an earlier file had; large sums take two people",
    permission: "bank.write",
    body: { reason: text("How you know.") },
    answer: RepeatedLine,
    run: async ({ ctx, actor, params, body, wiring: { twoFromPaise } }) =>
      await repeatLine(ctx, actor, {
        lineId: params["line_id"] ?? "",
        reason: body.reason,
        twoFromPaise,
      }),
  }),
  read("showPayingAccount", "/ops/firms/:firm_id/paying-account", {
    ...bank,
    summary: "Show the second account that a firm pays from; the number stays masked",
    answer: PayingAccount,
    run: async ({ ctx, params }) => await showPayingAccount(ctx, params["firm_id"] ?? ""),
  }),
  act("addPayingAccount", "/ops/firms/:firm_id/paying-account", {
    ...bank,
    summary: "Say that a firm pays from a second account too; in live this takes two people",
    permission: "bank.write",
    body: {
      account_no: text("The whole number.", 40),
      ifsc: text("The branch.", 20),
      name: text("Who holds it, as the bank's letter says.", 200),
      reason: text("How you know."),
    },
    answer: AddedPayingAccount,
    run: async ({ ctx, actor, params, body: { account_no: accountNo, ...given } }) =>
      await addPayingAccount(ctx, actor, { firmId: params["firm_id"] ?? "", accountNo, ...given }),
  }),
  act("removePayingAccount", "/ops/firms/:firm_id/paying-account/remove", {
    ...bank,
    summary: "Take the second account of a firm away",
    permission: "bank.write",
    body: { reason: text("Why.") },
    answer: RemovedPayingAccount,
    run: async ({ ctx, actor, params, body: { reason } }) =>
      await removePayingAccount(ctx, actor, { firmId: params["firm_id"] ?? "", reason }),
  }),
];
