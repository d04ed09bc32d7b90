// Settlement in memory: the deciding functions of the service on rows that no database keeps. Whoever
// tests by thousands of sequences uses this; how rows are loaded, locked and stored is for the tests
// that have a database. Each action is one transaction: it decides, writes the books, and then stores.

import assert from "node:assert/strict";

import {
  isPayment,
  type PaidCommission,
  buildPayment,
  computeCommission,
  buildClawbacks,
} from "../../src/settlement/commission-rules.ts";
import { buildEscrowEntry } from "../../src/crosses/fund-cross.ts";
import type { CrossRow } from "../../src/crosses/store.ts";
import type { AnsweredQuestion } from "../../src/outside/question-rules.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { houseFirmId, isHouse } from "../../src/kernel/ids.ts";
import { advance } from "../../src/kernel/lifecycle.ts";
import { plainCalendar } from "../../src/kernel/working-days.ts";
import { addPaise, type PaiseSum } from "../../src/kernel/money.ts";
import { type Account, accountFirm, type Entry } from "../../src/ledger/rules.ts";
import type { BookChanges } from "../../src/ledger/write-books.ts";
import {
  answerPayout,
  buildBounceEntry,
  buildResendEarning,
  type Earning,
  buildResolution,
  buildPayoutEntry,
  instructTogether,
  reviewPayouts,
  buildPayout,
  divideEarnings,
  recallAll,
  applyStatementOutcome,
  listUnsent,
} from "../../src/payouts/decide-payouts.ts";
import { movePayout } from "../../src/payouts/move-payout.ts";
import { type Payee, payoutLifecycle } from "../../src/payouts/rules.ts";
import type { PayoutLineRow, PayoutRow } from "../../src/payouts/store.ts";
import { toReservation } from "../../src/settlement/transfer-legs.ts";
import {
  type Answers,
  listCommissionedLegs,
  type DecidedLegs,
  decideLegs,
  buildEarnings,
  buildFailures,
  buildRetentions,
  buildResolutions,
  buildSimulatedEnd,
  buildTransferAnswers,
  atOnce,
  beginDeal,
} from "../../src/settlement/decide-legs.ts";
import { buildFunding, selectAffordable } from "../../src/settlement/fund-settlements.ts";
import { moveSettlement } from "../../src/settlement/move-settlement.ts";
import {
  newSettlement,
  type NewDeal,
  selectPaidDeals,
} from "../../src/settlement/open-settlements.ts";
import { buildReversals } from "../../src/settlement/reverse-settlement.ts";
import {
  type FailureReason,
  isOpen,
  isOpenLeg,
  settlementLifecycle,
} from "../../src/settlement/rules.ts";
import type { LegRow, SettlementRow } from "../../src/settlement/store.ts";
import { CreditShelf } from "./credit-shelf.ts";
import { MemoryBooks } from "./memory-books.ts";

export const environment = "sandbox";
export const house = houseFirmId[environment];
export const commissionBps = 5;
const startMs = Date.UTC(2026, 10, 15, 9, 15);
const railLimits = { rtgs_from_paise: 20_000_000, imps_to_paise: 5_000_000, citation: "RBI" };

/** Four clients; the two in the middle are at the desk of the first. */
export const clients = [0, 1, 2, 3].map((n) => `frm_0000000000000000000000001${n}`);

export function toDesk(firmId: string): string {
  const isGuest = firmId === clients[1] || firmId === clients[2];
  return isGuest ? (clients[0] ?? "") : firmId;
}

export function toCash(firmId: string): Account {
  return isHouse(firmId) ? { kind: "house_cash" } : { kind: "firm_cash", firmId };
}

/** What customs says of a credit that it was asked to move. */
export type TransferAnswer = AnsweredQuestion<"credit_transfer">["answer"]["outcome"];

type Deal = { readonly settlement: SettlementRow; readonly legs: readonly LegRow[] };

export class SettlementWorld {
  readonly startedAt = new Date(startMs);
  now = this.startedAt;
  readonly books = new MemoryBooks(environment);
  readonly settlements = new Map<string, SettlementRow>();
  readonly legs = new Map<string, readonly LegRow[]>();
  /** Settlements as they are between two moves that are made at once. */
  readonly passing: SettlementRow[] = [];
  readonly payouts = new Map<string, PayoutRow>();
  readonly shelf = new CreditShelf();
  /** Firms whose account is new. */
  readonly heldFirms = new Set<string>();
  ledgerSound = true;
  bankUp = true;
  readonly #lines = new Map<string, readonly PayoutLineRow[]>();

  passTime(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1_000);
  }

  payIn(firmId: string, paise: number): void {
    this.write({ entries: [this.#deposit(firmId, paise)] });
  }

  /** A deal that was agreed; the money of a cross was put in escrow before. */
  agree(deal: NewDeal): void {
    if (deal.escrow) this.#writeIfThere(buildDealEscrow(deal));
    const { firmId } = deal.buyer;
    const available = new Map([[firmId, this.books.availableTo(toCash(firmId))]]);
    const isFunded = selectPaidDeals([deal], available).has(deal.settlementId);
    const { settlement, legs, holds } = newSettlement(deal, isFunded, {
      now: this.now,
      calendar: plainCalendar,
      selfInitiating: new Set(),
      defaultBps: new Map(),
    });
    const resolutions = deal.escrow ? [{ ...deal.escrow, as: "voided" as const }] : [];
    this.write({ resolutions, entries: holds });
    this.#store({ settlement, legs });
    for (const leg of legs) {
      const { scripNo, reservedFor } = toReservation(settlement, leg);
      this.shelf.move(scripNo, "reserve", { reservedFor });
    }
  }

  /** A look for settlements that their buyers' balances reach for. */
  fundFromBalances(): void {
    const claimed = [...this.settlements.values()].filter(({ state }) => state === "pending");
    const buyers = new Set(claimed.map((row) => row.buyer_firm_id));
    const available = new Map(
      [...buyers].map((firmId) => [firmId, this.books.availableTo(toCash(firmId))]),
    );
    const open = new Map(
      claimed.map(({ settlement_id }) => [settlement_id, this.#openLegs(settlement_id)]),
    );
    for (const row of selectAffordable(available, { claimed, legs: open })) this.#fund(row, []);
  }

  /** The money that a settlement waits for arrives. */
  fund(settlementId: string): void {
    const { settlement } = this.findDeal(settlementId);
    this.#fund(settlement, [this.#deposit(settlement.buyer_firm_id, settlement.buyer_paise)]);
  }

  /** The bank says that it does not come. */
  missMoney(settlementId: string): void {
    const deal = this.findDeal(settlementId);
    if (deal.settlement.state === "pending") this.#failAll(deal, "not_funded");
  }

  /** A look for what is late. */
  failOverdue(): void {
    for (const { settlement_id, state, due_at } of this.settlements.values()) {
      const isLate = isOpen(state) && due_at !== null && due_at <= this.now;
      if (isLate) this.#failAll(this.findDeal(settlement_id), "timeout");
    }
  }

  initiate(settlementId: string): void {
    const deal = this.findDeal(settlementId);
    advance(settlementLifecycle, deal.settlement.state, "initiate");
    const isLost = (leg: LegRow) => {
      const { scripNo, reservedFor } = toReservation(deal.settlement, leg);
      const credit = this.shelf.findCredit(scripNo);
      return credit.state !== "reserved" || credit.reservedFor !== reservedFor;
    };
    if (deal.legs.some((leg) => leg.state === "pending" && isLost(leg))) {
      const reasonFor = (leg: LegRow) => (isLost(leg) ? "credit_unavailable" : undefined);
      return this.conclude(buildFailures(deal, reasonFor));
    }
    for (const leg of deal.legs) {
      if (leg.state === "pending") this.shelf.move(leg.scrip_no, "settle");
    }
    const when = { now: this.now, calendar: plainCalendar };
    const { after, legs } = beginDeal(deal, () => atOnce, when);
    this.#store({ settlement: after, legs });
  }

  /** What customs says of one credit of a settlement. */
  answer(settlementId: string, scripNo: string, outcome: TransferAnswer): void {
    const deal = this.findDeal(settlementId);
    const answers = buildTransferAnswers(
      deal,
      (leg) => (leg.scrip_no === scripNo ? { answer: { outcome }, as_of: this.now } : undefined),
      this.now,
    );
    this.conclude(answers);
    if (outcome === "suspended" && answers.outcomes.size > 0) this.loseCredit(scripNo);
  }

  /** Customs takes a credit from the deal that has it. */
  takeAway(settlementId: string, scripNo: string): void {
    const deal = this.findDeal(settlementId);
    const reasonFor = (leg: LegRow) =>
      leg.scrip_no === scripNo ? ("credit_suspended" as const) : undefined;
    this.loseCredit(scripNo);
    this.conclude(buildFailures(deal, reasonFor));
  }

  /** A credit can no longer be had, and nobody has told the deal. */
  loseCredit(scripNo: string): void {
    this.shelf.move(scripNo, "suspend");
  }

  fail(settlementId: string): void {
    const deal = this.findDeal(settlementId);
    advance(settlementLifecycle, deal.settlement.state, "fail");
    this.#failAll(deal, "by_operator");
  }

  reverse(settlementId: string): void {
    const { settlement, legs } = this.findDeal(settlementId);
    const after = moveSettlement(settlement, "reverse", { reason: "model", now: this.now });
    const { buyer_firm_id: buyerFirmId } = settlement;
    const delivered = legs.filter((leg) => leg.state === "delivered");
    const own = [...this.payouts.values()].filter((row) => row.settlement_id === settlementId);
    const recalled = recallAll(listUnsent(own), "reversed", this.now);
    for (const leg of delivered) this.shelf.refuseGone(leg.scrip_no, buyerFirmId);
    const available = new Map(
      delivered.map(({ seller_firm_id: firmId }) => {
        const back = recalled.filter((moved) => moved.after.firm_id === firmId);
        const backPaise = back.reduce((sum, moved) => sum + moved.after.paise, 0);
        return [firmId, addPaise(this.books.availableTo(toCash(firmId)), backPaise)];
      }),
    );
    const reversals = buildReversals({ delivered, buyerFirmId, available });
    this.write({
      resolutions: recalled.map((moved) => buildResolution(moved.after)),
      entries: [...reversals, ...this.#buildClawbacks(settlementId)],
    });
    this.#store({ settlement: after, legs });
    for (const moved of recalled) this.#storePayout(moved.after);
    for (const leg of delivered) {
      this.shelf.move(leg.scrip_no, "give_back");
      this.shelf.hand(leg.scrip_no, leg.seller_firm_id);
    }
  }

  /** One look at a payout: whether it is held, free again, or goes to the bank. */
  look(payoutId: string): void {
    const { ledgerSound, bankUp, now } = this;
    const row = this.findPayout(payoutId);
    const looked = reviewPayouts([row], (firmId) => this.#payee(firmId), {
      ledgerSound,
      bankUp,
      limits: railLimits,
      now,
    });
    for (const { after } of looked) this.#storePayout(after);
  }

  /** What the bank says of a payout that was sent. */
  bankSays(payoutId: string, outcome: "paid" | "returned"): void {
    const { after } = answerPayout(this.findPayout(payoutId), { outcome, reason: null }, this.now);
    this.write({ resolutions: [buildResolution(after)] });
    this.#storePayout(after);
  }

  instruct(payoutId: string): void {
    const moved = instructTogether([this.findPayout(payoutId)], railLimits, this.now);
    for (const { after } of moved) this.#storePayout(after);
  }

  voidFile(payoutId: string): void {
    this.#storePayout(movePayout(this.findPayout(payoutId), "void", { now: this.now }));
  }

  bounce(payoutId: string): void {
    const before = this.findPayout(payoutId);
    advance(payoutLifecycle, before.state, "bounce");
    const { after } = applyStatementOutcome(
      before,
      { outcome: "returned", reason: "model" },
      this.now,
    );
    this.write({ entries: [buildBounceEntry(after)] });
    this.#storePayout(after);
  }

  recall(payoutId: string): void {
    for (const { after } of recallAll([this.findPayout(payoutId)], "by_operator", this.now)) {
      this.write({ resolutions: [buildResolution(after)] });
      this.#storePayout(after);
    }
  }

  resend(payoutId: string): void {
    const row = this.findPayout(payoutId);
    const isReversed = this.books.journal.some(
      ({ kind, subject }) => kind === "reversal" && subject === row.settlement_id,
    );
    const lines = this.#lines.get(payoutId) ?? [];
    const earning = buildResendEarning(row, { lines, isReversed });
    // What a constraint of the database sees to.
    if ([...this.payouts.values()].some((row) => row.resend_of === payoutId)) {
      throw new Failure("conflict", "this payout was sent again before");
    }
    const payout = this.#schedule(earning);
    this.#writeIfThere(buildPayoutEntry(payout));
    this.#storePayout(payout);
  }

  findDeal(settlementId: string): Deal {
    const settlement = this.settlements.get(settlementId);
    assert.ok(settlement, `${settlementId} is not there`);
    return { settlement, legs: this.legs.get(settlementId) ?? [] };
  }

  findPayout(payoutId: string): PayoutRow {
    return this.payouts.get(payoutId) ?? assert.fail(`${payoutId} is not there`);
  }

  /** What follows when legs are answered. */
  conclude(answers: Answers): void {
    if (answers.outcomes.size === 0) return;
    const decided = decideLegs(answers, this.now);
    const payouts = buildEarnings(decided, new Map()).map((earning) => this.#schedule(earning));
    const commissions = listCommissionedLegs(decided).flatMap(({ sides }) =>
      sides.flatMap((side) => buildPayment(side, computeCommission(side.facePaise, commissionBps))),
    );
    this.write({
      resolutions: buildResolutions(decided, new Map()),
      entries: [
        ...payouts.map(buildPayoutEntry),
        ...buildRetentions(decided, new Map()),
        ...commissions,
      ],
    });
    const settlement = decided.rows.at(-1) ?? decided.before;
    this.passing.push(...decided.rows.slice(0, -1));
    this.#store({ settlement, legs: decided.legs });
    for (const payout of payouts) this.#storePayout(payout);
    this.#moveCredits(decided);
  }

  /** For what the rules before have made sure of, as the service does: a refusal is a fault. */
  write(changes: BookChanges): void {
    assert.deepEqual(this.books.write(changes), []);
  }

  #writeIfThere(entry: Entry): void {
    if (this.books.write({ entries: [entry] }).length === 0) return;
    throw new Failure("conflict", "there is not enough money");
  }

  #fund(before: SettlementRow, first: readonly Entry[]): void {
    const open = this.#openLegs(before.settlement_id);
    const { after, holds } = buildFunding(
      { before, open },
      { now: this.now, calendar: plainCalendar },
    );
    this.write({ entries: [...first, ...holds] });
    this.settlements.set(after.settlement_id, after);
  }

  #failAll(deal: Deal, reason: FailureReason): void {
    this.conclude(buildSimulatedEnd(deal, reason));
  }

  #openLegs(settlementId: string): LegRow[] {
    return this.findDeal(settlementId).legs.filter((leg) => isOpenLeg(leg.state));
  }

  #deposit(firmId: string, paise: number): Entry {
    return {
      environment,
      kind: "deposit",
      subject: `deposit-${this.books.journal.length}`,
      phase: "posted",
      movements: [{ from: { kind: "external_bank" }, to: toCash(firmId), paise }],
    };
  }

  #buildClawbacks(settlementId: string): Entry[] {
    const paid = this.books.journal
      .filter(({ kind, subject }) => kind === "commission" && subject === settlementId)
      .filter(({ ordinal }) => isPayment(ordinal))
      .flatMap(({ subject, ordinal, movements }) =>
        movements.map(({ to_account, amount }): PaidCommission => ({
          environment,
          subject,
          ordinal,
          deskId: accountFirm(to_account) ?? "",
          paise: amount,
        })),
      );
    const earned = paid.map(({ deskId }): [string, PaiseSum] => [
      deskId,
      this.books.availableTo({ kind: "desk_commission", firmId: deskId }),
    ]);
    return buildClawbacks(paid, new Map(earned));
  }

  #payee(firmId: string): Payee {
    const hold = { on: "payouts", reason: "beneficiary_change", until: null } as const;
    return { account: null, holds: this.heldFirms.has(firmId) ? [hold] : [] };
  }

  #schedule(earning: Earning): PayoutRow {
    // Dues are set off by the books of the database; here they are raised only.
    const [divided] = divideEarnings([earning], new Map());
    assert.ok(divided);
    const payee = this.#payee(earning.firmId);
    const payout = buildPayout(divided, { payee, limits: railLimits, now: this.now });
    const { payout_id } = payout;
    this.#lines.set(
      payout_id,
      earning.lines.map((line) => ({ ...line, payout_id })),
    );
    return payout;
  }

  #storePayout(row: PayoutRow): void {
    this.payouts.set(row.payout_id, row);
  }

  #store({ settlement, legs }: Deal): void {
    this.settlements.set(settlement.settlement_id, settlement);
    this.legs.set(settlement.settlement_id, legs);
  }

  #moveCredits({ before, answered }: DecidedLegs): void {
    for (const leg of answered) {
      const { state } = this.shelf.findCredit(leg.scrip_no);
      if (leg.state === "delivered") {
        this.shelf.move(leg.scrip_no, "transfer");
        this.shelf.hand(leg.scrip_no, before.buyer_firm_id);
      } else if (state !== "suspended") {
        const action = state === "reserved" ? "release" : "unwind";
        this.shelf.move(leg.scrip_no, action, { reservedFor: null });
      }
    }
  }
}

/** What a cross keeps of its buyer's money until its deal holds it leg by leg. */
function buildDealEscrow({ origin, buyer, legs }: NewDeal): Entry {
  return buildEscrowEntry({
    environment,
    cross_id: origin,
    buyer_firm_id: buyer.firmId,
    seller_firm_id: legs[0]?.seller.firmId,
    buyer_paise: legs.reduce((sum, leg) => sum + leg.buyerPaise, 0),
    seller_paise: legs.reduce((sum, leg) => sum + leg.sellerPaise, 0),
  } as CrossRow); // The rest of a cross is nothing that its escrow looks at.
}
