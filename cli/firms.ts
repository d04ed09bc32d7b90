import { authorizeFirm, verifyFirm } from "../src/firms/check-firm.ts";
import {
  listAllFirms,
  requireAnyFirm,
  toOperatorRequester,
  viewFirm,
} from "../src/firms/find-firms.ts";
import { resumeFirm, suspendFirm } from "../src/firms/change-firm.ts";
import { revealAccount } from "../src/firms/bank-accounts.ts";
import { firmStates, transferInitiators } from "../src/firms/rules.ts";
import type { Firm } from "../src/firms/schema.ts";
import { command, parseChoice, printOne } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { readOptionalWord, printSearch, searchOptions } from "./search.ts";

const list = command({
  name: "firms list",
  summary: "list the firms of every desk, newest first",
  options: { ...searchOptions, state: { help: "only firms in this connection state" } },
  example: "npx scripdesk firms list --env live --state action_required",
  async run(options) {
    const connectionState = readOptionalWord("state", options.state, firmStates);
    await printSearch(options, {
      list: (ctx, search) => listAllFirms(ctx, { ...search, connectionState }),
      listFirmIds: () => [],
      toRow: ({ desk_name, firm }) => ({
        firm_id: firm.firm_id,
        desk: desk_name,
        env: firm.environment,
        legal_name: firm.legal_name,
        iec: firm.iec,
        role: firm.role,
        state: firm.connection_state,
        holds: firm.holds.map(({ reason }) => reason),
        updated_at: firm.updated_at,
      }),
    });
  },
});

const show = command({
  name: "firms show",
  summary: "show a firm, with its checks and holds; account numbers stay masked",
  operand: "FIRM_ID",
  options: {},
  async run(options, firmId) {
    const reading = { permission: "read", about: [firmId] } as const;
    const firm = await withOperator(options, reading, async ({ ctx }) => {
      return viewFirm(await requireAnyFirm(ctx.db, firmId), ctx.now());
    });
    printOne(options.json ? firm : readable(firm), options);
  },
});

const account = command({
  name: "firms account",
  summary: "show where a firm is paid to; the whole number with --reveal, which is on record",
  operand: "FIRM_ID",
  options: {
    reveal: { type: "boolean", help: "show the whole account number" },
    reason: { default: "", help: "why; required with --reveal" },
    ...operatorOption,
  },
  async run(options, firmId) {
    const act = { about: [firmId], permission: "accounts.reveal", named: true } as const;
    if (options.reveal) {
      const { reason } = options;
      const revealed = await withOperator(options, act, ({ ctx, actor }) =>
        revealAccount(ctx, actor, { firmId, reason }),
      );
      return printOne(revealed, options);
    }
    const reading = { permission: "read", about: [firmId] } as const;
    const firm = await withOperator(options, reading, async ({ ctx }) => {
      return viewFirm(await requireAnyFirm(ctx.db, firmId), ctx.now());
    });
    printOne({ firm_id: firmId, bank: firm.bank }, options);
    return undefined;
  },
});

const verify = command({
  name: "firms verify",
  summary: "ask the registry and the bank about a firm; see `registry list` for what is open",
  operand: "FIRM_ID",
  options: operatorOption,
  async run(options, firmId) {
    const firm = await withOperator(
      options,
      { permission: "firms.write", about: [firmId] },
      async ({ ctx, actor }) =>
        await verifyFirm(ctx, await toOperatorRequester(ctx, firmId, actor), firmId),
    );
    printOne(summarizeFirm(firm), options);
  },
});

const authorize = command({
  name: "firms authorize",
  summary: "record a verified firm's mandate; its desk may trade for it from now on",
  operand: "FIRM_ID",
  options: {
    signatory: { required: true, help: "who signed for the firm" },
    reference: { required: true, help: "where the signed mandate is found" },
    until: { required: true, help: "last day (YYYY-MM-DD, IST) or ISO 8601 time" },
    transfers: {
      default: "house",
      help: `who initiates its transfers at customs: ${transferInitiators.join(", ")}`,
    },
    ...operatorOption,
  },
  async run(options, firmId) {
    const mandate = {
      signatory_name: options.signatory,
      reference: options.reference,
      valid_until: options.until,
      transfers: parseChoice("transfers", options.transfers, transferInitiators),
    };
    const firm = await withOperator(
      options,
      { permission: "firms.write", about: [firmId] },
      async ({ ctx, actor }) =>
        await authorizeFirm(ctx, await toOperatorRequester(ctx, firmId, actor), {
          firmId,
          mandate,
        }),
    );
    printOne(summarizeFirm(firm), options);
  },
});

const suspend = command({
  name: "firms suspend",
  summary: "stop trading for a firm; only the operator can resume it",
  operand: "FIRM_ID",
  options: { reason: { required: true, help: "why; the desk sees it" }, ...operatorOption },
  async run(options, firmId) {
    const firm = await withOperator(
      options,
      { permission: "firms.write", about: [firmId] },
      async ({ ctx, actor }) =>
        await suspendFirm(ctx, await toOperatorRequester(ctx, firmId, actor), {
          firmId,
          reason: options.reason,
        }),
    );
    printOne(summarizeFirm(firm), options);
  },
});

const resume = command({
  name: "firms resume",
  summary: "end a firm's suspension, whoever made it",
  operand: "FIRM_ID",
  options: operatorOption,
  async run(options, firmId) {
    const firm = await withOperator(
      options,
      { permission: "firms.write", about: [firmId] },
      async ({ ctx, actor }) =>
        await resumeFirm(ctx, await toOperatorRequester(ctx, firmId, actor), firmId),
    );
    printOne(summarizeFirm(firm), options);
  },
});

/** Lists of objects as lines that a person can read. */
function readable(firm: Firm): Record<string, unknown> {
  return {
    ...firm,
    checks: firm.checks.map(({ check, outcome, cure }) =>
      cure === null ? `${check} ${outcome}` : `${check} ${outcome} (${cure})`,
    ),
    holds: firm.holds.map(({ reason, until }) => `${reason} until ${until ?? "answered"}`),
  };
}

function summarizeFirm(firm: Firm): Record<string, unknown> {
  return {
    firm_id: firm.firm_id,
    legal_name: firm.legal_name,
    connection_state: firm.connection_state,
    version: firm.version,
    allowed_actions: firm.allowed_actions,
  };
}

export const firmCommands = [list, show, account, verify, authorize, suspend, resume];
