// What a desk's keys propose and approve, by the use cases that a key alone would call. Proposing tries
// the act and takes it back.

import { findActiveKeys } from "../access/read-keys.ts";
import { normalizeParticulars } from "../firms/particulars.ts";
import { offboardFirm, type Offboarding } from "../firms/offboard-firm.ts";
import { toRequester } from "../firms/find-firms.ts";
import { type FirmHooks, updateFirm } from "../firms/update-firm.ts";
import { type Call, type Caller, type Demand, meetsDemand } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { exactJson } from "../kernel/json.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import { withdrawMoney } from "../payouts/withdraw-money.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { readNewest } from "../platform/postgres/list.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { readDeskRules, setDeskRules } from "../secondkeys/set-gate.ts";
import type { Permit } from "../secondkeys/gate.ts";
import {
  approveForDesk,
  listDeskApprovalRows,
  nothingChanges,
  notingPermit,
  proposeToDesk,
  type ProposedTerms,
  readDeskApproval,
  rejectForDesk,
  viewDeskApproval,
} from "../secondkeys/proposals.ts";
import type { DeskApprovalKind } from "../secondkeys/rules.ts";
import {
  actFields,
  type ApprovalRules,
  type ApproveActBody,
  DeskApproval,
  type ProposeActBody,
  type SetApprovalRulesBody,
} from "./schema.ts";

type ActContext = Context & FirmHooks & { readonly offboarding: Offboarding };

/** What a key needs to do the act alone. */
const demands: Readonly<Record<DeskApprovalKind, Demand>> = {
  bank_change: "firms",
  withdrawal: "orders:write",
  offboarding: "firms",
  rules: "root key",
};

export const approvalsOfDesk = deskPages({
  name: "approvals",
  of: DeskApproval,
  order: "Newest first.",
  read: async (ctx, caller, query) => {
    const visible = visibleTo(caller);
    const question = { list: "approvals", desk: visible.deskId, firm: visible.firmId ?? "" };
    const page = await readNewest(ctx, { query, question }, listDeskApprovalRows(visible));
    const now = ctx.now();
    return { ...page, rows: page.rows.map((row) => viewDeskApproval(row, now)) };
  },
});

export async function readApproval(
  ctx: Context,
  caller: Caller,
  approvalId: string,
): Promise<DeskApproval> {
  return await readDeskApproval(ctx, caller, approvalId);
}

export async function readApprovalRules(ctx: Context, caller: Caller): Promise<ApprovalRules> {
  return await readDeskRules(ctx, caller);
}

export async function setApprovalRules(ctx: Context, call: Call, asked: SetApprovalRulesBody) {
  return await setDeskRules(ctx, call, { ...asked, findKeys: findActiveKeys });
}

export async function proposeAct(
  ctx: ActContext,
  call: Call,
  asked: ProposeActBody,
): Promise<Creation<DeskApproval>> {
  refuseLacking(call.caller, asked.kind);
  const proposed = readTerms(call.caller, asked);
  return await proposeToDesk(ctx, call, {
    ...proposed,
    body: asked,
    findKeys: findActiveKeys,
    async tryAct() {
      const { permit, findNoted } = notingPermit();
      const result = await carryOut(ctx, { ...call, dryRun: true }, proposed, permit);
      const noted = findNoted();
      if (!noted) throw nothingChanges();
      return { fact: noted.fact, shown: describeTerms(proposed, result) };
    },
  });
}

export async function approveAct(
  ctx: ActContext,
  call: Call,
  { approval_id: approvalId, bank }: { readonly approval_id: string } & ApproveActBody,
): Promise<DeskApproval> {
  return await approveForDesk(ctx, call, {
    approvalId,
    findKeys: findActiveKeys,
    refuse: (kind) => refuseLacking(call.caller, kind),
    act: async (proposed, permit) => {
      if (bank !== undefined) refuseOtherAccount(proposed, bank);
      return await carryOut(ctx, call, proposed, permit);
    },
  });
}

/** What both keys may see of an account is not enough to tell it from one with the same end. */
function refuseOtherAccount({ kind, terms }: ProposedTerms, bank: ActTerms["bank"]): void {
  if (kind !== "bank_change") {
    throw unprocessable({ path: "bank", problem: `is not taken with ${kind}` });
  }
  const { bank: proposed } = terms as ActTerms; // As `readTerms` made them.
  const tell = (account: ActTerms["bank"]) => exactJson(normalizeParticulars({ bank: account }));
  if (tell(bank) === tell(proposed)) return;
  throw new Failure("conflict", "another account was proposed", {
    detail: { reason: "account_differs" },
  });
}

export async function rejectAct(
  ctx: Context,
  call: Call,
  { approval_id: approvalId, reason }: { readonly approval_id: string; readonly reason: string },
): Promise<DeskApproval> {
  return await rejectForDesk(ctx, call, {
    approvalId,
    reason,
    findKeys: findActiveKeys,
    refuse: (kind) => refuseLacking(call.caller, kind),
  });
}

function refuseLacking(caller: Caller, kind: DeskApprovalKind): void {
  if (kind === "rules") refuseSubAccount(visibleTo(caller), "change what takes two keys");
  if (meetsDemand(caller, demands[kind])) return;
  throw new Failure("forbidden", `this takes ${demands[kind]}`, {
    detail: { reason: "key_lacks", needs: demands[kind] },
  });
}

type ActTerms = Pick<ProposeActBody, "bank" | "amount_paise" | "rules">;

function readTerms({ deskId }: Caller, { kind, ...given }: ProposeActBody): ProposedTerms {
  const wanted: readonly string[] = actFields[kind];
  for (const field of ["firm_id", "bank", "amount_paise", "rules"] as const) {
    const isGiven = given[field] !== undefined;
    if (isGiven === wanted.includes(field)) continue;
    const problem = isGiven ? `is not taken with ${kind}` : `is required with ${kind}`;
    throw unprocessable({ path: field, problem });
  }
  const { firm_id: firmId = deskId, ...terms } = given;
  return { kind, firmId, terms };
}

async function carryOut(
  ctx: ActContext,
  call: Call,
  { kind, firmId, terms: stored }: ProposedTerms,
  permit: Permit,
): Promise<object> {
  const { bank, amount_paise: paise, rules } = stored as ActTerms; // As `readTerms` made them.
  // The key of this request names the proposal, or nothing.
  const permitted = { ...call, idempotencyKey: undefined, permit };
  const requester = toRequester(permitted);
  switch (kind) {
    case "bank_change":
      return await updateFirm(ctx, requester, { firm_id: firmId, bank: bank ?? null });
    case "withdrawal":
      return await withdrawMoney(ctx, permitted, { firm_id: firmId, amount_paise: paise ?? 0 });
    case "offboarding":
      return await offboardFirm(ctx, requester, { firmId, mode: "drain", ...ctx });
    case "rules":
      if (!rules) throw new Error("rules were proposed");
      return await setDeskRules(ctx, permitted, { ...rules, findKeys: findActiveKeys });
  }
}

/** What both keys may see of what is decided. */
function describeTerms({ kind, terms }: ProposedTerms, result: object): DeskApproval["shown"] {
  const { amount_paise, rules } = terms as ActTerms; // As `readTerms` made them.
  if (kind !== "bank_change") {
    return { ...(amount_paise !== undefined && { amount_paise }), ...(rules && { rules }) };
  }
  const { bank } = result as Pick<DeskApproval["shown"], "bank">; // The firm, as it would be.
  return { bank: bank ?? null };
}
