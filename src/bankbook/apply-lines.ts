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

import { findTradingFirms } from "../firms/find-firms.ts";
import { dropQuestions } from "../outside/ask.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { advance } from "../kernel/lifecycle.ts";
import { assertWritten, type Entry } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { assertHoldsWritten } from "../settlement/open-settlements.ts";
import { applyDeposits } from "./apply-deposits.ts";
import { applyRemittances } from "./apply-remittances.ts";
import { findExplained, findManualPayment } from "./hand-entries.ts";
import { filterByPlan, type LineOutcome, requeue, type RequeuedLine } from "./line-outcomes.ts";
import { findRepeated } from "./repeat-rules.ts";
import { bankLineLifecycle, type LineReason } from "./rules.ts";
import { type BankLineRow, insertExplained, listCounted, lockLines, setLines } from "./store.ts";

export type AppliedLines = {
  readonly changes: readonly Change[];
  readonly rows: readonly BankLineRow[];
};

export type LockedLines = {
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
  await dropQuestions(tx, [...remitted.answered, ...deposited.fundedIds]);
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
