import { readFile } from "node:fs/promises";

import { assignLine, repeatLine, sendLineBack } from "../src/bankbook/decide-line.ts";
import { importStatement, type LineResult } from "../src/bankbook/import-statement.ts";
import { listQueue } from "../src/bankbook/list-queue.ts";
import { genericStatement, parseStatementFormat } from "../src/bankbook/read-statement.ts";
import { lineReasons, type LineReason } from "../src/bankbook/rules.ts";
import {
  addPayingAccount,
  removePayingAccount,
  showPayingAccount,
} from "../src/bankbook/paying-account.ts";
import { reconcileBank } from "../src/bankbook/reconcile-bank.ts";
import { readConfig } from "../src/config.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { command, print, printOne, UsageError, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { jsonFile } from "./payout-files.ts";

const environment = "live";
const reading = { permission: "read", environment } as const;
const writing = { permission: "bank.write", environment, named: true } as const;

const importFile = command({
  name: "bank import",
  summary:
    "import the bank's statement: payouts are answered, money in is matched, the rest queued",
  operand: "FILE",
  options: {
    format: { default: genericStatement.name, help: "generic, or a JSON file with the headings" },
    ...operatorOption,
  },
  example: "npx scripdesk bank import statement-2026-11-15.csv",
  async run(options, path) {
    const { format: given } = options;
    const format =
      given === genericStatement.name
        ? genericStatement
        : parseStatementFormat(await jsonFile("format", given));
    const text = await readFile(path, "utf8").catch((error: Error) => {
      throw new UsageError(`the statement cannot be read: ${error.message}`);
    });
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const imported = await withOperator(options, writing, ({ ctx, actor }) =>
      importStatement(ctx, actor, { environment, text, format, twoFromPaise }),
    );
    if (options.json) return printOne(imported, options);
    const { results, reconciled: _reconciled, ...rest } = imported;
    printOne(rest, options);
    print(results.map(toShownResult), options);
  },
});

/** Why each line went where it went, in words. */
function toShownResult({ ordinal, day, direction, paise, status, reason, ...line }: LineResult) {
  return {
    line: ordinal,
    day,
    rupees: rupeesText(direction === "credit" ? paise : -paise),
    status,
    reason,
    firm_id: line.firm_id ?? "",
    why: lineReasons[reason as LineReason] ?? reason,
  };
}

const reconcile = command({
  name: "bank reconcile",
  summary: "compare the bank's closing balance with the books, and name every difference",
  options: {},
  async run(options) {
    const result = await withOperator(options, reading, ({ ctx }) =>
      reconcileBank(ctx, environment),
    );
    printOne(result, options);
    return result.unexplained_paise === 0 || result.unexplained_paise === null ? 0 : 1;
  },
});

const queueList = command({
  name: "bank queue list",
  summary: "list the bank's lines that nobody could explain, the oldest first",
  options: { limit: { default: "100", help: "how many at most" } },
  async run(options) {
    const limit = Math.min(wholeNumber("limit", options.limit), 10_000);
    const act = { ...writing, named: false };
    const rows = await withOperator(options, act, ({ ctx }) =>
      listQueue(ctx, { environment, limit }),
    );
    print(
      rows.map((row) => ({ ...row, rupees: rupeesText(row.paise) })),
      options,
    );
  },
});

const queueAssign = command({
  name: "bank queue assign",
  summary: "say whose money of the queue is; large sums take two people",
  operand: "LINE_ID",
  options: {
    to: { required: true, help: "a firm, settlement or cross by its id, or house for our own" },
    reason: { required: true, help: "how you know" },
    ...operatorOption,
  },
  async run(options, lineId) {
    const { reason } = options;
    const to = options.to === "house" ? null : options.to;
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const told = await withOperator(options, writing, ({ ctx, actor }) =>
      assignLine(ctx, actor, { lineId, to, reason, twoFromPaise }),
    );
    printOne({ line_id: lineId, ...told }, options);
  },
});

const queueReturn = command({
  name: "bank queue return",
  summary: "say that money of the queue was sent back; the bank's debit ends it",
  operand: "LINE_ID",
  options: {
    utr: { required: true, help: "the bank's reference (UTR) of the payment back" },
    reason: { required: true, help: "why" },
    ...operatorOption,
  },
  async run(options, lineId) {
    const { utr, reason } = options;
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const told = await withOperator(options, writing, ({ ctx, actor }) =>
      sendLineBack(ctx, actor, { lineId, utr, reason, twoFromPaise }),
    );
    printOne({ line_id: lineId, ...told }, options);
  },
});

const queueRepeat = command({
  name: "bank queue repeat",
  summary:
    "say that a line of the queue is one that an earlier file had; large sums take two people",
  operand: "LINE_ID",
  options: { reason: { required: true, help: "how you know" }, ...operatorOption },
  async run(options, lineId) {
    const { reason } = options;
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const told = await withOperator(options, writing, ({ ctx, actor }) =>
      repeatLine(ctx, actor, { lineId, reason, twoFromPaise }),
    );
    printOne({ line_id: lineId, ...told }, options);
  },
});

const accountShow = command({
  name: "firms paying-account show",
  summary: "show the second account that a firm pays from; the number stays masked",
  operand: "FIRM_ID",
  options: {},
  async run(options, firmId) {
    const act = { permission: "read", about: [firmId] } as const;
    const shown = await withOperator(options, act, ({ ctx }) => showPayingAccount(ctx, firmId));
    printOne(shown, options);
  },
});

const accountAdd = command({
  name: "firms paying-account add",
  summary: "say that a firm pays from a second account too; in live this takes two people",
  operand: "FIRM_ID",
  options: {
    "account-no": { required: true, help: "the whole number" },
    ifsc: { required: true, help: "the branch" },
    name: { required: true, help: "who holds it, as the bank's letter says" },
    reason: { required: true, help: "how you know" },
    ...operatorOption,
  },
  async run({ "account-no": accountNo, ifsc, name, reason, ...options }, firmId) {
    const act = { permission: "bank.write", about: [firmId], named: true } as const;
    const told = await withOperator(options, act, ({ ctx, actor }) =>
      addPayingAccount(ctx, actor, { firmId, accountNo, ifsc, name, reason }),
    );
    printOne({ firm_id: firmId, ...told }, options);
  },
});

const accountRemove = command({
  name: "firms paying-account remove",
  summary: "take the second account of a firm away",
  operand: "FIRM_ID",
  options: { reason: { required: true, help: "why" }, ...operatorOption },
  async run({ reason, ...options }, firmId) {
    const act = { permission: "bank.write", about: [firmId], named: true } as const;
    const told = await withOperator(options, act, ({ ctx, actor }) =>
      removePayingAccount(ctx, actor, { firmId, reason }),
    );
    printOne({ firm_id: firmId, ...told }, options);
  },
});

export const bankCommands = [
  accountShow,
  accountAdd,
  accountRemove,
  importFile,
  reconcile,
  queueList,
  queueAssign,
  queueReturn,
  queueRepeat,
];
