import { lockPayees } from "../firms/bank-accounts.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { refuseBadUtr } from "../kernel/ids.ts";
import { readSteps } from "../kernel/lifecycle.ts";
import { rupeesText } from "../kernel/money.ts";
import { istTimestamp } from "../kernel/time.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import { entriesAbout } from "../ledger/read-books.ts";
import { assertWritten, balanceMoved } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import { actWithApproval, tellOutcome, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type ShownPart, validHoursUsual } from "../operators/approval-kind.ts";
import {
  aloneLimitFactor,
  twoPeopleFromPaise,
  approvalRequired,
} from "../operators/approval-rules.ts";
import { findApproved } from "../operators/list-approvals.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { buildResendEarning } from "./decide-payouts.ts";
import { buildPayoutChange, movePayout, refuseUnfunded } from "./move-payout.ts";
import type { WholePayout } from "./read-payouts.ts";
import { findHold, resolveAccount, utrUsed, noPayout } from "./rules.ts";
import { askBank, schedulePayouts } from "./schedule-payouts.ts";
import {
  listLines,
  listPayoutsById,
  lockPayoutChain,
  lockPayouts,
  type PayoutRow,
  setPayouts,
} from "./store.ts";

type SendPayout = {
  readonly payoutId: string;
  readonly utr: string;
  /** From which amount on live money takes two operators. */
  readonly twoFromPaise?: number;
};

/**
 * Records that the operator sent the money under the bank's UTR. Large live amounts take a second
 * operator, who gives the same UTR.
 */
export async function sendPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { payoutId, utr, twoFromPaise = twoPeopleFromPaise }: SendPayout,
): Promise<ProposedAct | { readonly outcome: "sent" }> {
  refuseBadUtr("utr", utr);
  const [row] = await listPayoutsById(ctx.db, [payoutId]);
  if (!row) throw noPayout(payoutId);
  if (row.state === "sent" && row.utr === utr) return { outcome: "sent" }; // The command was run before.
  const isLarge = row.environment === "live" && row.paise >= twoFromPaise;
  // Signed-in people approve large sums before they leave; without sign-in, the second name must give
  // the same UTR.
  const isReleased = isLarge && operator.role !== undefined;
  const sending = actWithApproval(ctx, operator, {
    kind: payoutSending,
    environment: row.environment,
    subjectId: payoutId,
    terms: { utr, paise: row.paise, ...(isReleased && { released: true }) },
    people: isLarge && !isReleased ? 2 : 1,
    ...(!isReleased && { alonePerDayPaise: twoFromPaise * aloneLimitFactor }),
  });
  const acted = await sending.catch((error: unknown) => {
    if (violatedConstraint(error) !== "payouts_utr") throw error;
    throw utrUsed(`${utr} names another payout`);
  });
  return tellOutcome(acted, "sent");
}

type SendTerms = {
  readonly utr: string;
  readonly paise: number;
  /** Whether it needs an approved release. */
  readonly released?: boolean;
};

export const payoutSending: ApprovalKind<SendTerms> = {
  name: "payout.send",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId, terms: { utr, released = false } }, now) {
    const { row, free, changes, facts } = await lockUnheldPayout(tx, subjectId, now);
    const { account_id } = facts;
    if (released) await refuseUnreleased(tx, subjectId, facts);
    const remitted = { remitted_with: row.payout_id, remitted_paise: row.paise };
    const sent = { ...movePayout(free, "send", { now }), utr, account_id, ...remitted };
    const { firm_id, paise, rail, ifsc, last4 } = sent;
    return {
      summary: `${rupeesText(paise)} rupees to ${firm_id}, account ${ifsc} …${last4}, were sent by ${rail} as ${utr}`,
      valuePaise: paise,
      facts,
      shows: [showPayout(sent)],
      proposal: [buildProposalChange(row, "propose_send")],
      async carryOut() {
        await setPayouts(tx, [sent]);
        await askBank(tx, [sent], now);
        const told = buildPayoutChange({ action: "send", before: free, after: sent });
        return { changes: [...changes, told] };
      },
    };
  },
};

/** The approval of two people that a large sum may be sent. */
export const payoutRelease: ApprovalKind<{ readonly paise: number }> = {
  name: "payout.release",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId }, now) {
    const { row, facts } = await lockUnheldPayout(tx, subjectId, now);
    const { firm_id, paise, ifsc, last4 } = facts;
    return {
      summary: `${rupeesText(paise)} rupees may leave to ${firm_id}, account ${ifsc} …${last4}`,
      valuePaise: paise,
      facts,
      shows: [showPayout(row)],
      proposal: [buildProposalChange(row, "propose_release")],
      carryOut: async () => ({ changes: [buildProposalChange(row, "approve_release")] }),
    };
  },
};

/** Proposes the release of a payout, or approves another's proposal. */
export async function releasePayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  payoutId: string,
): Promise<ProposedAct | { readonly outcome: "released" }> {
  const [row] = await listPayoutsById(ctx.db, [payoutId]);
  if (!row) throw noPayout(payoutId);
  const acted = await actWithApproval(ctx, operator, {
    kind: payoutRelease,
    environment: row.environment,
    subjectId: payoutId,
    terms: { paise: row.paise },
    people: 2,
  });
  return tellOutcome(acted, "released");
}

async function refuseUnreleased(tx: Tx, payoutId: string, facts: object): Promise<void> {
  const approved = await findApproved(tx, payoutRelease, [{ subjectId: payoutId, facts }]);
  if (approved.has(payoutId)) return;
  const message = "two people must approve that this leaves: payouts release";
  throw approvalRequired(message, payoutRelease.name);
}

/** Locks a payout without holds, and returns the facts for its approval. */
async function lockUnheldPayout(tx: Tx, payoutId: string, now: Date) {
  const [row] = await lockPayouts(tx, [payoutId]);
  if (!row) throw noPayout(payoutId);
  const { after: free, changes, account_id } = await releaseOrRefuse(tx, row, now);
  movePayout(free, "send", { now }); // Refuses a payout that is not scheduled.
  const { firm_id, paise, ifsc, last4 } = free;
  return { row, free, changes, facts: { firm_id, paise, ifsc, last4, account_id } };
}

/** Releases a held payout to the payee's current account; refused while a hold applies. */
async function releaseOrRefuse(
  tx: Tx,
  row: PayoutRow,
  now: Date,
): Promise<{
  readonly after: PayoutRow;
  readonly changes: readonly Change[];
  readonly account_id: string | null;
}> {
  const payee = (await lockPayees(tx, [row.firm_id], now)).get(row.firm_id);
  if (!payee) throw new Error("who is paid is a firm");
  const { environment } = row;
  const hold = findHold(payee, { environment, ledgerSound: await ledgerIsSound(tx, now) });
  if (hold) {
    throw new Failure("conflict", `the payout is held: ${hold.reason}`, {
      detail: { reason: hold.reason, until: hold.until && istTimestamp(hold.until) },
    });
  }
  const account = resolveAccount(payee, environment);
  const current = { ...row, ifsc: account?.ifsc ?? null, last4: account?.last4 ?? null };
  const account_id = account?.accountId ?? null;
  if (row.state !== "held") return { after: current, changes: [], account_id };
  const after = movePayout(current, "release", { now });
  const told = buildPayoutChange({ action: "release", before: row, after });
  return { after, changes: [told], account_id };
}

/** Audits a proposal or an approval; the payout itself does not change. */
function buildProposalChange(
  row: PayoutRow,
  action: "propose_send" | "propose_release" | "approve_release",
): Change {
  const { event: _event, ...change } = buildPayoutChange({
    action: "send",
    before: row,
    after: row,
  });
  return { ...change, action: `payout.${action}` };
}

/** Sends a returned payout again, as another payout with the same lines. */
export async function resendPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  payoutId: string,
): Promise<Omit<WholePayout, "lines" | "allowed_actions">> {
  const now = ctx.now();
  const resending = ctx.db.transaction(async (tx) => {
    const [known] = await listPayoutsById(tx, [payoutId]);
    if (!known) throw noPayout(payoutId);
    if (known.settlement_id !== null) await lockPayoutChain(tx, known.settlement_id);
    const [row] = await lockPayouts(tx, [payoutId]);
    if (!row) throw new Error("a payout stays");
    const lines = await listLines(tx, [payoutId]);
    const earning = buildResendEarning(row, { lines, isReversed: await isReversed(tx, row) });
    const { payouts, entries, changes } = await schedulePayouts(tx, [earning], now);
    const [resent] = payouts;
    if (!resent || resent.paise !== row.paise) throw balanceMoved();
    const written = await postEntries(tx, entries, now);
    refuseUnfunded(written);
    assertWritten(written);
    await recordChanges(tx, operator, changes, now);
    return { ...resent, history: readSteps(resent.history) };
  });
  return await resending.catch((error: unknown) => {
    if (violatedConstraint(error) !== "payouts_resent_once") throw error;
    throw new Failure("conflict", "this payout was sent again before", {
      detail: { reason: "already_resent" },
    });
  });
}

async function isReversed(
  tx: Tx,
  { environment, settlement_id: subject }: PayoutRow,
): Promise<boolean> {
  if (subject === null) return false;
  return (await entriesAbout(tx, { environment, kind: "reversal", subject })).length > 0;
}

function showPayout({
  payout_id,
  firm_id,
  paise: amount_paise,
  rail,
  ifsc,
  last4: account_last4,
  settlement_id,
}: PayoutRow): ShownPart {
  const row = { payout_id, firm_id, amount_paise, rail, ifsc, account_last4, settlement_id };
  return { title: "Payment", rows: [row] };
}
