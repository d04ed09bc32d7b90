// Takes declarations from a call, a report or the registry as one set, in batches that do not block
// the event loop:
//
//   load     the known rows of all numbers, in one statement
//   judge    each declaration in order; a repeated number is judged against its first occurrence
//   write    inserts in one statement, updates in another
//   retry    numbers that another transaction took meanwhile are loaded and judged again
//   record   last, once all batches are written, because recording locks the desk's journal
//
// The database decides races: an insert that meets a unique constraint returns no row, and the next
// round loads the row that won.

import { recordChanges } from "../journal/record-changes.ts";
import { type FirmOfDesk, refuseOffboarded } from "../firms/find-firms.ts";
import { askOutside, dropQuestions, listPortStatus } from "../outside/ask.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istDay } from "../kernel/time.ts";
import { openPace, type Pace } from "../platform/heavy/pace.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { simulateHolding } from "../outside/registry-rules.ts";
import { removeFromBooks } from "./end-holdings.ts";
import { buildCreditChange, describeUse } from "./read-credits.ts";
import {
  type CreditFacts,
  creditLifecycle,
  type DeclarationMode,
  type DeclarationRefusal,
  listDifferingFacts,
  findExpiryDueDay,
  type Known,
  mayDeclare,
  judgeDeclaration,
} from "./rules.ts";
import { type CreditRow, findKnown, insertCredits, lockOpenByNumber, setCredits } from "./store.ts";

export type DeclarationResult =
  | { readonly kind: "created" | "known" | "lowered"; readonly row: CreditRow }
  | { readonly kind: "refused"; readonly failure: Failure };

export type TakeOptions = {
  readonly firm: FirmOfDesk;
  readonly actor: Actor;
  readonly mode: DeclarationMode;
  /** The operator vouches for the credits: they are listed without a question. */
  readonly vouched?: boolean;
  readonly now: Date;
  readonly pace?: Pace;
};

/** Declarations per batch. */
const atOnceMax = 500;

/** Rounds of judging and writing before a contended set is given up. */
const roundsMax = 5;

export async function takeDeclarations(
  tx: Tx,
  taking: TakeOptions,
  declared: readonly (CreditFacts | Failure)[],
): Promise<DeclarationResult[]> {
  const { iec } = requireDeclarer(taking);
  const { actor, now, pace = openPace() } = taking;
  const confirm = await chooseConfirmer(tx, taking, iec);
  const outcomes: DeclarationResult[] = [];
  const changes: Change[] = [];
  for (let from = 0; from < declared.length; from += atOnceMax) {
    if (from > 0) await pace.turn();
    const taken = await takeSome(tx, taking, declared.slice(from, from + atOnceMax), (facts) =>
      buildRow(facts, confirm(facts), taking),
    );
    changes.push(...taken.changes);
    outcomes.push(...taken.outcomes);
    const created = taken.outcomes.flatMap((one) => (one.kind === "created" ? [one.row] : []));
    changes.push(...(await rejectRivals(tx, created, now)));
    await askAboutClaims(tx, created, iec, now);
  }
  for (let from = 0; from < changes.length; from += atOnceMax) {
    if (from > 0) await pace.turn();
    await recordChanges(tx, actor, changes.slice(from, from + atOnceMax), now);
  }
  return outcomes;
}

async function takeSome(
  tx: Tx,
  taking: TakeOptions,
  declared: readonly (CreditFacts | Failure)[],
  make: (facts: CreditFacts) => CreditRow,
): Promise<{
  readonly outcomes: readonly DeclarationResult[];
  readonly changes: readonly Change[];
}> {
  const outcomes: DeclarationResult[] = [];
  const changes: Change[] = [];
  let waiting: PendingClaim[] = [];
  declared.forEach((item, index) => {
    if (item instanceof Failure) outcomes[index] = { kind: "refused", failure: item };
    else waiting.push({ index, facts: item });
  });

  for (let look = 0; waiting.length > 0; look++) {
    if (look === roundsMax) throw new Error("other transactions took the numbers in every round");
    const known = await loadKnown(tx, taking.firm, waiting);
    const plan = judgeAll(waiting, known, taking, make);
    const written = await writePlan(tx, plan, taking.now);
    changes.push(...written.changes);
    for (const { index, facts, kind, failure } of plan.verdicts) {
      const row = written.rows.get(facts.scrip_no) ?? known.get(facts.scrip_no)?.own;
      if (failure) outcomes[index] = { kind: "refused", failure };
      else if (row && !written.lost.has(facts.scrip_no)) outcomes[index] = { kind, row };
    }
    waiting = waiting.filter(({ facts }) => written.lost.has(facts.scrip_no));
  }
  return { outcomes, changes };
}

/** The outcomes of a retry, from the current rows; writes nothing. */
export async function previewDeclarations(
  tx: Tx,
  taking: TakeOptions,
  declared: readonly (CreditFacts | Failure)[],
): Promise<DeclarationResult[]> {
  const waiting = declared.flatMap((facts, index) =>
    facts instanceof Failure ? [] : [{ index, facts }],
  );
  const known = await loadKnown(tx, taking.firm, waiting);
  return declared.map((facts): DeclarationResult => {
    if (facts instanceof Failure) return { kind: "refused", failure: facts };
    const found = known.get(facts.scrip_no) ?? nothingKnown;
    if (found.own && listDifferingFacts(facts, found.own).length === 0) {
      return { kind: "known", row: found.own };
    }
    const verdict = judgeDeclaration(facts, found, taking.mode);
    const reason = verdict.kind === "refuse" ? verdict.reason : "not_declared";
    return { kind: "refused", failure: buildRefusal(reason, facts, found) };
  });
}

/** Of several claims to one number the confirmed one wins; the others are rejected. */
export async function rejectRivals(
  tx: Tx,
  rows: readonly CreditRow[],
  now: Date,
): Promise<Change[]> {
  const winners = new Map(
    rows.filter(({ state }) => state === "listed").map((row) => [row.scrip_no, row]),
  );
  const [first] = winners.values();
  if (!first) return [];
  const open = await lockOpenByNumber(tx, first.environment, [...winners.keys()]);
  const rivals = open.filter(
    (row) => row.state === "declared" && row.credit_id !== winners.get(row.scrip_no)?.credit_id,
  );
  if (rivals.length === 0) return [];
  await dropQuestions(tx, { credit_holding: rivals.map(({ credit_id }) => credit_id) });
  const refuted = rivals.map((row) => ({
    ...row,
    state: "rejected" as const,
    reason: "held_elsewhere",
    as_of: now,
  }));
  const rejected = await tx.run(setCredits(refuted, now));
  const before = new Map(rivals.map((row) => [row.credit_id, row]));
  return rejected.map((after) =>
    buildCreditChange({ action: "reject", before: before.get(after.credit_id) ?? null, after }),
  );
}

type PendingClaim = { readonly index: number; readonly facts: CreditFacts };
type KnownCredit = Known & { readonly own: CreditRow | undefined };
type JudgedClaim = PendingClaim & {
  readonly kind: "created" | "known" | "lowered";
  readonly failure?: Failure;
};
type Plan = {
  readonly verdicts: readonly JudgedClaim[];
  readonly inserts: ReadonlyMap<string, CreditRow>;
  readonly updates: ReadonlyMap<string, CreditRow>;
  readonly before: ReadonlyMap<string, KnownCredit>;
};

const nothingKnown: KnownCredit = { own: undefined, heldElsewhere: false, usedPaise: 0 };

function judgeAll(
  waiting: readonly PendingClaim[],
  known: ReadonlyMap<string, KnownCredit>,
  taking: TakeOptions,
  make: (facts: CreditFacts) => CreditRow,
): Plan {
  const inserts = new Map<string, CreditRow>();
  const updates = new Map<string, CreditRow>();
  const verdicts = waiting.map(({ index, facts }): JudgedClaim => {
    const scripNo = facts.scrip_no;
    const found = known.get(scripNo) ?? nothingKnown;
    const earlier = inserts.get(scripNo) ?? updates.get(scripNo);
    const seen = earlier ? { ...found, own: earlier, heldElsewhere: false } : found;
    const verdict = judgeDeclaration(facts, seen, taking.mode);
    switch (verdict.kind) {
      case "create":
        inserts.set(scripNo, make(facts));
        return { index, facts, kind: "created" };
      case "lower": {
        const planned = inserts.has(scripNo) ? inserts : updates;
        const row = earlier ?? found.own;
        if (row) planned.set(scripNo, lowerBalance(row, facts.face_paise, taking));
        return { index, facts, kind: "lowered" };
      }
      case "same":
        return { index, facts, kind: "known" };
      case "refuse":
        return { index, facts, kind: "known", failure: buildRefusal(verdict.reason, facts, seen) };
    }
  });
  return { verdicts, inserts, updates, before: known };
}

/** A balance of nothing ends the holding. A firm's report proves nothing of what customs shows. */
function lowerBalance(
  row: CreditRow,
  face_paise: number,
  { vouched = false, now }: TakeOptions,
): CreditRow {
  const state = face_paise === 0 ? advance(creditLifecycle, row.state, "use") : row.state;
  const balance_shown_on = vouched ? istDay(now) : null;
  return { ...row, state, face_paise, balance_shown_on, as_of: now };
}

async function writePlan(tx: Tx, { inserts, updates, before }: Plan, now: Date) {
  const inserted = inserts.size > 0 ? await insertCredits(tx, [...inserts.values()]) : [];
  const updated = updates.size > 0 ? await tx.run(setCredits([...updates.values()], now)) : [];
  const ended = updated.map((after) => ({ before: before.get(after.scrip_no)?.own, after }));
  await removeFromBooks(tx, ended, now);
  const rows = new Map([...inserted, ...updated].map((row) => [row.scrip_no, row]));
  const lost = new Set([...inserts.keys(), ...updates.keys()].filter((no) => !rows.has(no)));
  const changes = [
    ...inserted.map((after) =>
      buildCreditChange({
        action: "declare",
        before: null,
        after,
        ...(after.state === "listed" && { event: "credit.listed" }),
      }),
    ),
    ...updated.map((after) => {
      const known = before.get(after.scrip_no)?.own;
      return buildCreditChange({
        action: "lower",
        before: known ?? null,
        after,
        // A claim tells its balance when it is listed.
        ...(known?.state === "listed" && {
          event: "credit.used",
          data: describeUse(known, after),
        }),
      });
    }),
  ];
  return { rows, lost, changes };
}

async function loadKnown(
  tx: Tx,
  firm: FirmOfDesk,
  waiting: readonly PendingClaim[],
): Promise<Map<string, KnownCredit>> {
  const numbers = [...new Set(waiting.map(({ facts }) => facts.scrip_no))];
  const holder = { environment: firm.environment, deskId: firm.desk_id, firmId: firm.firm_id };
  const rows = numbers.length > 0 ? await findKnown(tx, holder, numbers) : [];
  return new Map(
    rows.map(({ asked, held_elsewhere, used_paise: usedPaise, ...own }) => [
      asked,
      { own: own.credit_id === null ? undefined : own, heldElsewhere: held_elsewhere, usedPaise },
    ]),
  );
}

function buildRow(
  facts: CreditFacts,
  answer: Answer | undefined,
  { firm, now }: TakeOptions,
): CreditRow {
  return {
    ...facts,
    credit_id: newId("crd", now),
    environment: firm.environment,
    desk_id: firm.desk_id,
    firm_id: firm.firm_id,
    state: toClaimState(answer),
    state_before_suspension: null,
    reserved_for: null,
    reason: answer?.reason ?? null,
    as_of: now,
    balance_shown_on: answer?.held ? istDay(now) : null,
    expiry_told: null,
    expiry_due_on: findExpiryDueDay(facts.expires_on, null),
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

function toClaimState(answer: Answer | undefined): CreditRow["state"] {
  if (!answer) return "declared";
  return answer.held ? "listed" : "rejected";
}

type Answer = { readonly held: boolean; readonly reason: string | null };

/**
 * Confirms a claim within the call: the operator vouches, or the simulated registry answers unless
 * it is down. Otherwise the claim waits for the answer to its question.
 */
async function chooseConfirmer(
  tx: Tx,
  { firm, vouched }: TakeOptions,
  iec: string | null,
): Promise<(facts: CreditFacts) => Answer | undefined> {
  if (vouched) return () => ({ held: true, reason: null });
  if (iec === null || firm.environment === "live") return () => undefined;
  const ports = await listPortStatus(tx, firm.environment);
  const isUp = ports.some(({ port, state }) => port === "registry" && state === "up");
  if (!isUp) return () => undefined;
  return (facts) => simulateHolding({ iec, ...describeHolding(facts) });
}

/** The facts in the question to the registry: those that decide a price. */
function describeHolding({ scrip_no, scheme, face_paise, expires_on }: CreditFacts) {
  return { scrip_no, scheme, face_paise, expires_on };
}

async function askAboutClaims(
  tx: Tx,
  created: readonly CreditRow[],
  iec: string | null,
  now: Date,
): Promise<void> {
  if (iec === null) return; // Only vouched credits come without an IEC; they need no question.
  await tx.run(
    askOutside(
      created
        .filter(({ state }) => state === "declared")
        .map((row) => ({
          environment: row.environment,
          deskId: row.desk_id,
          port: "registry",
          kind: "credit_holding",
          subjectId: row.credit_id,
          facts: { iec, ...describeHolding(row) },
        })),
      now,
    ),
  );
}

function requireDeclarer({ firm, vouched }: TakeOptions): { iec: string | null } {
  refuseOffboarded(firm);
  if (!mayDeclare(firm.connection_state)) {
    throw new Failure("conflict", `a firm that is ${firm.connection_state} takes on no credits`, {
      detail: { reason: "firm_state", state: firm.connection_state },
    });
  }
  if (firm.iec === null && !vouched) {
    throw new Failure("conflict", "only a holder of an importer-exporter code holds credits", {
      detail: { reason: "firm_has_no_iec" },
    });
  }
  return { iec: firm.iec };
}

function buildRefusal(
  reason: DeclarationRefusal | "not_declared",
  facts: CreditFacts,
  { own }: Known,
): Failure {
  switch (reason) {
    case "facts_differ":
      return new Failure("conflict", "this credit was declared with other facts", {
        detail: { reason, differs: own ? listDifferingFacts(facts, own) : [] },
      });
    case "ended":
      return new Failure("conflict", "this firm's holding of the credit has ended", {
        detail: { reason, state: own?.state },
      });
    case "used_up":
      return new Failure("conflict", "nothing is left of this credit", { detail: { reason } });
    case "was_used":
      return new Failure("conflict", "more of this credit was used than the declaration says", {
        detail: { reason },
      });
    case "held_elsewhere":
      return new Failure("conflict", "this credit is held by somebody else", {
        detail: { reason },
      });
    case "not_declared":
      return new Failure("conflict", "the first call with this idempotency key left it out", {
        detail: { reason },
      });
  }
}
