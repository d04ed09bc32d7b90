// Orders in memory: the deciding functions of the service on rows that no database keeps, with a book
// of real indexes. Whoever tests by thousands of sequences uses this; how rows are loaded, locked and
// stored is for the tests that have a database.

import assert from "node:assert/strict";

import type { Book, Offers } from "../../src/trading/book.ts";
import { OfferIndex } from "../../src/cover/offer-index.ts";
import type { Offer } from "../../src/cover/rules.ts";
import type { DealtCredit } from "../../src/credits/reserve-credits.ts";
import type { TradingFirm } from "../../src/firms/find-firms.ts";
import type { Call } from "../../src/kernel/caller.ts";
import { houseFirmId } from "../../src/kernel/ids.ts";
import { advance } from "../../src/kernel/lifecycle.ts";
import { addDays, dayNumber, istDay } from "../../src/kernel/time.ts";
import { comparePriority } from "../../src/trading/match-rules.ts";
import { buildDeals } from "../../src/trading/store-orders.ts";
import { decideOrders, type Loaded, type OrderDecision } from "../../src/trading/decide-orders.ts";
import {
  endRest,
  parseIntent,
  orderLifecycle,
  type OrderFields,
} from "../../src/trading/order-rules.ts";
import { serveBuy, serveSell } from "../../src/trading/match-resting.ts";
import type { OrderRow } from "../../src/trading/order-store.ts";
import { newMatchState, type MatchState } from "../../src/trading/match-state.ts";
import { type CardToday, startingTerms } from "../../src/rates/rules.ts";
import type { NewDeal } from "../../src/settlement/open-settlements.ts";
import { openBookSessions } from "../../src/trading/book-session.ts";

const environment = "sandbox";
const scheme = "RODTEP";
export const house = houseFirmId[environment];
const startMs = Date.UTC(2026, 10, 15, 9, 15);
const validDays = 700;

/** Four clients; the last two are one company. */
const pans = ["AAAPA1111A", "BBBPB2222B", "CCCPC3333C", "CCCPC3333C"];
export const clients = pans.map((_, n) => `frm_0000000000000000000000001${n}`);

const firms: ReadonlyMap<string, TradingFirm> = new Map(
  clients.map((firmId, n) => [
    firmId,
    {
      firm_id: firmId,
      desk_id: firmId,
      pan: pans[n] ?? "",
      connection_state: "authorized",
      mandate: null,
      legal_name: firmId,
    },
  ]),
);

export function findPan(firmId: string): string {
  return firms.get(firmId)?.pan ?? "house";
}

export class OrderWorld {
  now = new Date(startMs);
  card: CardToday = {
    ...startingTerms[scheme],
    environment,
    scheme,
    version: 1,
    state: "open",
    published_at: new Date(0),
    published_by: "test",
    note: null,
    taken_paise: 0,
    gst_bps: 1_800,
  };
  readonly orders = new Map<string, OrderRow>();
  readonly credits = new Map<string, DealtCredit>();
  readonly deals: NewDeal[] = [];
  readonly #offers: Offers = { RODTEP: new OfferIndex(), ROSCTL: new OfferIndex() };
  readonly #book: Book = { look: async () => this.#offers, setAside: () => {} };

  get today() {
    return istDay(this.now);
  }

  addCredit(firmId: string, facePaise: number): string {
    const scripNo = `SCRIP${String(this.credits.size + 1).padStart(5, "0")}`;
    const expires_on = addDays(this.today, validDays);
    const facts = { scrip_no: scripNo, scheme, face_paise: facePaise, expires_on } as const;
    const holding = { credit_id: scripNo, firm_id: firmId, desk_id: firmId } as const;
    // The rest of a row is nothing that a decision looks at.
    const credit = { ...facts, ...holding, state: "listed", reserved_for: null } as DealtCredit;
    this.credits.set(scripNo, credit);
    if (firmId === house) this.#offers[scheme].put(toOffer(credit, undefined));
    return scripNo;
  }

  /** Open orders of a side, the first to be served first. */
  resting(side: "sell" | "buy"): OrderRow[] {
    const open = [...this.orders.values()].filter((o) => o.state === "open" && o.side === side);
    return side === "buy"
      ? open.toSorted(comparePriority)
      : open.toSorted((a, b) => (a.limit_bps ?? 0) - (b.limit_bps ?? 0));
  }

  async place(firmId: string, fields: OrderFields): Promise<OrderDecision> {
    const loaded = this.#load(firmId, fields);
    const [verdict] = await this.#decide((matchState) => decideOrders(matchState, [loaded]));
    assert.ok(verdict);
    return verdict;
  }

  /** Decides the same and takes it back: nothing may differ afterwards. */
  async tryOut(firmId: string, fields: OrderFields): Promise<void> {
    const loaded = this.#load(firmId, fields);
    const { matchState, session } = await this.#open();
    const before = this.offered();
    await decideOrders(matchState, [loaded]);
    session.undo();
    assert.deepEqual(this.offered(), before);
  }

  /** One look of the matcher. */
  async match(): Promise<void> {
    await this.#decide((matchState) => {
      for (const buy of matchState.restingBuys.slice()) serveBuy(matchState, buy);
      if (this.card.state !== "open") return;
      const sold = new Set(matchState.deals.flatMap((deal) => deal.legs.map((leg) => leg.scripNo)));
      for (const sell of this.resting("sell")) {
        const left = sell.resting_scrip_nos.filter((scripNo) => !sold.has(scripNo));
        const credits = left.map((scripNo) => this.findCredit(scripNo));
        if (credits.length > 0) serveSell(matchState, sell, credits);
      }
    });
  }

  end(order: OrderRow, how: "cancelled" | "expired"): void {
    this.#tick();
    for (const scripNo of order.resting_scrip_nos) {
      const credit = this.findCredit(scripNo);
      this.credits.set(scripNo, { ...credit, state: "listed", reserved_for: null });
      this.#offers[scheme].remove(scripNo);
    }
    this.orders.set(order.order_id, endRest(order, { how, reason: null, now: this.now }));
  }

  /** As settlement does when nothing of an order's deals was delivered. */
  fail(order: OrderRow): void {
    this.#tick();
    const state = advance(orderLifecycle, order.state, "fail");
    this.orders.set(order.order_id, { ...order, state });
  }

  findCredit(scripNo: string): DealtCredit {
    return this.credits.get(scripNo) ?? assert.fail(`${scripNo} is not there`);
  }

  /** What was sold leaves the book with the next look of the service; here it leaves at once. */
  leaveBook(scripNos: readonly string[]): void {
    for (const scripNo of scripNos) this.#offers[scheme].remove(scripNo);
  }

  /** The numbers in the book. */
  offered(): string[] {
    return [...this.credits.keys()].filter((no) => this.#offers[scheme].find(no) !== undefined);
  }

  #tick(): void {
    this.now = new Date(this.now.getTime() + 1_000);
  }

  #load(firmId: string, fields: OrderFields): Loaded {
    this.#tick();
    const intent = parseIntent(fields, this.now);
    const own = [...this.credits.values()].filter(
      (credit) => credit.firm_id === firmId && credit.state === "listed",
    );
    return {
      call: buildCall(firmId),
      intent,
      idempotencyKey: null,
      request: {},
      receivedAt: this.now,
      plan: null,
      quote: undefined,
      cover: undefined,
      firm: firms.get(firmId),
      credit: fields.scrip_no === undefined ? undefined : this.credits.get(fields.scrip_no),
      deliverable: intent.ask.kind === "amount" ? own : [],
      bundle: [],
      limits: { max_order_paise: null, daily_notional_paise: null },
      isHeld: false,
    };
  }

  async #open() {
    const session = openBookSessions(this.#book).session(environment, new Set());
    await session.refresh();
    const matchState = newMatchState({
      environment,
      now: this.now,
      today: this.today,
      book: session,
      firms,
      restingBuys: this.resting("buy"),
      originals: new Map(),
      orderedByKey: new Map(),
      findCard: (_, of) => (of === scheme ? this.card : undefined),
    });
    return { matchState, session };
  }

  async #decide<Result>(decide: (matchState: MatchState) => Result): Promise<Result> {
    this.#tick();
    const { matchState } = await this.#open();
    const result = decide(matchState);
    this.#store(matchState);
    return result;
  }

  #store(matchState: MatchState): void {
    const legs = matchState.deals.flatMap((deal) => deal.legs);
    const offered = legs.map(({ scripNo, sellerOrderId }) => {
      const credit = this.findCredit(scripNo);
      const order = this.orders.get(sellerOrderId ?? "");
      return [scripNo, { credit, order, offer: toOffer(credit, order) }] as const;
    });
    const { deals, reservations } = buildDeals(matchState, new Map(offered));
    this.deals.push(...deals);
    for (const [orderId, order] of matchState.placed) this.orders.set(orderId, order);
    for (const [orderId, { after }] of matchState.dealt) this.orders.set(orderId, after);
    for (const { creditId, reservedFor } of reservations) {
      const credit = this.findCredit(creditId);
      assert.equal(credit.state, "listed", "what is reserved was free");
      this.credits.set(creditId, { ...credit, state: "reserved", reserved_for: reservedFor });
    }
    this.leaveBook(legs.map(({ scripNo }) => scripNo));
    const taken = matchState.houseTaken.get(scheme) ?? 0;
    this.card = { ...this.card, taken_paise: this.card.taken_paise + taken };
  }
}

function toOffer(credit: DealtCredit, order: OrderRow | undefined): Offer {
  return {
    scrip_no: credit.scrip_no,
    face_paise: credit.face_paise,
    expires_on: dayNumber(credit.expires_on),
    limit_bps: order?.limit_bps ?? 0,
    seller: findPan(credit.firm_id),
    order_id: order?.order_id ?? null,
  };
}

function buildCall(firmId: string): Call {
  return {
    caller: {
      environment,
      keyId: "key_test",
      kind: "root",
      firmId,
      deskId: firmId,
      scopes: ["*"],
      buySide: true,
    },
    requestId: "req_test",
    idempotencyKey: undefined,
    dryRun: false,
  } as unknown as Call; // What else a caller has is nothing that a decision looks at.
}
