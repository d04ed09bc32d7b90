// Schedules payouts and reviews unsent ones at intervals, to begin and end holds. The worker sends
// sandbox money itself; live money is sent by an operator, and the worker only updates its holds.

import { lockPayees, findPayees } from "../firms/bank-accounts.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { addPaise, type PaiseSum } from "../kernel/money.ts";
import { ledgerIsSound, ledgerWasChecked } from "../ledger/check-ledger.ts";
import { findDues } from "../ledger/read-books.ts";
import { assertWritten, type Entry } from "../ledger/rules.ts";
import { resolveEntries } from "../ledger/write-books.ts";
import { askOutside, isPortUp } from "../outside/ask.ts";
import type { AnsweredQuestion } from "../outside/question-rules.ts";
import { payoutScenarios } from "../outside/scenario-rules.ts";
import { takeScenarioFor, takeScenarios } from "../outside/scenarios.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { findRailLimits } from "../taxes/taxes.ts";
import {
  answerPayout,
  divideEarnings,
  type DividedEarning,
  type Earning,
  buildResolution,
  buildPayoutEntry,
  reviewPayouts,
  buildPayout,
} from "./decide-payouts.ts";
import { buildPayoutChange } from "./move-payout.ts";
import {
  claimUnsent,
  hasUnsent,
  insertLines,
  insertPayouts,
  lockRemitted,
  type PayoutRow,
  setPayoutsLater,
} from "./store.ts";

/** The caller writes the entries with its own and records the changes. */
type ScheduledPayouts = {
  readonly payouts: readonly PayoutRow[];
  /** What is not paid because it was owed; the books set it off in the set of these entries. */
  readonly setOffByFirm: ReadonlyMap<string, PaiseSum>;
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/**
 * Inserts payouts; their entries hold the money in the books. A firm's dues come first: what it owes is
 * not paid, and an earning that is owed as a whole makes no payout.
 */
export async function schedulePayouts(
  tx: Tx,
  earnings: readonly Earning[],
  now: Date,
): Promise<ScheduledPayouts> {
  const [first] = earnings;
  if (!first) return { payouts: [], setOffByFirm: new Map(), entries: [], changes: [] };
  const firmIds = [...new Set(earnings.map(({ firmId }) => firmId))];
  const [payees, limits, owed] = await tx.pipeline([
    findPayees(firmIds, now),
    findRailLimits(first.environment, now),
    findDues(first.environment, firmIds),
  ]);
  const divided = divideEarnings(earnings, new Map(owed));
  const paid = divided.filter(({ paise }) => paise > 0);
  const payouts = paid.map((earning) => {
    const payee = payees.get(earning.firmId);
    if (!payee) throw new Error("who earned something is a firm");
    return buildPayout(earning, { payee, limits, now });
  });
  const lines = payouts.flatMap(({ payout_id }, at) =>
    (paid[at]?.lines ?? []).map((line) => ({ ...line, payout_id })),
  );
  if (payouts.length > 0) tx.defer(insertPayouts(payouts));
  if (lines.length > 0) tx.defer(insertLines(lines));
  tx.added("payouts", payouts.length);
  return {
    payouts,
    setOffByFirm: sumSetOffs(earnings, divided),
    entries: payouts.map(buildPayoutEntry),
    changes: payouts.map((after) => buildPayoutChange({ action: "schedule", before: null, after })),
  };
}

/** What was set off now, by firm; what was set off before is not counted again. */
function sumSetOffs(
  earnings: readonly Earning[],
  divided: readonly DividedEarning[],
): Map<string, PaiseSum> {
  const sums = new Map<string, PaiseSum>();
  for (const [at, { firmId, setOffPaise }] of divided.entries()) {
    const paise = setOffPaise - (earnings[at]?.setOffPaise ?? 0);
    if (paise > 0) sums.set(firmId, addPaise(sums.get(firmId) ?? 0, paise));
  }
  return sums;
}

const setSizeMax = 200;
const payoutWorker: Actor = { kind: "worker", id: "payouts", requestId: null };

/** Reviews one set of unsent payouts. */
export async function sendDuePayouts(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  if (!(await hasUnsent(ctx.db, now))) return "idle";
  // Waits for the first check of the ledger after the start.
  if (!(await ledgerWasChecked(ctx.db))) return "idle";
  const ledgerSound = await ledgerIsSound(ctx.db, now);
  const bankUp = await isPortUp(ctx.db, "sandbox", "bank");
  const limits = await ctx.db.run(findRailLimits("sandbox", now));
  const look = async (tx: Tx, claimed: readonly PayoutRow[]): Promise<void> => {
    const payees = await lockPayees(tx, [...new Set(claimed.map((row) => row.firm_id))], now);
    const findPayee = (firmId: string) => {
      const payee = payees.get(firmId);
      if (!payee) throw new Error("who is paid is a firm");
      return payee;
    };
    const looked = reviewPayouts(claimed, findPayee, { ledgerSound, bankUp, limits, now });
    const rows = looked.map(({ after }) => after);
    setPayoutsLater(tx, rows);
    await askBank(
      tx,
      rows.filter((row) => row.state === "sent"),
      now,
    );
    await recordChanges(
      tx,
      payoutWorker,
      looked.flatMap(({ changes }) => changes),
      now,
    );
  };
  const done = await workInParts(offenders, (choice, note) =>
    ctx.db.transaction(async (tx) => {
      const claimed = await claimUnsent(tx, now, { limit: setSizeMax, ...choice });
      note(claimed.map((row) => row.payout_id));
      if (claimed.length > 0) await look(tx, claimed);
      return claimed.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";
}

/** Asks the bank about sent money: one question per remittance, about its lead payout. */
export async function askBank(tx: Tx, left: readonly PayoutRow[], now: Date): Promise<void> {
  const sent = left.filter((row) => row.remitted_with === row.payout_id);
  const sandboxed = sent.filter((row) => row.environment === "sandbox");
  const scenarios = await tx.run(
    takeScenarios("sandbox", {
      deskIds: sandboxed.map((row) => row.desk_id),
      wanted: payoutScenarios,
    }),
  );
  await tx.run(
    askOutside(
      sent.map((row) => ({
        environment: row.environment,
        deskId: row.desk_id,
        port: "bank",
        kind: "payout",
        subjectId: row.payout_id,
        facts: {
          rail: row.rail,
          utr: row.utr ?? "",
          paise: row.remitted_paise ?? row.paise,
          ifsc: row.ifsc ?? "",
          last4: row.last4 ?? "",
          scenario: takeScenarioFor(scenarios, row.desk_id),
        },
      })),
      now,
    ),
  );
}

/** Applies the bank's answers: a payout is paid, or returned to the firm's balance. */
export async function applyPayments(
  tx: Tx,
  actor: Actor,
  answered: readonly AnsweredQuestion<"payout">[],
  now: Date,
): Promise<void> {
  const said = new Map(answered.map((question) => [question.subject_id, question.answer]));
  const sent = (await lockRemitted(tx, [...said.keys()])).filter((row) => row.state === "sent");
  if (sent.length === 0) return;
  const moved = sent.map((before) =>
    answerPayout(before, said.get(before.remitted_with ?? ""), now),
  );
  setPayoutsLater(
    tx,
    moved.map(({ after }) => after),
  );
  const resolutions = moved.map(({ after }) => buildResolution(after));
  assertWritten(await resolveEntries(tx, resolutions, now));
  await recordChanges(tx, actor, moved.map(buildPayoutChange), now);
}
