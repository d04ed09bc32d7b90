import { attesting } from "../src/approval-kinds.ts";
import { readConfig } from "../src/config.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { listAllPayouts, readAnyPayout } from "../src/payouts/read-payouts.ts";
import { releasePayout, resendPayout, sendPayout } from "../src/payouts/send-payout.ts";
import { returnPayout } from "../src/payouts/recall-payouts.ts";
import { payoutStates } from "../src/payouts/rules.ts";
import { attestSeen } from "./attest.ts";
import { command, print, printOne } from "./command.ts";
import {
  type Act,
  collectRows,
  inIst,
  operatorOption,
  required,
  withOperator,
} from "./operators.ts";
import { readOptionalWord, printSearch, searchOptions } from "./search.ts";

/** Whoever moves these payouts. */
function writing(rows: readonly { readonly id: string }[]): Act {
  return { permission: "payouts.write", about: rows.map(({ id }) => id) };
}

const list = command({
  name: "payouts list",
  summary: "list payouts, newest first",
  options: {
    ...searchOptions,
    order: { help: "only with money of this order, by its id" },
    settlement: { help: "only of this settlement, by its id" },
    status: { help: `only ${payoutStates.join(", ")}` },
  },
  async run(options) {
    const { order: order_id, settlement: settlement_id } = options;
    const status = readOptionalWord("status", options.status, payoutStates);
    await printSearch(options, {
      list: (ctx, search) => listAllPayouts(ctx, { ...search, status, order_id, settlement_id }),
      listFirmIds: (row) => [row.firm_id],
      toRow: (row) => ({
        payout_id: row.payout_id,
        env: row.environment,
        firm_id: row.firm_id,
        kind: row.kind,
        amount_paise: row.paise,
        rail: row.rail,
        ifsc: row.ifsc,
        last4: row.last4,
        status: row.state,
        reason: row.reason,
        utr: row.utr,
        created_at: istTimestamp(row.created_at),
      }),
    });
  },
});

const show = command({
  name: "payouts show",
  summary: "show one payout with the orders that its money comes from",
  operand: "PAYOUT_ID",
  options: {},
  async run(options, payoutId) {
    const row = await withOperator(
      options,
      { permission: "read", about: [payoutId] },
      async ({ ctx }) => await readAnyPayout(ctx.db, payoutId),
    );
    printOne(inIst(row), options);
  },
});

const send = command({
  name: "payouts send",
  summary: "say that money was sent, by the bank's reference; large sums take two operators",
  operand: "PAYOUT_ID",
  operandOptional: true,
  options: {
    utr: { help: "the bank's reference (UTR)" },
    csv: { help: "a file with the columns payout_id, utr" },
    ...operatorOption,
  },
  example: "npx scripdesk payouts send pay_… --utr HDFCR52026111500012345 --operator asha",
  async run(options, payoutId) {
    const rows = await collectRows(payoutId, {
      csv: options.csv,
      idColumn: "payout_id",
      columns: { utr: options.utr },
    });
    const act = writing(rows);
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const lines: { payout_id: string; outcome: string }[] = [];
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id, utr } of rows) {
        const sending = { payoutId: id, utr: required("utr", utr), twoFromPaise };
        lines.push({ payout_id: id, ...(await sendPayout(ctx, actor, sending)) });
      }
    });
    print(lines, options);
  },
});

const confirm = command({
  name: "payouts confirm",
  summary: "say that money which was sent has arrived",
  operand: "PAYOUT_ID",
  operandOptional: true,
  options: {
    reference: { help: "what you saw: the bank's statement, a ticket" },
    csv: { help: "a file with the columns payout_id, reference" },
    ...operatorOption,
  },
  async run(options, payoutId) {
    const rows = await collectRows(payoutId, {
      csv: options.csv,
      idColumn: "payout_id",
      columns: { reference: options.reference },
    });
    const seen = rows.map((row) => ({
      subjectId: row.id,
      answer: { outcome: "paid" as const, reason: null },
      reference: required("reference", row.reference),
    }));
    const act = writing(rows);
    const attested = await withOperator(
      options,
      act,
      async ({ ctx, actor }) => await attestSeen(ctx, actor, { kind: "payout", seen }),
    );
    printOne(attested, options);
  },
});

const returnCommand = command({
  name: "payouts return",
  summary: "say that money came back, or keep back what has not been sent",
  operand: "PAYOUT_ID",
  operandOptional: true,
  options: {
    reason: { help: "why, such as account_closed" },
    csv: { help: "a file with the columns payout_id, reason" },
    ...operatorOption,
  },
  async run(options, payoutId) {
    const rows = await collectRows(payoutId, {
      csv: options.csv,
      idColumn: "payout_id",
      columns: { reason: options.reason },
    });
    const act = writing(rows);
    const proposed: string[] = [];
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id, reason: given } of rows) {
        const reason = required("reason", given);
        const returning = { payoutId: id, reason, kind: attesting, twoFromPaise };
        const done = await returnPayout(ctx, actor, returning);
        if (done.outcome === "proposed") proposed.push(done.approval_id);
      }
    });
    const returned = rows.length - proposed.length;
    printOne({ returned, ...(proposed.length > 0 && { proposed }) }, options);
  },
});

const release = command({
  name: "payouts release",
  summary: "ask that a large payout may leave; a second person approves it before it is sent",
  operand: "PAYOUT_ID",
  operandOptional: true,
  options: { csv: { help: "a file with the column payout_id" }, ...operatorOption },
  async run(options, payoutId) {
    const rows = await collectRows(payoutId, {
      csv: options.csv,
      idColumn: "payout_id",
      columns: {},
    });
    const lines: Record<string, unknown>[] = [];
    await withOperator(options, { ...writing(rows), named: true }, async ({ ctx, actor }) => {
      for (const { id } of rows) {
        lines.push({ payout_id: id, ...(await releasePayout(ctx, actor, id)) });
      }
    });
    print(lines, options);
  },
});

const resend = command({
  name: "payouts resend",
  summary: "put money that came back on its way again, as a new payout",
  operand: "PAYOUT_ID",
  operandOptional: true,
  options: { csv: { help: "a file with the column payout_id" }, ...operatorOption },
  async run(options, payoutId) {
    const rows = await collectRows(payoutId, {
      csv: options.csv,
      idColumn: "payout_id",
      columns: {},
    });
    const act = writing(rows);
    const lines: { payout_id: string; resend_of: string; status: string }[] = [];
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id } of rows) {
        const { payout_id, state } = await resendPayout(ctx, actor, id);
        lines.push({ payout_id, resend_of: id, status: state });
      }
    });
    print(lines, options);
  },
});

export const payoutCommands = [list, show, release, send, confirm, returnCommand, resend];
