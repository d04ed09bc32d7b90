// A second account that a firm pays from, such as a credit or overdraft account. Money that comes from it
// is the firm's, as from the account that the bank has confirmed; no payout goes to it.
//
//   add       a person enters it: it proves nothing yet
//   confirm   another person approves it, from the bank's letter
//   doubt     the firm's name or an identifier changes: it proves nothing until it is confirmed again
//   remove    one person takes it away

import { findRemitters } from "../firms/bank-accounts.ts";
import { requireAnyFirm, lockTradingFirms, noFirm, refuseOffboarded } from "../firms/find-firms.ts";
import type { LeavingFirm } from "../firms/offboard-firm.ts";
import {
  findAccountNoProblem,
  findIfscProblem,
  maskAccountNo,
  normalizeIdentifier,
} from "../kernel/identifiers.ts";
import { type Remitter } from "../firms/rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, refuseBadReason } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { actWithApproval, tellOutcome, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { open, seal } from "../platform/seal.ts";
import {
  deletePayingAccount,
  findPayingAccount,
  insertPayingAccount,
  listPayingAccounts,
  lockPayingAccount,
  payingAccountColumn,
  type PayingAccountRow,
  setConfirmed,
} from "./store.ts";

type GivenAccount = {
  readonly firmId: string;
  readonly accountNo: string;
  readonly ifsc: string;
  readonly name: string;
  readonly reason: string;
};

/** Adds the second account of a firm; in live it counts once another person has approved it. */
export async function addPayingAccount(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  given: GivenAccount,
): Promise<ProposedAct | { readonly outcome: "added" }> {
  const { firmId, reason } = given;
  refuseBadReason(reason);
  const { environment } = await requireAnyFirm(ctx.db, firmId);
  const row = await ctx.db.transaction(async (tx) => await keepAccount(tx, ctx, operator, given));
  const acted = await actWithApproval(ctx, operator, {
    kind: payingAccountAddition,
    environment,
    subjectId: firmId,
    terms: { reason, entered_at: row.entered_at.toISOString() },
    people: 2,
  });
  return tellOutcome(acted, "added");
}

/** What was entered and not confirmed is entered anew; the same again changes nothing. */
async function keepAccount(
  tx: Tx,
  { now, sealKey }: Pick<Context, "now" | "sealKey">,
  operator: Actor,
  { firmId, accountNo, ifsc, name }: GivenAccount,
): Promise<PayingAccountRow> {
  const account = { no: accountNo.replace(/[\s-]+/g, ""), ifsc: normalizeIdentifier(ifsc) };
  refuseBadAccount(account.no, account.ifsc);
  const firm = (await tx.run(lockTradingFirms([firmId]))).get(firmId);
  if (!firm) throw noFirm(firmId);
  refuseOffboarded(firm);
  const [known] = await lockPayingAccount(tx, [firmId]);
  if (known) {
    const isSame = openPayingAccount(known, sealKey) === account.no && known.ifsc === account.ifsc;
    if (isSame) return known;
    if (known.confirmed_at !== null) throw hasPayingAccount(known);
    await deletePayingAccount(tx, firmId);
  }
  const row: PayingAccountRow = {
    firm_id: firmId,
    account_sealed: seal(account.no, toSealPurpose(firmId), sealKey),
    last4: account.no.slice(-4),
    ifsc: account.ifsc,
    name: name.trim().replace(/\s+/g, " "),
    entered_by: operator.id,
    entered_at: now(),
    confirmed_by: null,
    confirmed_at: null,
  };
  await insertPayingAccount(tx, [row]);
  return row;
}

function refuseBadAccount(accountNo: string, ifsc: string): void {
  const problems = [
    { path: "account_no", problem: findAccountNoProblem(accountNo) },
    { path: "ifsc", problem: findIfscProblem(ifsc) },
  ].flatMap(({ path, problem }) => (problem === undefined ? [] : [{ path, problem }]));
  if (problems.length > 0) throw unprocessable(...problems);
}

export const payingAccountAddition: ApprovalKind<{
  readonly reason: string;
  readonly entered_at: string;
}> = {
  name: "paying_account.add",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId: firmId, terms: { reason } }, now): Promise<Prepared> {
    await tx.run(lockTradingFirms([firmId])); // Before its account, as whoever changes a firm does.
    const firm = await requireAnyFirm(tx, firmId);
    const [row] = await lockPayingAccount(tx, [firmId]);
    if (!row) throw noPayingAccount();
    const { last4, ifsc, name, entered_at } = row;
    const masked = maskAccountNo(last4);
    return {
      summary: `money from account ${masked} at ${ifsc}, held by ${name}, counts as that of ${firm.legal_name} (${firmId}): ${reason}`,
      valuePaise: null,
      facts: {
        firm_id: firmId,
        legal_name: firm.legal_name,
        identifiers: [firm.iec, firm.pan, firm.gstin],
        masked,
        ifsc,
        name,
        entered_at: entered_at.toISOString(),
      },
      shows: [
        { title: "Account", rows: [{ firm_id: firmId, account: masked, ifsc, name, reason }] },
      ],
      async carryOut(actor) {
        const after = { ...row, confirmed_by: actor.id, confirmed_at: now };
        await setConfirmed(tx, after);
        return { changes: [buildChange("add_paying_account", firm, after)] };
      },
    };
  },
};

/** Takes the second account of a firm away; what came from it stays. */
export async function removePayingAccount(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { firmId, reason }: { readonly firmId: string; readonly reason: string },
): Promise<{ readonly outcome: "removed" }> {
  refuseBadReason(reason);
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const firm = await requireAnyFirm(tx, firmId);
    const [row] = await lockPayingAccount(tx, [firmId]);
    if (!row) throw noPayingAccount();
    await deletePayingAccount(tx, firmId);
    const change = buildChange("remove_paying_account", firm, row, reason);
    await recordChanges(tx, operator, [change], now);
    return { outcome: "removed" } as const;
  });
}

type ShownPayingAccount = {
  readonly firm_id: string;
  readonly account_no_masked: string;
  readonly ifsc: string;
  readonly name: string;
  readonly entered_by: string;
  readonly entered_at: Date;
  readonly confirmed_by: string | null;
  readonly confirmed_at: Date | null;
};

export async function showPayingAccount(
  { db }: Pick<Context, "db">,
  firmId: string,
): Promise<ShownPayingAccount> {
  const row = await findPayingAccount(db, firmId);
  if (!row) throw noPayingAccount();
  const { account_sealed: _sealed, last4, ...shown } = row;
  return { ...shown, account_no_masked: maskAccountNo(last4) };
}

/** From where firms send money: what the bank has confirmed, and what two people have. */
export async function findSenders(
  db: Db,
  firmIds: readonly string[],
  sealKey: Buffer,
): Promise<ReadonlyMap<string, Remitter>> {
  const remitters = await findRemitters(db, firmIds, sealKey);
  const rows = await listPayingAccounts(db, [...remitters.keys()]);
  const second = new Map(rows.map((row) => [row.firm_id, openPayingAccount(row, sealKey)]));
  return new Map(
    [...remitters].map(([firmId, remitter]) => {
      const account = second.get(firmId);
      const accounts = account === undefined ? [] : [account];
      return [firmId, { ...remitter, accounts: [...remitter.accounts, ...accounts] }];
    }),
  );
}

/** The bank's letter was about the firm as it was. */
export async function doubtPayingAccount(tx: Tx, firm: ChangedFirm): Promise<readonly Change[]> {
  const [row] = await lockPayingAccount(tx, [firm.firm_id]);
  if (!row || row.confirmed_at === null) return [];
  const after = { ...row, confirmed_by: null, confirmed_at: null };
  await setConfirmed(tx, after);
  return [buildChange("doubt_paying_account", firm, after)];
}

/** A firm that leaves takes its account number with it. */
export async function forgetPayingAccount(
  tx: Tx,
  _actor: Actor,
  { firmId }: LeavingFirm,
): Promise<readonly Change[]> {
  await deletePayingAccount(tx, firmId);
  return [];
}

/** The sealed account numbers, for the change of the master key. */
export function sealedPayingAccounts({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "second accounts of firms",
    list: async (after, limit) => {
      const rows = await payingAccountColumn.list(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: toSealPurpose(row.id) }));
    },
    set: (rows) => payingAccountColumn.set(db, rows),
  };
}

function toSealPurpose(firmId: string): string {
  return `second account of ${firmId}`;
}

function openPayingAccount(
  { firm_id, account_sealed }: Pick<PayingAccountRow, "firm_id" | "account_sealed">,
  sealKey: Buffer,
): string {
  return open(account_sealed, toSealPurpose(firm_id), sealKey);
}

function noPayingAccount(): Failure {
  return new Failure("not_found", "the firm has no second account");
}

function hasPayingAccount({ last4 }: PayingAccountRow): Failure {
  const message = `the firm has a second account, ${maskAccountNo(last4)}: remove that first`;
  return new Failure("conflict", message, { detail: { reason: "has_paying_account" } });
}

type ChangedFirm = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly version: number;
};

function buildChange(
  action: "add_paying_account" | "doubt_paying_account" | "remove_paying_account",
  { environment, desk_id: deskId, firm_id: firmId, version }: ChangedFirm,
  { last4, ifsc, entered_by, confirmed_by }: PayingAccountRow,
  reason: string | null = null,
): Change {
  const shown = { account_no_masked: maskAccountNo(last4), ifsc, entered_by, confirmed_by };
  return {
    environment,
    deskId,
    firmId,
    action: `firm.${action}`,
    entity: { type: "firm", id: firmId, version, href: `/v1/firms/${firmId}` },
    after: action === "remove_paying_account" ? { reason } : shown,
  };
}
