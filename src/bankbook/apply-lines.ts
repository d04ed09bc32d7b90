// Applies the lines of a statement, in one transaction and in the order of locks:
//
//   remittances   are paid or returned; their lines in payout files are answered
//   deposits      become their firm's balance and fund the deal they are for, unless a person has
//                 entered them by hand
//   sent back     a debit that confirms a return by an operator
//   the queue     gets the rest, booked as unmatched until an operator decides
//
// The plan of a line was made when the file was received. It is checked again under locks: a line whose
// plan no longer holds goes to the queue.

import { findTradingFirms, type TradingFirm } from "../firms/find-firms.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { advance } from "../kernel/lifecycle.ts";
import { sumPaise } from "../kernel/money.ts";
import { assertWritten, type Entry } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { dropQuestions } from "../outside/ask.ts";
import { answerLines, findFileLinesByLead } from "../payouts/answer-files.ts";
import { findDepositsByReference, findReversed } from "../payouts/deposits.ts";
import {
  answerRemittances,
  findRemittancesByUtr,
  lockRemittedPayouts,
  type RemittedPayout,
  type ShownRemittance,
} from "../payouts/remittances.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { assertHoldsWritten } from "../settlement/open-settlements.ts";
import { listPastDue } from "../settlement/unpaid-deals.ts";
import {
  claimUtrs,
  findExplained,
  findManualPayment,
  type HandEntry,
  listCreditUtrs,
} from "./hand-entries.ts";
import {
  type ExplainedEntry,
  filterByPlan,
  type LineOutcome,
  type PlannedLine,
  requeue,
  type RequeuedLine,
} from "./line-outcomes.ts";
import {
  type AwaitedDeal,
  findAwaited,
  type LockedReceivers,
  lockReceivers,
  type ReceivedMoney,
  takeMoney,
} from "./receive-money.ts";
import { buildReference, findRepeated } from "./repeat-rules.ts";
import { bankLineLifecycle, type LineReason, type QueueReason } from "./rules.ts";
import { type BankLineRow, insertExplained, listCounted, lockLines, setLines } from "./store.ts";

type AppliedLines = {
  readonly changes: readonly Change[];
  readonly rows: readonly BankLineRow[];
};

type LockedLines = {
  /** The lines of the statement, in its order. */
  readonly own: readonly BankLineRow[];
  /** Earlier lines that an operator sent back and that this statement may confirm. */
  readonly returning: readonly BankLineRow[];
};

/** Locks all lines by id in one statement, before the payouts and deals that they are about. */
export async function lockLinesToApply(
  tx: Tx,
  lines: readonly BankLineRow[],
): Promise<LockedLines> {
  const ids = lines.map(({ line_id }) => line_id);
  const back = filterByPlan(lines, "sent_back").map(({ plan }) => plan.line_id);
  const locked = await lockLines(tx, [...ids, ...back]);
  const byId = new Map(locked.map((line) => [line.line_id, line]));
  return {
    own: ids.flatMap((id) => byId.get(id) ?? []),
    returning: [...new Set(back)].flatMap((id) => byId.get(id) ?? []),
  };
}

/** The lines are locked, and so is the counting of lines. */
export async function applyLines(
  tx: Tx,
  environment: Environment,
  { own, returning }: LockedLines,
  now: Date,
): Promise<AppliedLines> {
  const { lines, repeated } = await dropRepeated(tx, environment, own);
  const remitted = await applyRemittances(tx, environment, lines, now);
  const deposited = await applyDeposits(tx, environment, lines, now);
  const sentBack = matchSentBack(lines, returning, now);
  const rest = await queueRest(tx, environment, [
    ...remitted.refused,
    ...deposited.refused,
    ...sentBack.refused,
  ]);
  const written = await writeBooks(
    tx,
    {
      resolutions: remitted.resolutions,
      entries: [...remitted.entries, ...rest.entries, ...sentBack.entries, ...deposited.entries],
    },
    now,
  );
  assertWritten(written.resolutions);
  assertHoldsWritten(written.entries);
  const outcomes = [
    ...remitted.outcomes,
    ...deposited.outcomes,
    ...sentBack.outcomes,
    ...rest.outcomes,
  ];
  const rows = outcomes.map(({ line, state, reason, firmId, dealId }) => ({
    ...line,
    state: advance(bankLineLifecycle, line.state, state === "matched" ? "match" : "queue"),
    reason,
    firm_id: firmId ?? null,
    deal_id: dealId ?? null,
    version: line.version + 1,
  }));
  const changed = [...rows, ...repeated, ...sentBack.returned];
  if (changed.length > 0) await setLines(tx, changed);
  const explained = outcomes.flatMap(({ line, explains }) =>
    explains.map((each) => ({ ...each, environment, line_id: line.line_id })),
  );
  if (explained.length > 0) await insertExplained(tx, explained);
  await dropQuestions(tx, { payout: remitted.answered, deal_funding: deposited.fundedIds });
  return { changes: [...remitted.changes, ...deposited.changes, ...rest.changes], rows };
}

/** Drops lines that an earlier file had; where that cannot be told, a line waits. */
async function dropRepeated(tx: Tx, environment: Environment, all: readonly BankLineRow[]) {
  const fresh = all.filter(({ state }) => state === "new");
  const days = [...new Set(fresh.map(({ day }) => day))];
  const found = findRepeated(fresh, await listCounted(tx, environment, days));
  const lines: BankLineRow[] = [];
  const repeated: BankLineRow[] = [];
  for (const line of fresh) {
    const repeat = found.get(line.line_id);
    if (!repeat) {
      lines.push(line);
      continue;
    }
    const again = { ...line, repeats_line_id: repeat.lineId };
    if (repeat.isSure) {
      const state = advance(bankLineLifecycle, line.state, "repeat");
      const reason: LineReason = "counted_before";
      repeated.push({ ...again, state, reason, version: line.version + 1 });
    } else {
      lines.push(requeue(again, "perhaps_counted"));
    }
  }
  return { lines, repeated };
}

function matchSentBack(
  lines: readonly BankLineRow[],
  returning: readonly BankLineRow[],
  now: Date,
) {
  const open = new Map(returning.map((line) => [line.line_id, line]));
  const outcomes: LineOutcome[] = [];
  const refused: RequeuedLine[] = [];
  const returned: BankLineRow[] = [];
  const entries: Entry[] = [];
  for (const line of filterByPlan(lines, "sent_back")) {
    const back = open.get(line.plan.line_id);
    if (back?.state !== "returning") {
      refused.push(requeue(line, "already_answered"));
      continue;
    }
    open.delete(back.line_id);
    const state = advance(bankLineLifecycle, back.state, "return");
    returned.push({ ...back, state, decided_at: now, version: back.version + 1 });
    entries.push(buildUnmatchedEntry(line, { kind: "refund", subject: back.line_id }));
    const explains = [{ kind: "refund", subject: back.line_id }];
    outcomes.push({ line, state: "matched", reason: "sent_back", explains });
  }
  return { outcomes, refused, returned, entries };
}

/** Books unmatched money, because the bank account has changed all the same. */
async function queueRest(tx: Tx, environment: Environment, lines: readonly BankLineRow[]) {
  const outcomes: LineOutcome[] = [];
  const entries: Entry[] = [];
  const queued: RequeuedLine[] = [];
  const explained = await findExplained(
    tx,
    environment,
    lines.flatMap(({ utr }) => utr ?? []),
  );
  for (const line of filterByPlan(lines, "queue")) {
    const known = await findManualPayment(tx, line);
    if (known && !explained.has(`payout ${known}`)) {
      explained.add(`payout ${known}`);
      const explains = [{ kind: "payout", subject: known }];
      outcomes.push({ line, state: "matched", reason: "known", explains });
      continue;
    }
    const kind = line.direction === "credit" ? "deposit" : "fee";
    const name = { kind, subject: line.line_id } as const;
    entries.push(buildUnmatchedEntry(line, name));
    outcomes.push({ line, state: "queued", reason: line.plan.reason, explains: [name] });
    queued.push(line);
  }
  return { outcomes, entries, changes: await buildQueueChanges(tx, queued) };
}

/**
 * Tells the desk of the firm that ids name that a line's money waits. Whose it is, is not known yet, so
 * nothing of its payer is told; and nothing at all of money that may have been told before.
 */
async function buildQueueChanges(tx: Tx, queued: readonly RequeuedLine[]): Promise<Change[]> {
  const told = queued.filter(({ plan }) => plan.reason !== "perhaps_counted");
  const named = new Set(told.flatMap(({ plan }) => plan.firm_id ?? []));
  const firms = await findTradingFirms(tx, [...named]);
  return told.flatMap(({ environment, line_id, version, paise, plan }) => {
    const firm = firms.get(plan.firm_id ?? "");
    if (!firm) return [];
    const { desk_id: deskId, firm_id: firmId } = firm;
    const href = `/v1/deposits?firm_id=${firmId}`;
    const data = { amount_paise: paise, reason: plan.reason };
    return {
      environment,
      deskId,
      firmId,
      action: "deposit.queue",
      entity: { type: "bank_line", id: line_id, version: version + 1, href },
      after: data,
      event: { name: "deposit.queued", from: null, to: "queued", data },
    };
  });
}

export function buildUnmatchedEntry(
  { environment, direction, paise }: Pick<BankLineRow, "environment" | "direction" | "paise">,
  name: { readonly kind: "deposit" | "fee" | "refund"; readonly subject: string },
): Entry {
  const nobodys = { kind: "unmatched_cash" } as const;
  const bank = { kind: "external_bank" } as const;
  const movement =
    direction === "credit"
      ? { from: bank, to: nobodys, paise }
      : { from: nobodys, to: bank, paise };
  return { environment, ...name, phase: "posted", movements: [movement] };
}

/** Pays or returns the remittances that lines tell of. */
async function applyRemittances(
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

// Money that lines of a statement bring becomes the balance of the firm that it came from, and funds the
// deals that it is for.
//
// The bank's time of a line decides whether money came in time, not when its statement is imported. So a
// deal that is past its deadline and waits for the statement is funded by what came before.

/** Takes the deposits of lines; the queue gets those that nothing takes any more. */
async function applyDeposits(
  tx: Tx,
  environment: Environment,
  lines: readonly BankLineRow[],
  now: Date,
) {
  const planned = filterByPlan(lines, "deposit");
  const named = planned.map(({ plan }) => ({ firmId: plan.firm_id, dealId: plan.deal_id }));
  const firmIds = named.map(({ firmId }) => firmId);
  const overdue = await listPastDue(tx, environment, { dueUntil: now, firmIds });
  const locked = await lockReceivers(tx, [...named, ...overdue]);
  const awaited = await findAwaited(tx, locked);
  const entered = matchHandEntries(lines, await claimUtrs(tx, environment, lines));
  const own = filterByPlan(entered.rest, "deposit");
  const known = await findDepositsByReference(tx, environment, own.map(toReference));
  // The UTR of a deposit that was reversed stays with it.
  const reversed = await findReversed(tx, environment, [...known.keys()]);
  const taken = new Set([...known.keys()].filter((reference) => !reversed.has(reference)));
  const outcomes: LineOutcome[] = [...entered.outcomes];
  const refused: RequeuedLine[] = [...entered.refused];
  const received: TimedMoney[] = [];
  const paid = new Set<string>();
  for (const line of own) {
    const { firm_id: firmId, deal_id: dealId, found_by: foundBy } = line.plan;
    const isReversed = reversed.has(toReference(line));
    const reference = isReversed ? buildReference(line.line_id) : toReference(line);
    const deal = dealId === null ? undefined : awaited.get(dealId);
    const isLate = deal !== undefined && deal.dueAt < line.value_at;
    const isWhole = deal?.paise === line.paise && !isLate && !paid.has(dealId ?? "");
    const obstacle = taken.has(reference)
      ? "reference_used"
      : findObstacle(locked.firms.get(firmId), isWhole, now);
    if (obstacle) {
      refused.push(requeue(line, obstacle));
      continue;
    }
    taken.add(reference);
    if (isWhole && dealId !== null) paid.add(dealId);
    const { paise, line_id: lineId, value_at: valueAt } = line;
    received.push({ firmId, dealId, paise, reference, lineId, valueAt });
    const reason: LineReason = isLate ? "late" : foundBy;
    const explains = [{ kind: "deposit", subject: reference }];
    outcomes.push({ line, state: "matched", reason, firmId, dealId, explains });
  }
  const inTime = selectInTime(locked, awaited, received);
  const money = await takeMoney(tx, inTime, { environment, received, now });
  const queued = filterByPlan(entered.rest, "queue");
  return { ...money, outcomes, refused: [...queued, ...refused] };
}

/**
 * Why this firm's money waits for a person. What a deal waits for is taken in every state but two;
 * other money only while the firm may trade.
 */
function findObstacle(
  firm: TradingFirm | undefined,
  isForDeal: boolean,
  now: Date,
): QueueReason | undefined {
  if (!firm) throw new Error("who a line names is a firm");
  if (firm.connection_state === "offboarded") return "firm_left";
  if (firm.connection_state === "rejected") return "firm_rejected";
  if (isForDeal) return undefined;
  return findTradingRefusal(firm, now) && "firm_may_not_trade";
}

type TimedMoney = ReceivedMoney & { readonly valueAt: Date };

/** The deals for which money came before their deadline, by name or as balance of their buyer. */
function selectInTime(
  { settlements, crosses, firms }: LockedReceivers,
  awaited: ReadonlyMap<string, AwaitedDeal>,
  received: readonly TimedMoney[],
): LockedReceivers {
  const isInTime = (dealId: string, isFor: (money: TimedMoney) => boolean) => {
    const deal = awaited.get(dealId);
    return (
      deal !== undefined &&
      received.some((money) => isFor(money) && money.valueAt.getTime() <= deal.dueAt.getTime())
    );
  };
  return {
    settlements: settlements.filter(({ settlement_id: id, buyer_firm_id }) =>
      isInTime(
        id,
        ({ dealId, firmId }) => dealId === id || (dealId === null && firmId === buyer_firm_id),
      ),
    ),
    crosses: crosses.filter(({ cross_id: id }) => isInTime(id, ({ dealId }) => dealId === id)),
    firms,
  };
}

/** Lines whose money a person has entered already explain it and add nothing. */
function matchHandEntries(lines: readonly BankLineRow[], entered: Map<string, HandEntry>) {
  const outcomes: LineOutcome[] = [];
  const refused: RequeuedLine[] = [];
  const rest: BankLineRow[] = [];
  for (const line of lines) {
    const { plan } = line;
    const entries = listCreditUtrs(line).flatMap((utr) => entered.get(utr) ?? []);
    const entry = entries.find(({ paise }) => paise === line.paise) ?? entries[0];
    if (!entry || (plan.to !== "deposit" && plan.to !== "queue")) {
      rest.push(line);
    } else if (plan.to === "deposit" && plan.firm_id !== entry.firm_id) {
      refused.push(requeue(line, "reference_used"));
    } else if (line.paise !== entry.paise) {
      refused.push(requeue(line, "amount_differs"));
    } else {
      entered.delete(entry.reference);
      const dealId = plan.to === "deposit" ? plan.deal_id : null;
      const explains = [{ kind: "deposit", subject: entry.reference }];
      const firmId = entry.firm_id;
      outcomes.push({ line, state: "matched", reason: "known", firmId, dealId, explains });
    }
  }
  return { outcomes, refused, rest };
}

function toReference({ utr, line_id }: BankLineRow): string {
  return utr ?? buildReference(line_id);
}
