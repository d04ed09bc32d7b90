import { Type } from "typebox";

import { fundDeal } from "../bankbook/fund-deal.ts";
import { listAllCrosses } from "../crosses/read-crosses.ts";
import { crossStates } from "../crosses/rules.ts";
import { addDeposit } from "../payouts/deposits.ts";
import { revealAccount } from "../firms/bank-accounts.ts";
import { attestWithApproval, findAttestations, type Seen } from "../outside/attest.ts";
import { type InquiryKind, transferOutcomes } from "../outside/inquiry-rules.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { utrForm } from "../kernel/ids.ts";
import { listFiles, readFile, showFile } from "../payouts/read-files.ts";
import { makeFiles, previewFiles, viewPreview } from "../payouts/make-files.ts";
import { columnFields, dayForms, fileStates, readFormat } from "../payouts/file-rules.ts";
import { voidFile } from "../payouts/answer-files.ts";
import { listAllPayouts } from "../payouts/read-payouts.ts";
import { releasePayout, resendPayout, sendPayout } from "../payouts/send-payout.ts";
import { returnPayout } from "../payouts/recall-payouts.ts";
import { payoutStates } from "../payouts/rules.ts";
import { oneOf } from "../platform/http/wire.ts";
import { failSettlement } from "../settlement/fail-settlements.ts";
import { listAllSettlements } from "../settlement/read-settlements.ts";
import { reverseSettlement } from "../settlement/reverse-settlement.ts";
import { settlementStates } from "../settlement/rules.ts";
import {
  act,
  environment,
  id,
  limitUsual,
  listQuery,
  type Operation,
  type OpsCall,
  optional,
  paise,
  read,
  text,
} from "./operation.ts";

const settlements = { tag: "Settlements" } as const;
const payouts = { tag: "Payouts" } as const;

const reference = text("What you saw: a ticket, a letter, a line of the bank's statement.", 200);
const reason = text("Why.");

/** On the wire a state is a status, as it is under `/v1`. */
function withStatus<Row extends { readonly state: string }>({ state, ...row }: Row) {
  return { ...row, status: state };
}

/** Says what was seen of one thing; large sums take two people. */
async function attest<Kind extends InquiryKind>(
  { ctx, actor, wiring }: Pick<OpsCall<unknown, unknown>, "ctx" | "actor" | "wiring">,
  kind: Kind,
  seen: Seen<Kind>,
): Promise<object> {
  const attestations = await findAttestations(ctx, { kind, seen: [seen] });
  const { attesting, twoFromPaise } = wiring;
  return await attestWithApproval(ctx, actor, { attestations, kind: attesting, twoFromPaise });
}

const fundBody = {
  reference,
  amount_paise: optional(
    paise("How much came, where it is not the whole; what is short is waited for."),
  ),
  missing: optional(Type.Boolean({ description: "The money will not come." })),
};

type Funding = {
  readonly reference: string;
  readonly amount_paise?: number;
  readonly missing?: boolean;
};

async function fund(call: OpsCall<undefined, Funding>, subjectId: string): Promise<object> {
  const { reference: seen, amount_paise: amount, missing = false } = call.body;
  if (amount !== undefined) {
    if (missing) throw unprocessable({ path: "missing", problem: "contradicts amount_paise" });
    const { ctx, actor, wiring } = call;
    const { twoFromPaise } = wiring;
    const asked = { dealId: subjectId, paise: amount, reference: seen, twoFromPaise };
    return { outcome: await fundDeal(ctx, actor, asked) };
  }
  if (!missing && !utrForm.test(seen)) {
    throw unprocessable({ path: "reference", problem: "must be 12 to 22 capitals and digits" });
  }
  const answer = { arrived: !missing, reference: missing ? null : seen };
  return await attest(call, "deal_funding", { subjectId, answer, reference: seen });
}

const fileFormat = Type.Object(
  {
    name: text("What the form is called.", 100),
    has_header: optional(
      Type.Boolean({ description: "Whether the first line names the columns." }),
    ),
    day_form: optional(oneOf(dayForms, { description: "How a day is written." })),
    columns: Type.Array(
      Type.Object(
        {
          header: Type.String({ maxLength: 100, description: "What the column is called." }),
          field: optional(oneOf(columnFields, { description: "What it holds." })),
          text: optional(
            Type.String({ maxLength: 100, description: "Or the same in every line." }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 50, description: "In their order." },
    ),
  },
  {
    additionalProperties: false,
    description: "The bank's own form; the generic one when left out.",
  },
);

function known<Row>(row: Row | undefined, what: string): Row {
  if (row) return row;
  throw new Failure("not_found", `no such ${what}`);
}

export const moneyOperations: readonly Operation[] = [
  read("listAllSettlements", "/ops/settlements", {
    ...settlements,
    summary: "List settlements with both sides, newest first",
    query: {
      ...listQuery,
      status: optional(oneOf(settlementStates, { description: "Only in this state." })),
    },
    run: async ({ ctx, query: { limit = limitUsual, ...query } }) => ({
      settlements: (await listAllSettlements(ctx, { ...query, limit })).map(withStatus),
    }),
  }),
  read("readAnySettlement", "/ops/settlements/:settlement_id", {
    ...settlements,
    summary: "Read a settlement with both sides of its legs",
    run: async ({ ctx, params }) => {
      const settlementId = params["settlement_id"] ?? "";
      const [row] = await listAllSettlements(ctx, { settlementId, limit: 1 });
      return withStatus(known(row, "settlement"));
    },
  }),
  act("fundSettlement", "/ops/settlements/:settlement_id/fund", {
    ...settlements,
    summary: "Say that the buyer's money has arrived, or will not; large sums take two people",
    permission: "settlements.write",
    body: fundBody,
    run: async (call) => await fund(call, call.params["settlement_id"] ?? ""),
  }),
  act("confirmTransfer", "/ops/settlements/:settlement_id/confirm-transfer", {
    ...settlements,
    summary: "Say what customs did with the credits; large faces take two people",
    permission: "settlements.write",
    body: {
      reference,
      scrip_no: optional(text("This credit only; all that are open when left out.", 64)),
      outcome: oneOf(transferOutcomes, { description: "What customs did." }),
    },
    run: async (call) => {
      const { reference: seen, scrip_no, outcome } = call.body;
      return await attest(call, "credit_transfer", {
        subjectId: call.params["settlement_id"] ?? "",
        isMeant: (facts) => scrip_no === undefined || facts.scrip_no === scrip_no,
        answer: { outcome },
        reference: seen,
      });
    },
  }),
  act("failSettlement", "/ops/settlements/:settlement_id/fail", {
    ...settlements,
    summary: "Give up on what is still open; what was delivered stands",
    permission: "settlements.write",
    run: async ({ ctx, actor, params, wiring: { settling } }) => {
      const settlementId = params["settlement_id"] ?? "";
      await failSettlement(ctx, actor, { settlementId, settling });
      return { outcome: "failed" };
    },
  }),
  act("reverseSettlement", "/ops/settlements/:settlement_id/reverse", {
    ...settlements,
    summary: "Undo a settled settlement; a second person approves it",
    permission: "settlements.write",
    body: { reason },
    run: async ({ ctx, actor, params, body }) => ({
      outcome: await reverseSettlement(ctx, actor, {
        settlementId: params["settlement_id"] ?? "",
        reason: body.reason,
      }),
    }),
  }),
  read("listAllCrosses", "/ops/crosses", {
    ...settlements,
    summary: "List crosses with what each waits for, newest first",
    query: {
      ...listQuery,
      status: optional(oneOf(crossStates, { description: "Only in this state." })),
    },
    run: async ({ ctx, query: { limit = limitUsual, ...query } }) => ({
      crosses: (await listAllCrosses(ctx, { ...query, limit })).map(withStatus),
    }),
  }),
  act("fundAnyCross", "/ops/crosses/:cross_id/fund", {
    ...settlements,
    summary: "Say that the buyer's money for a cross has arrived, or will not",
    permission: "settlements.write",
    body: fundBody,
    run: async (call) => await fund(call, call.params["cross_id"] ?? ""),
  }),
  act("addDeposit", "/ops/deposits", {
    ...settlements,
    summary: "Add money that a firm has paid in; large sums take two people",
    permission: "deposits.write",
    body: {
      environment,
      firm_id: id("The firm."),
      amount_paise: paise("How much."),
      reference: id("The bank's reference (UTR)."),
    },
    run: async ({ ctx, actor, body, wiring: { twoFromPaise } }) =>
      await addDeposit(ctx, actor, {
        environment: body.environment,
        firmId: body.firm_id,
        paise: body.amount_paise,
        reference: body.reference,
        twoFromPaise,
      }),
  }),
  read("listAllPayouts", "/ops/payouts", {
    ...payouts,
    summary: "List payouts, newest first; accounts by their last digits",
    query: {
      ...listQuery,
      status: optional(oneOf(payoutStates, { description: "Only in this state." })),
    },
    run: async ({ ctx, query: { limit = limitUsual, ...query } }) => ({
      payouts: (await listAllPayouts(ctx, { ...query, limit })).map(withStatus),
    }),
  }),
  read("readAnyPayout", "/ops/payouts/:payout_id", {
    ...payouts,
    summary: "Read a payout with the orders that its money comes from",
    run: async ({ ctx, params }) => {
      const [row] = await listAllPayouts(ctx, { payoutId: params["payout_id"] ?? "", limit: 1 });
      return withStatus(known(row, "payout"));
    },
  }),
  act("releasePayout", "/ops/payouts/:payout_id/release", {
    ...payouts,
    summary: "Ask that a large payout may leave; a second person approves it before it is sent",
    permission: "payouts.write",
    run: async ({ ctx, actor, params }) =>
      await releasePayout(ctx, actor, params["payout_id"] ?? ""),
  }),
  act("sendPayout", "/ops/payouts/:payout_id/send", {
    ...payouts,
    summary: "Say that money was sent, by the bank's reference",
    permission: "payouts.write",
    body: { utr: id("The bank's reference.") },
    run: async ({ ctx, actor, params, body: { utr }, wiring: { twoFromPaise } }) => ({
      outcome: await sendPayout(ctx, actor, {
        payoutId: params["payout_id"] ?? "",
        utr,
        twoFromPaise,
      }),
    }),
  }),
  act("confirmPayout", "/ops/payouts/:payout_id/confirm", {
    ...payouts,
    summary: "Say that money which was sent has arrived",
    permission: "payouts.write",
    body: { reference },
    run: async (call) =>
      await attest(call, "payout", {
        subjectId: call.params["payout_id"] ?? "",
        answer: { outcome: "paid", reason: null },
        reference: call.body.reference,
      }),
  }),
  act("returnPayout", "/ops/payouts/:payout_id/return", {
    ...payouts,
    summary: "Say that money came back, or keep back what has not been sent",
    permission: "payouts.write",
    body: { reason },
    run: async ({ ctx, actor, params, body, wiring }) =>
      await returnPayout(ctx, actor, {
        payoutId: params["payout_id"] ?? "",
        reason: body.reason,
        kind: wiring.attesting,
        twoFromPaise: wiring.twoFromPaise,
      }),
  }),
  act("resendPayout", "/ops/payouts/:payout_id/resend", {
    ...payouts,
    summary: "Put money that came back on its way again, as a new payout",
    permission: "payouts.write",
    run: async ({ ctx, actor, params }) =>
      await resendPayout(ctx, actor, params["payout_id"] ?? ""),
  }),
  read("listFiles", "/ops/payout-files", {
    ...payouts,
    summary: "List payout files, newest first",
    query: {
      limit: listQuery.limit,
      status: optional(oneOf(fileStates, { description: "Only in this state." })),
    },
    run: async ({ ctx, query: { status: state, limit = limitUsual } }) => ({
      payout_files: await listFiles(ctx, { state, limit }),
    }),
  }),
  read("previewFiles", "/ops/payout-files/preview", {
    ...payouts,
    summary: "Show what the files of this moment would hold",
    query: { environment },
    run: async ({ ctx, query }) => viewPreview(await previewFiles(ctx, query.environment)),
  }),
  read("readFileFacts", "/ops/payout-files/:file_id", {
    ...payouts,
    summary: "Read a file: each payee with its payouts; account numbers stay sealed",
    run: async ({ ctx, params }) => await showFile(ctx, params["file_id"] ?? ""),
  }),
  act("makeFiles", "/ops/payout-files", {
    ...payouts,
    summary: "Put what is due and free into one file per rail; large files take two people",
    permission: "payouts.write",
    body: { environment, format: optional(fileFormat) },
    run: async ({ ctx, actor, body, wiring: { twoFromPaise } }) => ({
      payout_files: await makeFiles(ctx, actor, {
        environment: body.environment,
        format: body.format && readFormat(body.format),
        twoFromPaise,
      }),
    }),
  }),
  act("readFile", "/ops/payout-files/:file_id/bytes", {
    ...payouts,
    summary: "Read the bytes for the bank, with whole account numbers; who read them is on record",
    permission: "payouts.write",
    run: async ({ ctx, actor, params }) => await readFile(ctx, actor, params["file_id"] ?? ""),
  }),
  act("voidFile", "/ops/payout-files/:file_id/void", {
    ...payouts,
    summary: "Say that the bank never got a file; a second person approves it",
    permission: "payouts.write",
    body: { reason },
    run: async ({ ctx, actor, params, body }) => ({
      outcome: await voidFile(ctx, actor, {
        fileId: params["file_id"] ?? "",
        reason: body.reason,
      }),
    }),
  }),
  act("revealAccount", "/ops/firms/:firm_id/reveal-account", {
    ...payouts,
    summary: "Show a firm's whole account number; who looked and why is on record",
    permission: "accounts.reveal",
    body: { reason },
    run: async ({ ctx, actor, params, body }) =>
      await revealAccount(ctx, actor, { firmId: params["firm_id"] ?? "", reason: body.reason }),
  }),
];
