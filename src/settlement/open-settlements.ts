// A settlement is opened in the transaction of its deal and concluded later, by workers and by answers
// from outside:
//
//   pending   the bank is asked for the money (`deal_funding`); a worker funds it as soon as the buyer's
//             balance reaches
//   funded    begins in the transaction of the deal, otherwise by a worker: its parties are told what
//             to do, and customs is asked (`credit_transfer`) about each leg
//   failed    by the clock, by customs or by the operator
//
// A pending entry per leg holds the credit from the deal on, and the money too when the buyer has it
// with us. Money that comes later is held by entries of its own (`money_apart`). Deadlines are working
// days of the operator's calendar (seconds in the sandbox), and stand still while the port that is
// waited for is away.

import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { writeStep } from "../kernel/lifecycle.ts";
import {
  sumParts,
  type Bps,
  type Fee,
  noFee,
  type Paise,
  type PaiseSum,
  subtractPaise,
} from "../kernel/money.ts";
import { isHouse } from "../kernel/ids.ts";
import { type OriginKind, type Scheme } from "../kernel/scheme.ts";
import { findSelfInitiating } from "../firms/find-firms.ts";
import { loadCalendar } from "../outside/calendar.ts";
import { findParties, type Parties } from "../outside/scenarios.ts";
import { transferScenarios } from "../outside/scenario-rules.ts";
import { beginTransfers } from "../credits/settle-credits.ts";
import { askOutside, loadPortAndCalendar } from "../outside/ask.ts";
import { findBalances } from "../ledger/read-books.ts";
import { loadDefaultBps } from "../rates/current-cards.ts";
import { assertWritten, type Entry, type EntryName } from "../ledger/rules.ts";
import { type BookChanges, writeBooksBeside, type WrittenBooks } from "../ledger/write-books.ts";
import { all, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { askCustoms, findTransferIecs, listAsked, takeDealScenarios } from "./transfer-legs.ts";
import { buildSettlementChanges } from "./move-settlement.ts";
import { buildCreditMovement, buildMoneyMovements } from "./movements.ts";
import { computeDueAt, type SettlementState } from "./rules.ts";
import { insertLegs, insertSettlements, type LegRow, type SettlementRow } from "./store.ts";
import { buildTaskChanges } from "./read-tasks.ts";
import {
  atOnce,
  beginDeal,
  buildSteppedChanges,
  byPeople,
  type SteppedDeal,
  type When,
} from "./decide-legs.ts";

/** A firm on one side of a deal, with its order; the house has no order. */
export type Party = {
  readonly deskId: string;
  readonly firmId: string;
  readonly orderId: string | null;
};

/** An agreed deal: one buyer, whole credits, and the money of both sides for each credit. */
export type NewDeal = {
  readonly settlementId: string;
  readonly environment: Environment;
  readonly scheme: Scheme;
  /** The order or cross that made the deal. */
  readonly origin: string;
  readonly originKind: OriginKind;
  readonly buyer: Party;
  readonly buyerBps: Bps;
  /** Whether it was agreed on the buyer's available money; if that has fallen, `FundsMoved` is thrown. */
  readonly isFunded?: boolean;
  /** Whether two firms agreed on it privately; it is not published on the market. */
  readonly isPrivate?: boolean;
  /** The pending entry that holds the money now; the deal's own holds replace it. */
  readonly escrow?: EntryName;
  readonly legs: readonly {
    readonly scripNo: string;
    /** Locked, and listed or reserved for the seller's order or the origin. */
    readonly creditId: string;
    readonly seller: Party;
    readonly facePaise: Paise;
    readonly sellerBps: Bps;
    readonly sellerPaise: Paise;
    readonly buyerPaise: Paise;
    /** The fee and GST within each side's money; zero when left out. */
    readonly fees?: { readonly buyer: Fee; readonly seller: Fee };
  }[];
};

/** Whose deals facts are for. */
type OpeningParties = { readonly firmIds: readonly string[]; readonly deskIds: readonly string[] };

/** What deals of these parties are opened by, besides what was agreed. */
export type OpeningFacts = {
  readonly about: { readonly firms: ReadonlySet<string>; readonly desks: ReadonlySet<string> };
  readonly port: { readonly isUp: boolean; readonly calendarVersion: string };
  readonly selfInitiating: ReadonlySet<string>;
  readonly parties: Parties;
  readonly defaultBps: ReadonlyMap<Scheme, Bps>;
};

/** For who knows the parties before there are deals; the firms of sellers must be locked. */
export function loadOpeningFacts(
  environment: Environment,
  { firmIds, deskIds }: OpeningParties,
  now: Date,
): Query<OpeningFacts> {
  const about = { firms: new Set(firmIds), desks: new Set(deskIds) };
  return all([
    loadPortAndCalendar(environment, "registry"),
    findSelfInitiating(firmIds.filter((firmId) => !isHouse(firmId))),
    findParties(environment, deskIds),
    loadDefaultBps(environment, now),
  ]).map(([port, selfInitiating, parties, defaultBps]) => ({
    about,
    port,
    selfInitiating,
    parties,
    defaultBps,
  }));
}

function isAbout({ about }: OpeningFacts, { firmIds, deskIds }: OpeningParties): boolean {
  const isKnown = (firmId: string) => isHouse(firmId) || about.firms.has(firmId);
  return firmIds.every(isKnown) && deskIds.every((deskId) => about.desks.has(deskId));
}

/**
 * Builds the settlements of deals, in the transaction that agrees them. A settlement starts funded
 * where the buyer's balance covers it, and begins at once unless customs is down; a worker begins the
 * others. The caller stores them with `storeSettlements` and records their changes last. Facts that are
 * given are not asked for again.
 */
export async function openSettlements(
  tx: Tx,
  deals: readonly NewDeal[],
  now: Date,
  given?: OpeningFacts,
): Promise<OpenedSettlements> {
  const [first] = deals;
  if (!first) return { openings: [], states: new Map(), begun: new Set(), changes: [] };
  const { environment } = first;
  const about = {
    firmIds: deals.flatMap(({ legs }) => legs.map(({ seller }) => seller.firmId)),
    deskIds: deals.flatMap(listDesks),
  };
  const [funded, { port, selfInitiating, parties, defaultBps }] = await tx.pipeline([
    findFundedDeals(environment, deals),
    given && isAbout(given, about) ? known(given) : loadOpeningFacts(environment, about, now),
  ]);
  const { isUp: customsIsUp, calendarVersion } = port;
  const calendar = await loadCalendar(tx, calendarVersion);
  const when = { now, calendar, selfInitiating, defaultBps };
  const openings = deals.map((deal): Opening => {
    const born = newSettlement(deal, funded.has(deal.settlementId), when);
    const desks = listDesks(deal);
    // Where a party of the sandbox is not to act at once, a worker begins the deal.
    const isPlain = desks.every((id) => !parties.manual.has(id) && !parties.unreliable.has(id));
    const begins = customsIsUp && born.settlement.state === "funded" && isPlain;
    const playing = environment === "live" ? byPeople : atOnce;
    return {
      deal,
      ...born,
      beginning: begins ? beginDeal(born, () => playing, when) : undefined,
      paysItself: parties.manual.has(deal.buyer.deskId),
    };
  });
  return {
    openings,
    states: new Map(openings.map(({ deal, ...own }) => [deal.settlementId, toRow(own).state])),
    begun: new Set(openings.filter(isAtCustomsNow).flatMap(listCreditIds)),
    changes: openings.flatMap((opening) =>
      buildOpeningChanges(opening, now).map((change) => ({ origin: opening.deal.origin, change })),
    ),
  };
}

function listDesks({ buyer, legs }: NewDeal): string[] {
  return [...legs.map(({ seller }) => seller.deskId), buyer.deskId];
}

type OpenedSettlements = {
  readonly openings: readonly Opening[];
  /** By settlement. */
  readonly states: ReadonlyMap<string, SettlementState>;
  /** The credits whose transfer begins with the deal; the caller reserves the others. */
  readonly begun: ReadonlySet<string>;
  readonly changes: readonly ChangeByDeal[];
};

type Opening = ReturnType<typeof newSettlement> & {
  readonly deal: NewDeal;
  /** Set where its parties are told with the deal. */
  readonly beginning: SteppedDeal | undefined;
  /** Whether a buyer of the sandbox says itself that it has paid. */
  readonly paysItself: boolean;
};

/**
 * The credits are held in the books from here on, and the money where there is any; customs is asked
 * for what has begun, and the bank for what is not funded. What else the caller stores goes along, and
 * what it locks last.
 */
export async function storeSettlements<Stored, Last>(
  tx: Tx,
  { openings }: OpenedSettlements,
  now: Date,
  beside: { readonly stored: Query<Stored>; readonly last: (stored: Stored) => Query<Last> },
): Promise<Last> {
  const [first] = openings;
  if (!first) return await tx.run(beside.last(await tx.run(beside.stored)));
  const { environment } = first.deal;
  const settlements = openings.map(toRow);
  const deals = openings.flatMap(({ beginning }) => beginning ?? []);
  const transfers = deals.map((deal) => ({ settlement: deal.after, asked: listAsked(deal) }));
  const legs = openings.flatMap((opening) => opening.beginning?.legs ?? opening.legs);
  tx.added("settlements", settlements.length);
  tx.added("settlement_legs", legs.length);
  const own = all([
    insertSettlements(settlements, now),
    insertLegs(legs, now),
    beginTransfers(openings.filter(isAtCustomsNow).flatMap(listReservations), now),
    askForMoney(
      openings
        .filter(({ paysItself }) => !paysItself)
        .map(toRow)
        .filter(isUnfunded),
      now,
    ),
  ]);
  const { written, next } = await writeBooksBeside(tx, buildHolds(openings), now, {
    first: all([
      findTransferIecs(environment, transfers, now),
      takeDealScenarios(
        environment,
        deals.map(({ after, legs: own }) => ({ settlement: after, legs: own })),
        transferScenarios,
      ),
      own,
      beside.stored,
    ]),
    next: ([iecs, findOfDeal, , stored]) => {
      const findScenario = (leg: LegRow) => findOfDeal(leg.settlement_id);
      const asked = askCustoms(environment, transfers, { iecs, findScenario }, now);
      return all([asked, beside.last(stored)]);
    },
  });
  assertWritten(written.resolutions);
  assertHoldsWritten(written.entries);
  return next[1];
}

/** A change and the order or cross of its deal. */
type ChangeByDeal = { readonly origin: string; readonly change: Change };

/** A buyer's balance fell, or its debt rose, after it was read; the caller retries. */
export class FundsMoved extends Error {
  constructor() {
    super("a buyer's money changed while its deals were made");
  }
}

/**
 * The books name another owner of these credits, which an operator must clear up. A caller with other
 * deals in the same set retries without these credits.
 */
export class OwnersDisputed extends Failure {
  readonly scripNos: readonly string[];
  constructor(scripNos: readonly string[]) {
    super("conflict", "the credit cannot be sold until its owner is confirmed", {
      detail: {
        reason: "credit_not_sellable",
        credit_status: "owner_disputed",
        scrip_no: scripNos[0],
      },
    });
    this.scripNos = scripNos;
  }
}

/** Throws `OwnersDisputed` or `FundsMoved` where the ledger refused a hold. */
export function assertHoldsWritten(written: WrittenBooks["entries"]): void {
  const refusals = written.flatMap((item) => (item.ok ? [] : [item.refusal]));
  const disputed = refusals.flatMap((refusal) => ("scripNo" in refusal ? [refusal.scripNo] : []));
  if (disputed.length > 0) throw new OwnersDisputed(disputed);
  if (refusals.some(({ reason }) => reason === "insufficient_funds")) throw new FundsMoved();
  assertWritten(written);
}

/** Selects deals in order while the buyer's balance covers them, and deducts each. */
export function selectPaidDeals(
  deals: readonly NewDeal[],
  available: Map<string, PaiseSum>,
): ReadonlySet<string> {
  const paid = deals.filter((deal) => {
    if (isPaid(deal)) return true;
    const left = subtractPaise(available.get(deal.buyer.firmId) ?? 0, sumBuyerPaise(deal));
    if (left < 0 && deal.isFunded) throw new FundsMoved();
    if (left < 0) return false;
    available.set(deal.buyer.firmId, left);
    return true;
  });
  return new Set(paid.map(({ settlementId }) => settlementId));
}

/** A new settlement, its legs and their holds. */
export function newSettlement(deal: NewDeal, funded: boolean, when: OpeningTerms) {
  const settlement = buildSettlement(deal, funded, when);
  const legs = buildLegs(deal, when);
  const holds = legs.map((leg) => buildHold(leg, deal.buyer.firmId, funded));
  return { settlement, legs, holds };
}

/** The firms that initiate at customs themselves are those that the mandates of the sellers leave it to. */
type OpeningTerms = When & {
  readonly selfInitiating: ReadonlySet<string>;
  /** What a side that is late pays; nothing in a scheme without a card, of which nobody was told. */
  readonly defaultBps: ReadonlyMap<Scheme, Bps>;
};

function findFundedDeals(
  environment: Environment,
  deals: readonly NewDeal[],
): Query<ReadonlySet<string>> {
  const clients = new Set(deals.filter((deal) => !isPaid(deal)).map(({ buyer }) => buyer.firmId));
  if (clients.size === 0) return known(selectPaidDeals(deals, new Map()));
  return findBalances(environment, [...clients]).map((balances) =>
    selectPaidDeals(deals, new Map(balances.map((each) => [each.firm_id, each.available_paise]))),
  );
}

/** The house always has the money, and so does a client with an escrow. */
function isPaid({ buyer, escrow }: NewDeal): boolean {
  return isHouse(buyer.firmId) || escrow !== undefined;
}

function toRow({ settlement, beginning }: Pick<Opening, "settlement" | "beginning">) {
  return beginning?.after ?? settlement;
}

function isUnfunded({ state }: SettlementRow): boolean {
  return state === "pending";
}

/** Whether its transfers may be open with the deal. */
function isAtCustomsNow({ beginning }: Opening): boolean {
  return beginning?.after.state === "transfer_initiated";
}

function listCreditIds({ deal }: Opening): string[] {
  return deal.legs.map(({ creditId }) => creditId);
}

/** The creation, and what its parties are told to do. */
function buildOpeningChanges({ settlement: after, legs, beginning }: Opening, now: Date): Change[] {
  const event = "settlement.created";
  return [
    ...buildSettlementChanges({ action: "create", event, before: null, after, legs }),
    ...buildTaskChanges(null, { settlement: after, legs }, now),
    ...(beginning ? buildSteppedChanges(beginning, now) : []),
  ];
}

function listReservations({ deal: { origin, legs } }: Opening) {
  return legs.map(({ creditId, seller }) => ({ creditId, reservedFor: seller.orderId ?? origin }));
}

/** Asks the bank about the money of unfunded settlements. */
export function askForMoney(unfunded: readonly SettlementRow[], now: Date): Query<void> {
  return askOutside(
    unfunded.map((row) => ({
      environment: row.environment,
      deskId: row.buyer_desk_id,
      port: "bank",
      kind: "deal_funding",
      subjectId: row.settlement_id,
      facts: { firm_id: row.buyer_firm_id, paise: row.buyer_paise },
    })),
    now,
  );
}

/** Voids escrows and writes holds in one call, so that escrowed money is never available in between. */
function buildHolds(openings: readonly Opening[]): BookChanges {
  return {
    entries: openings.flatMap(({ holds }) => holds),
    resolutions: openings.flatMap(({ deal: { escrow } }) =>
      escrow ? [{ ...escrow, as: "voided" as const }] : [],
    ),
  };
}

function sumBuyerPaise({ legs }: NewDeal): Paise {
  return sumParts(legs.map((leg) => leg.buyerPaise));
}

function buildSettlement(
  deal: NewDeal,
  funded: boolean,
  { now, calendar, defaultBps }: OpeningTerms,
): SettlementRow {
  const state = funded ? "funded" : "pending";
  const dueAt = computeDueAt(funded ? "initiate" : "pay", deal.environment, now, calendar);
  return {
    settlement_id: deal.settlementId,
    environment: deal.environment,
    scheme: deal.scheme,
    origin: deal.origin,
    origin_kind: deal.originKind,
    buyer_desk_id: deal.buyer.deskId,
    buyer_firm_id: deal.buyer.firmId,
    buyer_order_id: deal.buyer.orderId,
    state,
    reason: null,
    face_paise: sumParts(deal.legs.map((leg) => leg.facePaise)),
    buyer_paise: sumBuyerPaise(deal),
    due_at: dueAt,
    ends_at: dueAt,
    next_late_at: funded || isHouse(deal.buyer.firmId) ? null : dueAt,
    begun: false,
    paid_at: funded ? now : null,
    pay_due_at: funded ? null : dueAt,
    pay_reference: null,
    pay_late_at: null,
    money_apart: false,
    default_bps: defaultBps.get(deal.scheme) ?? 0,
    history: [writeStep(state, now, null)],
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

function buildLegs(deal: NewDeal, { now, selfInitiating }: OpeningTerms): LegRow[] {
  return deal.legs.map((leg, ordinal) => ({
    ...noSteps,
    ...toFeeColumns(leg.fees),
    settlement_id: deal.settlementId,
    scrip_no: leg.scripNo,
    ordinal,
    environment: deal.environment,
    scheme: deal.scheme,
    dealt_at: now,
    seller_desk_id: leg.seller.deskId,
    seller_firm_id: leg.seller.firmId,
    seller_order_id: leg.seller.orderId,
    face_paise: leg.facePaise,
    seller_bps: leg.sellerBps,
    buyer_bps: deal.buyerBps,
    seller_paise: leg.sellerPaise,
    buyer_paise: leg.buyerPaise,
    private: deal.isPrivate ?? false,
    state: "pending",
    reason: null,
    answered_at: null,
    initiate_by: selfInitiating.has(leg.seller.firmId) ? "firm" : "house",
  }));
}

/** What nobody has done yet. */
const noSteps = {
  failed_step: null,
  scenario: null,
  initiate_due_at: null,
  initiated_at: null,
  initiate_reference: null,
  accept_due_at: null,
  accepted_at: null,
  accept_reference: null,
  missing_at: null,
  missing_reference: null,
  missing_note: null,
  customs_due_at: null,
  late_at: null,
  pending_from: null,
  pending_until: null,
  default_by: null,
  default_paise: 0,
  default_paid_at: null,
} as const;

function toFeeColumns({ buyer, seller } = { buyer: noFee, seller: noFee }) {
  return {
    buyer_fee_paise: buyer.feePaise,
    buyer_gst_paise: buyer.gstPaise,
    seller_fee_paise: seller.feePaise,
    seller_gst_paise: seller.gstPaise,
  };
}

/** One pending entry per leg, because each credit is delivered or refused by itself. */
function buildHold(leg: LegRow, buyerFirmId: string, funded: boolean): Entry {
  return {
    environment: leg.environment,
    kind: "deal_hold",
    subject: leg.settlement_id,
    ordinal: leg.ordinal,
    phase: "pending",
    movements: [
      buildCreditMovement(leg, buyerFirmId),
      ...(funded ? buildMoneyMovements(leg, buyerFirmId) : []),
    ],
  };
}
