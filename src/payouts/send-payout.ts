import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../approvals/kind.ts";
import { lockPayees } from "../firms/payees.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import { utrForm } from "../kernel/utr.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, violatedConstraint } from "../platform/postgres.ts";
import { movePayout } from "./move-payout.ts";
import { askBank } from "./ask-bank.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { accountOf, holdOf, twoOperatorsFromPaise } from "./rules.ts";
import { listPayoutsById, lockPayouts, type PayoutRow, setPayouts } from "./store.ts";

export type SendPayout = {
  readonly payoutId: string;
  readonly utr: string;
  /** From which amount on live money takes two operators. */
  readonly twoFromPaise?: number;
};

/**
 * The operator has sent the money, and the bank named it. Large live amounts take the word of a second
 * operator, with the same reference.
 */
export async function sendPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { payoutId, utr, twoFromPaise = twoOperatorsFromPaise }: SendPayout,
): Promise<"proposed" | "sent"> {
  if (!utrForm.test(utr)) {
    throw unprocessable({ path: "utr", problem: "must be 12 to 22 capitals and digits" });
  }
  const [row] = await listPayoutsById(ctx.db, [payoutId]);
  if (!row) throw new Failure("not_found", `no payout ${payoutId}`);
  if (row.state === "sent" && row.utr === utr) return "sent"; // A command that was run again.
  const sending = actWithApproval(ctx, operator, {
    kind: payoutSending,
    environment: row.environment,
    subjectId: payoutId,
    terms: { utr, paise: row.paise },
    people: row.paise >= twoFromPaise ? 2 : 1,
  });
  const { outcome } = await sending.catch((error: unknown) => {
    if (violatedConstraint(error) !== "payouts_utr") throw error;
    throw new Failure("conflict", `${utr} names another payout`, {
      detail: { reason: "utr_used" },
    });
  });
  return outcome === "done" ? "sent" : "proposed";
}

export const payoutSending: ApprovalKind<{ readonly utr: string; readonly paise: number }> = {
  name: "payout.send",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId, terms: { utr } }, now) {
    const [row] = await lockPayouts(tx, [subjectId]);
    if (!row) throw new Failure("not_found", `no payout ${subjectId}`);
    const { after: free, changes } = await freeOfHolds(tx, row, now);
    const remitted = { remitted_with: row.payout_id, remitted_paise: row.paise };
    const sent = { ...movePayout(free, "send", { now }), utr, ...remitted };
    const { firm_id, paise, rail, ifsc, last4 } = sent;
    return {
      summary: `${paise} paise to ${firm_id}, account ${ifsc} …${last4}, were sent by ${rail} as ${utr}`,
      valuePaise: paise,
      facts: { firm_id, paise, ifsc, last4 },
      proposal: [proposed(row)],
      async carryOut() {
        await setPayouts(tx, [sent]);
        await askBank(tx, [sent], now);
        const told = changeOfPayout({ action: "send", before: free, after: sent });
        return { changes: [...changes, told] };
      },
    };
  },
};

/** The payout as it goes out now, to the account of now; refused while something holds it. */
async function freeOfHolds(
  tx: Tx,
  row: PayoutRow,
  now: Date,
): Promise<{ readonly after: PayoutRow; readonly changes: readonly Change[] }> {
  const payee = (await lockPayees(tx, [row.firm_id], now)).get(row.firm_id);
  if (!payee) throw new Error("who is paid is a firm");
  const { environment } = row;
  const hold = holdOf(payee, { environment, ledgerSound: await ledgerIsSound(tx, now) });
  if (hold) {
    throw new Failure("conflict", `the payout is held: ${hold.reason}`, {
      detail: { reason: hold.reason, until: hold.until && istTimestamp(hold.until) },
    });
  }
  const account = accountOf(payee, environment);
  const current = { ...row, ifsc: account?.ifsc ?? null, last4: account?.last4 ?? null };
  if (row.state !== "held") return { after: current, changes: [] };
  const after = movePayout(current, "release", { now });
  return { after, changes: [changeOfPayout({ action: "release", before: row, after })] };
}

/** Nothing of the payout has changed yet, but who wants to is on record. */
function proposed(row: PayoutRow): Change {
  const { event: _event, ...change } = changeOfPayout({ action: "send", before: row, after: row });
  return { ...change, action: "payout.propose_send" };
}
