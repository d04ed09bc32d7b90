// The buyer's money goes into escrow, by one pending entry:
//
//   balance   a sufficient balance is held at once
//   sandbox   the simulated bank pays the missing sum in the same call
//   live      the bank is asked, and the cross waits for the answer
//
// `payment_ref` identifies the payment: the same reference again does nothing. It tells apart what came
// from the buyer's account and never says who paid. After its deadline a cross waits for the bank's
// statement only: money that comes later is not for it.

import { lockTradingFirms } from "../firms/find-firms.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Call, Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { asAmount, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { lateUntil } from "../kernel/working-days.ts";
import { readBalances } from "../ledger/read-books.ts";
import { assertWritten, type Entry, type EntryName } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import { askOutside } from "../outside/ask.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { AnsweredQuestion } from "../outside/question-rules.ts";
import { buildFundingReference } from "../payouts/rules.ts";
import { takeDeposits } from "../payouts/deposits.ts";
import type { Context } from "../platform/context.ts";
import { type Db, type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { assertHoldsWritten, FundsMoved } from "../settlement/open-settlements.ts";
import { type LockedCross, actOnCross, moveToDeadline } from "./act-on-cross.ts";
import { buildCrossChanges } from "./read-crosses.ts";
import { listAwaitedPayments, listBuyers } from "./read-store.ts";
import { buildConflict, requireMove } from "./rules.ts";
import type { Cross, FundCrossBody } from "./schema.ts";
import { type CrossRow, lockCrosses, setCrosses } from "./store.ts";

/** Attempts while the buyer's balance changes between reading and holding. */
const attemptsMax = 5;

export async function fundCross(
  ctx: Context,
  call: Call,
  { cross_id: crossId, payment_ref: paymentRef }: FundCrossBody & { readonly cross_id: string },
): Promise<Cross> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await actOnCross(ctx, call, { crossId, action: "fund" }, async (tx, acting) => {
        return await fund(tx, acting, paymentRef);
      });
    } catch (error) {
      if (violatedConstraint(error) === "crosses_payment_names") throw paymentRefUsed(paymentRef);
      if (!(error instanceof FundsMoved) || attempt === attemptsMax) throw error;
    }
  }
}

/** A buyer's names tell its payments apart, in any spelling. */
function paymentRefUsed(paymentRef: string): Failure {
  return new Failure("conflict", "another cross waits for a payment of this name", {
    detail: { reason: "payment_ref_used", payment_ref: paymentRef },
  });
}

/** A cross as other rooms see it. */
export type AwaitedCross = CrossRow;

/** The buyers of these crosses; open proposals without a buyer are left out. */
export async function findBuyers(
  db: Db,
  crossIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (crossIds.length === 0) return new Map();
  const rows = await listBuyers(db, crossIds);
  return new Map(
    rows.flatMap(({ cross_id, buyer_firm_id }) =>
      buyer_firm_id === null ? [] : [[cross_id, buyer_firm_id]],
    ),
  );
}

/** A payment that an agreed cross waits for, by the name that its buyer gave it. */
type AwaitedPayment = {
  readonly name: string;
  readonly paise: number;
  readonly firmId: string;
  readonly crossId: string;
};

export async function readAwaitedPayments(
  db: Db,
  environment: Environment,
): Promise<AwaitedPayment[]> {
  const rows = await listAwaitedPayments(db, environment);
  return rows.map(({ payment_ref, buyer_paise, buyer_firm_id, cross_id }) => ({
    name: payment_ref,
    paise: buyer_paise,
    firmId: buyer_firm_id,
    crossId: cross_id,
  }));
}

export async function lockCrossesById(
  tx: Tx,
  crossIds: readonly string[],
): Promise<readonly AwaitedCross[]> {
  return crossIds.length === 0 ? [] : await lockCrosses(tx, crossIds);
}

/** The entries and changes that the caller writes and records with its own. */
type FundedCrosses = {
  readonly dealIds: readonly string[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/**
 * Funds the locked crosses whose buyers have the whole sum available, and subtracts it from
 * `available`. The others keep waiting.
 */
export async function fundReceivedCrosses(
  tx: Tx,
  crosses: readonly AwaitedCross[],
  {
    available,
    reference,
    now,
  }: {
    readonly available: Map<string, PaiseSum>;
    /** The bank's reference, for crosses whose buyer gave none. */
    readonly reference: (crossId: string) => string;
    readonly now: Date;
  },
): Promise<FundedCrosses> {
  const waiting = crosses.filter(({ state }) => state === "agreed");
  if (waiting.length === 0) return { dealIds: [], entries: [], changes: [] };
  const when = { now, calendar: await readCalendar(tx) };
  const funded = waiting
    .filter(({ buyer_firm_id, buyer_paise }) => {
      const left = subtractPaise(available.get(buyer_firm_id ?? "") ?? 0, buyer_paise);
      if (left >= 0) available.set(buyer_firm_id ?? "", left);
      return left >= 0;
    })
    .map((before) => {
      const payment_ref = before.payment_ref ?? reference(before.cross_id);
      return { before, after: { ...moveToDeadline(before, "fund", when), payment_ref } };
    });
  if (funded.length === 0) return { dealIds: [], entries: [], changes: [] };
  await tx.run(setCrosses(funded.map(({ after }) => after)));
  return {
    dealIds: funded.map(({ after }) => after.cross_id),
    entries: funded.map(({ after }) => buildEscrowEntry(after)),
    changes: funded.flatMap(({ before, after }) =>
      buildCrossChanges({ action: "fund", before, after }),
    ),
  };
}

type FundingAnswer = AnsweredQuestion<"deal_funding">;

/** Applies the bank's answers about payments. After a missing payment the buyer may fund again. */
export async function applyCrossFunding(
  tx: Tx,
  actor: Actor,
  answered: readonly FundingAnswer[],
  now: Date,
): Promise<void> {
  const said = new Map(answered.map((question) => [question.subject_id, question]));
  const waiting = (await lockCrosses(tx, [...said.keys()])).filter((row) => row.state === "agreed");
  if (waiting.length === 0) return;
  const when = { now, calendar: await readCalendar(tx) };
  const decided = waiting.map((before) => {
    const question = said.get(before.cross_id);
    const after = question?.answer.arrived
      ? moveToDeadline(before, "fund", when)
      : { ...before, payment_ref: null, version: before.version + 1, updated_at: now };
    return { question, before, after };
  });
  await tx.run(setCrosses(decided.map(({ after }) => after)));
  const funded = decided.filter(({ after }) => after.state === "funded");
  const taken = await takeDeposits(
    tx,
    funded.map(({ question, after }) => ({
      environment: after.environment,
      reference: question?.answer.reference ?? buildFundingReference(after.cross_id),
      deskId: after.buyer_desk_id ?? "",
      firmId: after.buyer_firm_id ?? "",
      paise: after.buyer_paise,
      settlementId: null,
    })),
    now,
  );
  const holds = funded.map(({ after }) => buildEscrowEntry(after));
  assertWritten(await postEntries(tx, [...taken.entries, ...holds], now));
  const changes = decided.flatMap(({ before, after }) => {
    const isFunded = after.state === "funded";
    const action = isFunded ? "fund" : "miss_payment";
    return buildCrossChanges({ action, isTold: isFunded, before, after });
  });
  await recordChanges(tx, actor, [...taken.changes, ...changes], now);
}

/** The name of the entry that holds the escrow of a cross. */
export function toEscrowName({ environment, cross_id }: CrossRow): EntryName {
  return { environment, kind: "cross_escrow", subject: cross_id };
}

/**
 * One pending entry holds the buyer's money. It is never posted: on release the settlement holds
 * the money leg by leg instead, and otherwise it is voided.
 */
export function buildEscrowEntry(cross: CrossRow): Entry {
  const { buyer_paise, seller_paise } = cross;
  const buyer = { kind: "firm_cash", firmId: cross.buyer_firm_id ?? "" } as const;
  const seller = { kind: "firm_cash", firmId: cross.seller_firm_id ?? "" } as const;
  const kept = buyer_paise - seller_paise;
  return {
    ...toEscrowName(cross),
    phase: "pending",
    movements: [
      { from: buyer, to: seller, paise: seller_paise },
      ...(kept > 0 ? [{ from: buyer, to: { kind: "house_cash" } as const, paise: kept }] : []),
    ],
  };
}

async function fund(tx: Tx, acting: LockedCross, paymentRef: string): Promise<readonly Change[]> {
  const { cross, standing, now } = acting;
  if (cross.payment_ref === paymentRef) return [];
  requireMove("fund", standing);
  if (cross.payment_ref !== null) {
    throw buildConflict(standing, "payment_pending", "another payment is waited for");
  }
  if (await isPastDue(tx, cross, now)) {
    throw buildConflict(standing, "deadline_passed", "the deadline for the money is over");
  }
  const buyerId = cross.buyer_firm_id ?? "";
  const buyer = (await tx.run(lockTradingFirms([buyerId]))).get(buyerId);
  const refusal = buyer && findTradingRefusal(buyer, now);
  if (refusal) throw refusal;
  const paying = { ...cross, payment_ref: paymentRef };
  const [balance] = await readBalances(tx, cross.environment, [buyerId]);
  const missing = cross.buyer_paise - asAmount(balance?.available_paise ?? 0);
  if (missing > 0 && cross.environment === "live") return await askBank(tx, paying, now);
  return await holdMoney(tx, { before: cross, paying, missing, now });
}

/** The simulated bank has no statement to wait for: there the clock ends a cross at once. */
async function isPastDue(tx: Tx, { environment, due_at }: CrossRow, now: Date): Promise<boolean> {
  if (environment === "sandbox" || due_at === null) return false;
  return due_at <= lateUntil(now, "bank", await readCalendar(tx));
}

/** Asks for the whole sum: the balance may be gone before the payment arrives. */
async function askBank(tx: Tx, paying: CrossRow, now: Date): Promise<Change[]> {
  const after = { ...paying, version: paying.version + 1, updated_at: now };
  await tx.run(setCrosses([after]));
  const question = {
    environment: after.environment,
    deskId: after.buyer_desk_id ?? "",
    port: "bank",
    kind: "deal_funding",
    subjectId: after.cross_id,
    facts: { firm_id: after.buyer_firm_id ?? "", paise: after.buyer_paise },
  } as const;
  await tx.run(askOutside([question], now));
  const before = { ...paying, payment_ref: null };
  return buildCrossChanges({ action: "await_payment", isTold: false, before, after });
}

type Holding = {
  readonly before: CrossRow;
  readonly paying: CrossRow;
  readonly missing: number;
  readonly now: Date;
};

async function holdMoney(tx: Tx, { before, paying, missing, now }: Holding): Promise<Change[]> {
  const after = moveToDeadline(paying, "fund", { now, calendar: await readCalendar(tx) });
  await tx.run(setCrosses([after]));
  const deposit = {
    environment: after.environment,
    reference: buildFundingReference(after.cross_id),
    deskId: after.buyer_desk_id ?? "",
    firmId: after.buyer_firm_id ?? "",
    paise: missing,
    settlementId: null,
  };
  const taken = await takeDeposits(tx, missing > 0 ? [deposit] : [], now);
  assertHoldsWritten(await postEntries(tx, [...taken.entries, buildEscrowEntry(after)], now));
  return [...taken.changes, ...buildCrossChanges({ action: "fund", before, after })];
}
