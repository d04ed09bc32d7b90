import { approvalKinds } from "../src/approval-kinds.ts";
import { approveProposal, rejectProposal } from "../src/operators/decide-approval.ts";
import { listApprovals, showApproval } from "../src/operators/list-approvals.ts";
import { approvalStates } from "../src/operators/approval-rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { parseQuerySpan } from "../src/kernel/query-time.ts";
import { command, parseChoice, print, printOne, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { spanOptions } from "./search.ts";

const reading = { permission: "read" } as const;
const deciding = { permission: "approvals.decide", named: true } as const;

const list = command({
  name: "approvals list",
  summary: "list what waits for a second person: who proposed what, its value and its age",
  options: {
    env: { help: "only live or only sandbox" },
    status: { default: "proposed", help: `${approvalStates.join(", ")} or all` },
    kind: { help: `only ${approvalKinds.map(({ name }) => name).join(", ")}` },
    ...spanOptions,
    limit: { default: "100", help: "how many at most" },
  },
  async run(options) {
    const search = {
      environment: options.env === undefined ? null : parseChoice("env", options.env, environments),
      state:
        options.status === "all" ? null : parseChoice("status", options.status, approvalStates),
      kind: options.kind ?? null,
      limit: Math.min(wholeNumber("limit", options.limit), 10_000),
      ...parseQuerySpan(options),
    };
    const act = { ...reading, environment: search.environment };
    const rows = await withOperator(options, act, ({ ctx }) => listApprovals(ctx, search));
    print(
      rows.map(({ terms: _terms, reason: _reason, ...row }) => row),
      options,
    );
  },
});

const show = command({
  name: "approvals show",
  summary: "show one proposal with its terms and what will happen",
  operand: "APPROVAL_ID",
  options: {},
  async run(options, approvalId) {
    const approval = await withOperator(options, reading, ({ ctx }) =>
      showApproval(ctx, approvalId, approvalKinds),
    );
    if (options.json) return printOne(approval, options);
    const { shown, ...view } = approval;
    printOne(view, options);
    for (const { title, rows } of shown) {
      process.stdout.write(`\n${title}\n`);
      print(rows, options);
    }
    return undefined;
  },
});

const approve = command({
  name: "approvals approve",
  summary: "approve what somebody else proposed; it is carried out at once",
  operand: "APPROVAL_ID",
  options: operatorOption,
  async run(options, approvalId) {
    const { approval, answer } = await withOperator(options, deciding, ({ ctx, actor }) =>
      approveProposal(ctx, actor, { approvalId, kinds: approvalKinds }),
    );
    const { approval_id, state, summary, proposed_by, decided_by } = approval;
    printOne({ approval_id, status: state, summary, proposed_by, decided_by, ...answer }, options);
  },
});

const reject = command({
  name: "approvals reject",
  summary: "reject a proposal, or take back your own",
  operand: "APPROVAL_ID",
  options: { reason: { required: true, help: "why" }, ...operatorOption },
  async run(options, approvalId) {
    const { reason } = options;
    const row = await withOperator(options, deciding, ({ ctx, actor }) =>
      rejectProposal(ctx, actor, { approvalId, reason, kinds: approvalKinds }),
    );
    printOne({ approval_id: row.approval_id, status: row.state, reason: row.reason }, options);
  },
});

export const approvalCommands = [list, show, approve, reject];
