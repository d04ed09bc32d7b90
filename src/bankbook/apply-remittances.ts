import type { Environment } from "../kernel/caller.ts";
import { sumPaise } from "../kernel/money.ts";
import { answerLines, findFileLinesByLead } from "../payouts/answer-files.ts";
import {
  answerRemittances,
  findRemittancesByUtr,
  lockRemittedPayouts,
  type RemittedPayout,
  type ShownRemittance,
} from "../payouts/remittances.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { findExplained } from "./hand-entries.ts";
import {
  type ExplainedEntry,
  filterByPlan,
  type LineOutcome,
  type PlannedLine,
  requeue,
  type RequeuedLine,
} from "./line-outcomes.ts";
import { buildReference } from "./repeat-rules.ts";
import type { BankLineRow } from "./store.ts";

/** Pays or returns the remittances that lines tell of. */
export async function applyRemittances(
  tx: Tx,
  environment: Environment,
  lines: readonly BankLineRow[],
  now: Date,
) {
  const own = filterByPlan(lines, "remittance");
  const leadIds = [...new Set(own.map(({ plan }) => plan.lead_id))];
  const locked = await lockRemittedPayouts(tx, leadIds);
  const byLead = Map.groupBy(locked, (row) => row.remitted_with ?? "");
  const explained = await findExplained(
    tx,
    environment,
    locked.map(({ payout_id }) => payout_id),
  );
  // The file may have been voided since, and its payouts may be in another file.
  const counting = await findFileLinesByLead(tx, leadIds);
  // A bank may give a whole batch one UTR; the first payout keeps it.
  const taken = await findRemittancesByUtr(
    tx,
    environment,
    own.flatMap(({ utr }) => utr ?? []),
  );
  const owners = new Map([...taken].map(([utr, { leadId }]) => [utr, leadId]));
  const stateByLead = new Map([...byLead].map(([leadId, [first]]) => [leadId, first?.state]));
  const outcomes: LineOutcome[] = [];
  const refused: RequeuedLine[] = [];
  const shown: ShownRemittance[] = [];
  // Debits first: a bank may list a return before the debit of the same day.
  for (const line of own.toSorted(
    (a, b) => rankDirection(a) - rankDirection(b) || a.ordinal - b.ordinal,
  )) {
    const { lead_id: leadId, file_id: fileId, outcome } = line.plan;
    if (fileId !== null && counting.get(leadId)?.file_id !== fileId) {
      refused.push(requeue(line, "voided_file"));
      continue;
    }
    const payouts = byLead.get(leadId) ?? [];
    const state = stateByLead.get(leadId);
    const explains = toExplainedEntries(payouts, outcome, state);
    const isNew = explains.every(({ kind, subject }) => !explained.has(`${kind} ${subject}`));
    const isAnswer = outcome === "paid" ? isUnderWay(state) : isUnderWay(state) || state === "paid";
    const isKnown = outcome === "paid" && state === "paid";
    if (
      sumPaise(payouts.map(({ paise }) => paise)) !== line.paise ||
      !isNew ||
      !(isAnswer || isKnown)
    ) {
      refused.push(requeue(line, "already_answered"));
      continue;
    }
    if (isAnswer) shown.push(toShownRemittance(line, payouts, owners));
    for (const { kind, subject } of explains) explained.add(`${kind} ${subject}`);
    stateByLead.set(leadId, outcome);
    const firmId = payouts[0]?.firm_id;
    outcomes.push({ line, state: "matched", reason: outcome, firmId, explains });
  }
  const answered = await answerRemittances(tx, locked, shown, now);
  const ofFiles = await answerLines(tx, shown);
  return {
    ...answered,
    changes: [...answered.changes, ...ofFiles],
    answered: shown.map(({ leadId }) => leadId),
    outcomes,
    refused,
  };
}

const rankDirection = ({ direction }: BankLineRow) => (direction === "debit" ? 0 : 1);

function isUnderWay(state: RemittedPayout["state"] | undefined): boolean {
  return state === "instructed" || state === "sent";
}

/** A return before the payment was booked has no entry: the pending one is voided. */
function toExplainedEntries(
  payouts: readonly RemittedPayout[],
  outcome: "paid" | "returned",
  state: RemittedPayout["state"] | undefined,
): ExplainedEntry[] {
  if (outcome === "returned" && state !== "paid") return [];
  const kind = outcome === "paid" ? "payout" : "payout_return";
  return payouts.map(({ payout_id }) => ({ kind, subject: payout_id }));
}

function toShownRemittance(
  { plan, utr, line_id }: PlannedLine<"remittance">,
  [first]: readonly RemittedPayout[],
  owners: Map<string, string>,
): ShownRemittance {
  const { lead_id: leadId, outcome } = plan;
  if (outcome === "returned") return { leadId, outcome, reason: "returned_by_bank" };
  const isFree = utr !== null && (owners.get(utr) ?? leadId) === leadId;
  if (isFree) owners.set(utr, leadId);
  return { leadId, outcome, utr: first?.utr ?? (isFree ? utr : buildReference(line_id)) };
}
