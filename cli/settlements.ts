import { attesting } from "../src/approval-kinds.ts";
import { readConfig } from "../src/config.ts";
import { listDepositsForSettlement } from "../src/payouts/deposits.ts";
import { transferOutcomes } from "../src/outside/inquiry-rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { failSettlement } from "../src/settlement/fail-settlements.ts";
import { followSettlement, listAllSettlements } from "../src/settlement/read-settlements.ts";
import { reverseSettlement, takeBackRefund } from "../src/settlement/reverse-settlement.ts";
import { settlementStates, findAwaitedParty } from "../src/settlement/rules.ts";
import { initiateAsHouse } from "../src/settlement/tasks.ts";
import { liftUnpaid, listUnpaidDeals } from "../src/settlement/unpaid-deals.ts";
import { settlementHooks } from "../src/hooks.ts";
import { attestSeen } from "./attest.ts";
import { command, parseChoice, print, printOne } from "./command.ts";
import { fundCommand } from "./funding.ts";
import {
  type Act,
  collectRows,
  inIst,
  operatorOption,
  required,
  withOperator,
} from "./operators.ts";
import { readOptionalWord, printSearch, searchOptions } from "./search.ts";

/** So many unpaid deals are listed. */
const unpaidMax = 500;

/** Whoever moves these settlements. */
function writing(rows: readonly { readonly id: string }[]): Act {
  return { permission: "settlements.write", about: rows.map(({ id }) => id) };
}

const list = command({
  name: "settlements list",
  summary: "list settlements with what each waits for, newest first",
  options: {
    ...searchOptions,
    order: { help: "only of this order, by its id" },
    status: { help: `only ${settlementStates.join(", ")}` },
  },
  async run(options) {
    const { order: orderId } = options;
    const status = readOptionalWord("status", options.status, settlementStates);
    await printSearch(options, {
      list: (ctx, search) => listAllSettlements(ctx, { ...search, status, orderId }),
      listFirmIds: (row) => [row.buyer_firm_id, ...row.legs.map((leg) => leg.seller_firm_id)],
      toRow: (row) => ({
        settlement_id: row.settlement_id,
        env: row.environment,
        status: row.state,
        waiting_on: findAwaitedParty(row.state, row.legs),
        due_at: row.due_at && istTimestamp(row.due_at),
        buyer_firm_id: row.buyer_firm_id,
        buyer_paise: row.buyer_paise,
        scrip_nos: row.legs.map((leg) => leg.scrip_no),
      }),
    });
  },
});

const show = command({
  name: "settlements show",
  summary: "show one settlement with both sides of its legs",
  operand: "SETTLEMENT_ID",
  options: {},
  async run(options, settlementId) {
    const { row, received } = await withOperator(
      options,
      { permission: "read", about: [settlementId] },
      async ({ ctx }) => ({
        row: await followSettlement(ctx, settlementId),
        received: await listDepositsForSettlement(ctx.db, settlementId),
      }),
    );
    const { legs, history, tasks, ...facts } = row;
    // What has come of the buyer's money, the whole of it or a part.
    const deposits = received.map(({ reference, paise, at }) => inIst({ reference, paise, at }));
    const shown = { ...inIst(facts), history, tasks, deposits, legs: legs.map(inIst) };
    printOne(shown, options);
  },
});

const fund = fundCommand({
  noun: "settlement",
  name: "settlements fund",
  ifMissing: "the settlement fails",
});

const initiated = command({
  name: "settlements initiated",
  summary: "say that the house has initiated its transfers of a settlement on the customs portal",
  operand: "SETTLEMENT_ID",
  options: {
    reference: { required: true, help: "what the portal gave for it" },
    ...operatorOption,
  },
  example: "npx scripdesk settlements initiated stl_… --reference ICEGATE-7780",
  async run(options, settlementId) {
    const act = writing([{ id: settlementId }]);
    const { reference } = options;
    const done = await withOperator(
      options,
      act,
      async ({ ctx, actor }) =>
        await initiateAsHouse(ctx, actor, { settlementId, reference, settlementHooks }),
    );
    printOne(done, options);
  },
});

const confirmTransfer = command({
  name: "settlements confirm-transfer",
  summary: "say what customs did with the credits of a settlement",
  operand: "SETTLEMENT_ID",
  operandOptional: true,
  options: {
    "scrip-no": { help: "this credit only; all that are open when not given" },
    outcome: { default: "transferred", help: transferOutcomes.join(", ") },
    reference: { help: "what you saw: a ticket, a letter, a screenshot's number" },
    csv: { help: "a file with the columns settlement_id, scrip_no, outcome, reference" },
    ...operatorOption,
  },
  example: "npx scripdesk settlements confirm-transfer stl_… --reference ICEGATE-7781",
  async run(options, settlementId) {
    const rows = await collectRows(settlementId, {
      csv: options.csv,
      idColumn: "settlement_id",
      columns: {
        scrip_no: options["scrip-no"],
        outcome: options.outcome,
        reference: options.reference,
      },
    });
    const seen = rows.map((row) => ({
      subjectId: row.id,
      isMeant: (facts: { readonly scrip_no: string }) =>
        row.scrip_no === "" || facts.scrip_no === row.scrip_no,
      answer: { outcome: parseChoice("outcome", row.outcome, transferOutcomes) },
      reference: required("reference", row.reference),
    }));
    const act = writing(rows);
    const attested = await withOperator(
      options,
      act,
      async ({ ctx, actor }) => await attestSeen(ctx, actor, { kind: "credit_transfer", seen }),
    );
    printOne(attested, options);
  },
});

const fail = command({
  name: "settlements fail",
  summary: "give up on what is still open of settlements; what was delivered stands",
  operand: "SETTLEMENT_ID",
  operandOptional: true,
  options: {
    reference: { help: "where a transfer was begun: what you saw that says nothing is pending" },
    csv: { help: "a file with the columns settlement_id, reference" },
    ...operatorOption,
  },
  example: "npx scripdesk settlements fail stl_… --reference ICEGATE-7782",
  async run(options, settlementId) {
    const rows = await collectRows(settlementId, {
      csv: options.csv,
      idColumn: "settlement_id",
      columns: { reference: options.reference },
    });
    const act = writing(rows);
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const approvalIds: string[] = [];
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id, reference } of rows) {
        const ended = await failSettlement(ctx, actor, {
          settlementId: id,
          reference: reference === "" ? undefined : reference,
          settlementHooks,
          attesting: { kind: attesting, twoFromPaise },
        });
        if (ended.outcome === "proposed") approvalIds.push(ended.approval_id);
      }
    });
    const proposed = approvalIds.length > 0 && { approval_ids: approvalIds };
    printOne({ failed: rows.length - approvalIds.length, ...proposed }, options);
  },
});

const reverse = command({
  name: "settlements reverse",
  summary: "undo a settled settlement; a second operator runs the same command to confirm",
  operand: "SETTLEMENT_ID",
  operandOptional: true,
  options: {
    reason: { help: "why; both operators give the same" },
    csv: { help: "a file with the columns settlement_id, reason" },
    ...operatorOption,
  },
  example: "npx scripdesk settlements reverse stl_… --reason 'forged mandate' --operator asha",
  async run(options, settlementId) {
    const rows = await collectRows(settlementId, {
      csv: options.csv,
      idColumn: "settlement_id",
      columns: { reason: options.reason },
    });
    const act = { ...writing(rows), named: true };
    const lines: { settlement_id: string; outcome: string }[] = [];
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id, reason } of rows) {
        const command = { settlementId: id, reason: required("reason", reason) };
        lines.push({ settlement_id: id, ...(await reverseSettlement(ctx, actor, command)) });
      }
    });
    print(lines, options);
  },
});

const takeBack = command({
  name: "settlements take-back",
  summary: "say that customs transferred a credit after its refund; two operators run it",
  operand: "SETTLEMENT_ID",
  options: {
    "scrip-no": { required: true, help: "the credit" },
    reference: { required: true, help: "what you saw: a ticket, a letter, a screenshot's number" },
    ...operatorOption,
  },
  example:
    "npx scripdesk settlements take-back stl_… --scrip-no … --reference ICEGATE-9 --operator asha",
  async run(options, settlementId) {
    const act = { permission: "settlements.write", about: [settlementId], named: true } as const;
    const { reference, "scrip-no": scrip_no } = options;
    const taken = await withOperator(
      options,
      act,
      async ({ ctx, actor }) =>
        await takeBackRefund(ctx, actor, { settlementId, scrip_no, reference }),
    );
    printOne({ settlement_id: settlementId, ...taken }, options);
  },
});

const unpaid = command({
  name: "settlements unpaid",
  summary: "list the newest deals that failed for want of money, and whether they still count",
  options: { env: { default: "live", help: "live or sandbox" }, ...operatorOption },
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const rows = await withOperator(
      options,
      { permission: "read", environment },
      async ({ ctx }) => await listUnpaidDeals(ctx, { environment, limit: unpaidMax }),
    );
    print(rows.map(inIst), options);
  },
});

const liftUnpaidCommand = command({
  name: "settlements lift-unpaid",
  summary: "let the firms of a PAN buy before they pay again, after a deal that was not paid",
  operand: "SETTLEMENT_ID",
  options: { reason: { required: true, help: "why" }, ...operatorOption },
  example: "npx scripdesk settlements lift-unpaid stl_… --reason 'their bank was shut'",
  async run(options, settlementId) {
    const lifted = await withOperator(
      options,
      { permission: "settlements.write", about: [settlementId] },
      async ({ ctx, actor }) =>
        await liftUnpaid(ctx, actor, { settlementId, reason: options.reason }),
    );
    print(
      lifted.map((settlement_id) => ({ settlement_id, outcome: "lifted" })),
      options,
    );
  },
});

export const settlementCommands = [
  list,
  show,
  fund,
  initiated,
  confirmTransfer,
  fail,
  reverse,
  takeBack,
  unpaid,
  liftUnpaidCommand,
];
