// What must come of deals, in plain numbers. The model shares nothing with the service: its edges are
// the published tables written a second time, and its sums are added up here.
//
//   a deal     waits for its money, then for the transfer, then for customs, credit by credit
//   a leg      that is delivered moves its credit and its money; one that fails moves neither
//   a seller   is paid once the last of its legs is answered, and not before
//   the end    is settled when anything was delivered, and failed otherwise

export const settlementEdges: Edges = {
  pending: { fund: "funded", fail: "failed" },
  funded: { initiate: "transfer_initiated", fail: "failed" },
  transfer_initiated: { confirm: "transfer_confirmed", fail: "failed" },
  transfer_confirmed: { settle: "settled" },
  settled: { reverse: "reversed" },
  failed: {},
  reversed: {},
};

export const legEdges: Edges = {
  pending: { fund: "to_initiate", fail: "failed" },
  to_initiate: { initiate: "to_accept", fail: "failed" },
  to_accept: { accept: "transferring", miss: "missing", deliver: "delivered", refuse: "failed" },
  missing: {
    initiate: "to_accept",
    accept: "transferring",
    deliver: "delivered",
    refuse: "failed",
  },
  transferring: { deliver: "delivered", refuse: "failed" },
  delivered: {},
  failed: {},
};

export const payoutEdges: Edges = {
  scheduled: { hold: "held", instruct: "instructed", send: "sent", recall: "returned" },
  held: { release: "scheduled", recall: "returned" },
  instructed: { void: "scheduled", confirm: "paid", return: "returned" },
  sent: { confirm: "paid", return: "returned" },
  paid: { bounce: "returned" },
  returned: {},
};

export type Edges = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** How long each state may last, in seconds. */
const patience: Readonly<Record<string, number>> = {
  pending: 60,
  funded: 60,
  transfer_initiated: 30,
};

export type ModelLeg = {
  readonly scripNo: string;
  readonly seller: string;
  readonly face: number;
  /** What the buyer pays, what the seller gets, and what of the difference is fee and tax. */
  readonly pays: number;
  readonly gets: number;
  readonly fee: number;
  readonly tax: number;
  state: string;
};

export type ModelDeal = {
  readonly buyer: string;
  readonly isCross: boolean;
  readonly legs: readonly ModelLeg[];
  state: string;
  due: number | undefined;
};

export type ModelPayout = {
  readonly deal: ModelDeal;
  readonly firm: string;
  readonly paise: number;
  state: string;
  wasResent: boolean;
};

type Credit = {
  owner: string;
  isFree: boolean;
  /** Customs has stopped it. */
  isStopped: boolean;
  /** It has changed hands here at least once. */
  hasMoved: boolean;
};

type Setting = {
  readonly house: string;
  readonly clients: readonly string[];
  readonly toDesk: (firm: string) => string;
  readonly commissionBps: number;
};

export class SettlementModel {
  second = 0;
  readonly deals: ModelDeal[] = [];
  readonly payouts: ModelPayout[] = [];
  readonly credits = new Map<string, Credit>();
  readonly stoppedFirms = new Set<string>();
  booksHold = true;
  bankUp = true;
  readonly #cash = new Map<string, number>();
  readonly #dues = new Map<string, number>();
  readonly #earned = new Map<string, number>();
  readonly #house = { cash: 0, fees: 0, tax: 0 };
  #bank = 0;
  readonly #setting: Setting;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  addCredit(scripNo: string, owner: string): void {
    this.credits.set(scripNo, { owner, isFree: true, isStopped: false, hasMoved: false });
  }

  payIn(firm: string, paise: number): void {
    add(this.#cash, firm, paise);
    this.#bank -= paise;
  }

  /** Whether it is made: a cross is only with its money. */
  agree(deal: Pick<ModelDeal, "buyer" | "isCross" | "legs">): boolean {
    const needed = sum(deal.legs.map((leg) => leg.pays));
    const hasMoney = this.#isHouse(deal.buyer) || needed <= this.available(deal.buyer);
    if (deal.isCross && !hasMoney) return false;
    const made = { ...deal, state: "", due: undefined };
    this.deals.push(made);
    this.#become(made, hasMoney ? "funded" : "pending");
    for (const { scripNo } of deal.legs) this.#credit(scripNo).isFree = false;
    return true;
  }

  fundFromBalances(): void {
    for (const deal of this.deals.filter(({ state }) => state === "pending")) {
      const needed = sum(openLegs(deal).map((leg) => leg.pays));
      if (needed <= this.available(deal.buyer)) this.#become(deal, "funded");
    }
  }

  fund(deal: ModelDeal): boolean {
    if (deal.state !== "pending") return false;
    this.payIn(deal.buyer, sum(deal.legs.map((leg) => leg.pays)));
    this.#become(deal, "funded");
    return true;
  }

  missMoney(deal: ModelDeal): void {
    if (deal.state === "pending") this.#answer(deal, openLegs(deal), "failed");
  }

  failOverdue(): void {
    for (const deal of this.deals) {
      if (deal.due !== undefined && deal.due <= this.second) {
        this.#answer(deal, openLegs(deal), "failed");
      }
    }
  }

  initiate(deal: ModelDeal): boolean {
    if (deal.state !== "funded") return false;
    const lost = openLegs(deal).filter(({ scripNo }) => this.#credit(scripNo).isStopped);
    if (lost.length > 0) this.#answer(deal, lost, "failed");
    else {
      for (const leg of openLegs(deal)) leg.state = "transferring";
      this.#become(deal, "transfer_initiated");
    }
    return true;
  }

  answer(deal: ModelDeal, leg: ModelLeg, outcome: "transferred" | "refused" | "suspended"): void {
    if (leg.state !== "transferring") return;
    if (outcome === "suspended") this.stopCredit(leg.scripNo);
    this.#answer(deal, [leg], outcome === "transferred" ? "delivered" : "failed");
  }

  takeAway(deal: ModelDeal, leg: ModelLeg): void {
    this.stopCredit(leg.scripNo);
    this.#answer(deal, [leg], "failed");
  }

  stopCredit(scripNo: string): void {
    this.#credit(scripNo).isStopped = true;
  }

  fail(deal: ModelDeal): boolean {
    if (deal.due === undefined) return false;
    this.#answer(deal, openLegs(deal), "failed");
    return true;
  }

  reverse(deal: ModelDeal): boolean {
    const delivered = deal.legs.filter(({ state }) => state === "delivered");
    const paidOut = this.payouts.filter((payout) => payout.deal === deal);
    const isHeldFreely = delivered.every(({ scripNo }) => {
      const { owner, isFree, isStopped } = this.#credit(scripNo);
      return owner === deal.buyer && isFree && !isStopped;
    });
    if (deal.state !== "settled" || !isHeldFreely) return false;
    if (paidOut.some(({ state }) => state === "sent" || state === "instructed")) return false;
    for (const payout of paidOut) {
      if (payout.state !== "scheduled" && payout.state !== "held") continue;
      payout.state = "returned";
    }
    this.#become(deal, "reversed");
    const available = new Map(delivered.map(({ seller }) => [seller, this.available(seller)]));
    for (const leg of delivered) this.#giveBack(deal, leg, available);
    return true;
  }

  look(payout: ModelPayout): boolean {
    if (payout.state !== "scheduled" && payout.state !== "held") return false;
    const isStopped = this.stoppedFirms.has(payout.firm) || !this.booksHold;
    const free = this.bankUp ? "sent" : "scheduled";
    payout.state = isStopped ? "held" : free;
    return true;
  }

  instruct(payout: ModelPayout): boolean {
    if (payout.state !== "scheduled") return false;
    payout.state = "instructed";
    return true;
  }

  voidFile(payout: ModelPayout): boolean {
    if (payout.state !== "instructed") return false;
    payout.state = "scheduled";
    return true;
  }

  bounce(payout: ModelPayout): boolean {
    if (payout.state !== "paid") return false;
    payout.state = "returned";
    this.payIn(payout.firm, payout.paise);
    return true;
  }

  bankSays(payout: ModelPayout, outcome: "paid" | "returned"): boolean {
    if (payout.state !== "sent" && payout.state !== "instructed") return false;
    payout.state = outcome;
    if (outcome === "paid") this.payIn(payout.firm, -payout.paise);
    return true;
  }

  recall(payout: ModelPayout): boolean {
    if (payout.state !== "scheduled" && payout.state !== "held") return false;
    payout.state = "returned";
    return true;
  }

  resend(payout: ModelPayout): boolean {
    const { state, wasResent, deal, firm, paise } = payout;
    if (state !== "returned" || wasResent || deal.state === "reversed") return false;
    if (this.available(firm) < paise) return false;
    payout.wasResent = true;
    this.#schedule(deal, firm, paise);
    return true;
  }

  available(firm: string): number {
    return (this.#cash.get(firm) ?? 0) - this.#kept(firm) - this.#leaving(firm);
  }

  /** What firms owe the house, below zero. */
  get dues(): number {
    return sum([...this.#dues.values()]);
  }

  /** All that there is to know, a line for each thing. */
  lines(): string[] {
    const { clients, house } = this.#setting;
    const { cash, fees, tax } = this.#house;
    return [
      ...this.deals.map(
        ({ state, due, legs }) => `deal ${state} ${due} ${legs.map((leg) => leg.state).join()}`,
      ),
      ...this.payouts.map(({ firm, paise, state }) => `payout ${firm} ${paise} ${state}`),
      ...clients.map((firm) => {
        const own = [this.#cash, this.#dues, this.#earned].map((each) => each.get(firm) ?? 0);
        const held = [this.#kept(firm), this.#leaving(firm), this.#coming(firm)];
        return `firm ${firm} ${own.join()} ${held.join()}`;
      }),
      `house ${cash},${fees},${tax} ${this.#kept(house)},0,${this.#coming(house)} bank ${this.#bank}`,
      ...[...this.credits].map(
        ([scripNo, { owner, isFree, isStopped, hasMoved }]) =>
          `credit ${scripNo} ${owner} ${isFree && !isStopped} ${hasMoved}`,
      ),
    ];
  }

  #answer(deal: ModelDeal, answered: readonly ModelLeg[], state: "delivered" | "failed"): void {
    for (const leg of answered) {
      leg.state = state;
      const credit = this.#credit(leg.scripNo);
      credit.isFree = true;
      if (state === "failed") continue;
      credit.owner = deal.buyer;
      credit.hasMoved = true;
      this.#pay(deal.buyer, -leg.pays);
      this.#pay(leg.seller, leg.gets);
      this.#keep(deal, leg, 1);
    }
    for (const seller of new Set(deal.legs.map((leg) => leg.seller))) {
      const own = deal.legs.filter((leg) => leg.seller === seller);
      if (!own.some((leg) => answered.includes(leg)) || own.some(isOpenLeg)) continue;
      const delivered = own.filter((leg) => leg.state === "delivered");
      const paise = sum(delivered.map((leg) => leg.gets));
      if (!this.#isHouse(seller) && paise > 0) this.#schedule(deal, seller, paise);
    }
    if (openLegs(deal).length > 0) return;
    const hasDelivered = deal.legs.some((leg) => leg.state === "delivered");
    this.#become(deal, hasDelivered ? "settled" : "failed");
  }

  /** The house's part of a delivered leg, and what it pays desks for it; or all of that back. */
  #keep(deal: ModelDeal, leg: ModelLeg, sign: 1 | -1): void {
    const { fee, tax, face } = leg;
    const paid = this.#isHouse(deal.buyer) ? 0 : leg.pays;
    const got = this.#isHouse(leg.seller) ? 0 : leg.gets;
    this.#house.cash += sign * (paid - got - fee - tax);
    this.#house.fees += sign * fee;
    this.#house.tax += sign * tax;
    for (const firm of deal.isCross ? [] : [deal.buyer, leg.seller]) {
      const desk = this.#setting.toDesk(firm);
      if (desk === firm) continue;
      const commission = Math.floor((face * this.#setting.commissionBps) / 10_000);
      add(this.#earned, desk, sign * commission);
      this.#house.cash -= sign * commission;
    }
  }

  /** A seller that has spent its money owes what is missing of it. */
  #giveBack(deal: ModelDeal, leg: ModelLeg, available: Map<string, number>): void {
    const { seller, scripNo } = leg;
    const credit = this.#credit(scripNo);
    credit.owner = seller;
    this.#pay(deal.buyer, leg.pays);
    this.#keep(deal, leg, -1);
    if (this.#isHouse(seller)) return;
    const there = Math.min(leg.gets, available.get(seller) ?? 0);
    add(available, seller, -there);
    this.#pay(seller, -there);
    add(this.#dues, seller, there - leg.gets);
  }

  #pay(firm: string, paise: number): void {
    if (!this.#isHouse(firm)) add(this.#cash, firm, paise);
  }

  #schedule(deal: ModelDeal, firm: string, paise: number): void {
    const state = this.stoppedFirms.has(firm) ? "held" : "scheduled";
    this.payouts.push({ deal, firm, paise, state, wasResent: false });
  }

  #become(deal: ModelDeal, state: string): void {
    deal.state = state;
    const seconds = patience[state];
    deal.due = seconds === undefined ? undefined : this.second + seconds;
  }

  /** Money of deals that are paid for and not delivered. */
  #kept(firm: string): number {
    const kept = this.#paidFor().map(({ deal, leg }) => {
      const ofHouse = leg.fee + leg.tax + (this.#isHouse(deal.buyer) ? leg.gets : 0);
      if (this.#isHouse(firm)) return ofHouse;
      return deal.buyer === firm ? leg.pays : 0;
    });
    return sum(kept);
  }

  #coming(firm: string): number {
    const coming = this.#paidFor().map(({ deal, leg }) => {
      if (!this.#isHouse(firm)) return leg.seller === firm ? leg.gets : 0;
      if (this.#isHouse(deal.buyer)) return 0;
      return leg.pays - (this.#isHouse(leg.seller) ? 0 : leg.gets);
    });
    return sum(coming);
  }

  /** Payouts that have not arrived, and what waits to be part of one. */
  #leaving(firm: string): number {
    const own = this.payouts.filter((payout) => payout.firm === firm);
    const leaving = own.filter(({ state }) =>
      ["scheduled", "held", "instructed", "sent"].includes(state),
    );
    const waiting = this.deals.flatMap(({ legs }) => {
      const sold = legs.filter((leg) => leg.seller === firm);
      return sold.some(isOpenLeg) ? sold.filter(({ state }) => state === "delivered") : [];
    });
    return sum(leaving.map(({ paise }) => paise)) + sum(waiting.map(({ gets }) => gets));
  }

  #paidFor(): { deal: ModelDeal; leg: ModelLeg }[] {
    return this.deals
      .filter(({ state }) => state === "funded" || state === "transfer_initiated")
      .flatMap((deal) => openLegs(deal).map((leg) => ({ deal, leg })));
  }

  #isHouse(firm: string): boolean {
    return firm === this.#setting.house;
  }

  #credit(scripNo: string): Credit {
    const credit = this.credits.get(scripNo);
    if (!credit) throw new Error(`${scripNo} is not there`);
    return credit;
  }
}

export function openLegs({ legs }: Pick<ModelDeal, "legs">): ModelLeg[] {
  return legs.filter(isOpenLeg);
}

function isOpenLeg({ state }: ModelLeg): boolean {
  return state === "pending" || state === "transferring";
}

function add(sums: Map<string, number>, name: string, paise: number): void {
  sums.set(name, (sums.get(name) ?? 0) + paise);
}

function sum(paise: readonly number[]): number {
  return paise.reduce((total, each) => total + each, 0);
}
