// The part of the house limit that open sell quotes hold, since each may still make the house buy.
//
//   hold      a new quote holds its face until it expires. A credit holds its face once, however often
//             it is quoted; an amount holds its face each time
//   announce  when a desk holds more than other processes know, its sum is written to house_quoted and
//             their sums are read. If all sums together exceed the limit, the hold is taken back and the
//             caller gets no quote. Sums that had room are not announced again
//   release   the house bought the credit, or the quote was used: it now counts as taken
//
// Deciding and holding are one synchronous step of this process. A process reads the sums of others
// after its own are visible, so of two processes at least one sees the other: together they never
// exceed the limit, and no lock is needed. An announced sum counts for other processes until its
// own expiry.

import { randomUUID } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import { asAmount, sumPaise, type Paise } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Database, Db } from "../platform/postgres/postgres.ts";
import { type CardToday, findDeskShare } from "./rules.ts";
import { listQuotedElsewhere, type Quoted, setQuoted } from "./store.ts";

type MarketKey = { readonly environment: Environment; readonly scheme: Scheme };

export type Holding = MarketKey & {
  readonly deskId: string;
  /** The credit, or for an amount the quote itself. */
  readonly id: string;
  readonly paise: Paise;
  readonly untilMs: number;
  /** The time of the decision. */
  readonly heldAtMs: number;
};

type DeskSum = {
  readonly market: MarketKey;
  readonly deskId: string;
  paise: Paise;
  /** When the last hold expires. */
  untilMs: number;
  /** The announced sum that had room; up to it nothing is announced again. */
  announced: { paise: Paise; untilMs: number };
  /** The number of its last announcement. */
  sequence: number;
};

type MarketSums = { total: Paise; readonly desks: Map<string, DeskSum> };

/** Bounds memory: on average so many holds per desk that has quoted. */
const holdingsOfDeskMax = 50_000;

export class OpenQuotes {
  readonly #node = randomUUID();
  readonly #held = new Map<string, Holding>();
  readonly #markets = new Map<Environment, Map<Scheme, MarketSums>>();
  #desks = 0;
  /** Ids by the second in which they expire; an id that was quoted again is filed again then. */
  readonly #ends = new Map<number, string[]>();
  #endedUpTo = 0;
  #announcements = 0;

  get node(): string {
    return this.#node;
  }

  /** The holds of this process in a market. */
  total(market: MarketKey, now: Date): Paise {
    this.#end(now.getTime());
    return this.#sumMarket(market).total;
  }

  /** The hold of a credit or a quote. */
  heldFor(id: string): Paise {
    return this.#held.get(id)?.paise ?? 0;
  }

  /** Whether this hold fits into the house limit and the share of its desk. */
  hasRoom(card: CardToday, holding: Holding, now: Date, elsewhere = noneElsewhere): boolean {
    this.#end(now.getTime());
    const own = this.heldFor(holding.id);
    if (own === 0 && this.#held.size >= holdingsOfDeskMax * (1 + this.#desks)) return false;
    const added = holding.paise - own;
    const sums = this.#sumMarket(holding);
    const total = sums.total + elsewhere.total + added;
    if (total > card.house_limit_paise - card.taken_paise) return false;
    const ofDesk = (sums.desks.get(holding.deskId)?.paise ?? 0) + elsewhere.ofDesk + added;
    return ofDesk + (card.desk_day?.taken_paise ?? 0) <= findDeskShare(card);
  }

  /** Returns the previous hold of the same id, for `takeBack`. */
  hold(holding: Holding): Holding | undefined {
    this.#end(holding.heldAtMs);
    const before = this.#held.get(holding.id);
    const isLonger = before !== undefined && before.untilMs > holding.untilMs;
    const held = isLonger ? { ...holding, untilMs: before.untilMs } : holding;
    if (!before) this.#noteEnd(held.id, held.untilMs);
    this.#held.set(held.id, held);
    // Most quotes repeat a credit that is already held at the same face.
    if (!before || before.paise !== held.paise || before.deskId !== held.deskId) {
      if (before) this.#add(before, -before.paise);
      this.#add(held, held.paise);
    }
    const sum = this.#sumDesk(held);
    if (sum.untilMs < held.untilMs) sum.untilMs = held.untilMs;
    return before;
  }

  /** Undoes a `hold`. */
  takeBack({ id }: Holding, before: Holding | undefined): void {
    const held = this.#held.get(id);
    if (held) this.#add(held, -held.paise);
    if (before) {
      this.#held.set(id, before);
      this.#add(before, before.paise);
    } else {
      this.#held.delete(id);
    }
  }

  /** Ends holds, except of ids that were quoted again after `decidedAt`. */
  release(ids: Iterable<string>, decidedAt: Date): void {
    for (const id of ids) {
      const held = this.#held.get(id);
      if (!held || held.heldAtMs > decidedAt.getTime()) continue;
      this.#held.delete(id);
      this.#add(held, -held.paise);
    }
  }

  /** Whether this desk holds more, or for longer, than was announced. */
  isUntold(of: MarketKey & { readonly deskId: string }): boolean {
    const { paise, untilMs, announced } = this.#sumDesk(of);
    return paise > announced.paise || untilMs > announced.untilMs;
  }

  /**
   * Writes the sums of these desks, then reads the sums of other processes. The new sums count as
   * announced only after `settle`.
   */
  async announce(
    db: Db,
    desks: readonly (MarketKey & { readonly deskId: string })[],
    now: Date,
  ): Promise<Announcement> {
    const sums = [...new Set(desks.map((desk) => this.#sumDesk(desk)))];
    const told = sums.map((sum) => ({
      ...sum.market,
      deskId: sum.deskId,
      paise: sum.paise,
      // Half as long again, so that a desk that goes on quoting is not announced with every quote.
      until: new Date(sum.untilMs + Math.max(sum.untilMs - now.getTime(), 0) / 2),
    }));
    const sequence = ++this.#announcements;
    sums.forEach((sum, at) => {
      const { paise, until } = told[at] as Quoted; // One for each.
      const { announced } = sum;
      sum.sequence = sequence;
      sum.announced = {
        paise: Math.min(announced.paise, paise),
        untilMs: Math.min(announced.untilMs, until.getTime()),
      };
    });
    // Two trips: what others hold is read once our own sums are committed.
    await db.run(setQuoted({ node: this.#node, sequence, now }, told));
    const rows = await db.run(listQuotedElsewhere({ node: this.#node, now }));
    return {
      elsewhere: (of) => {
        const inMarket = rows.filter(
          (row) => row.environment === of.environment && row.scheme === of.scheme,
        );
        const paise = (some: typeof inMarket) =>
          asAmount(sumPaise(some.map((row) => row.face_paise)));
        return {
          total: paise(inMarket),
          ofDesk: paise(inMarket.filter((row) => row.desk_id === of.deskId)),
        };
      },
      settle: (over) => {
        const without = new Set(over.map((one) => this.#sumDesk(one)));
        sums.forEach((sum, at) => {
          const { paise, until } = told[at] as Quoted; // One for each.
          if (without.has(sum) || sum.sequence !== sequence) return;
          sum.announced = { paise, untilMs: until.getTime() };
        });
      },
    };
  }

  #sumMarket({ environment, scheme }: MarketKey): MarketSums {
    let schemes = this.#markets.get(environment);
    if (!schemes) this.#markets.set(environment, (schemes = new Map()));
    let sums = schemes.get(scheme);
    if (!sums) schemes.set(scheme, (sums = { total: 0, desks: new Map() }));
    return sums;
  }

  #sumDesk(of: MarketKey & { readonly deskId: string }): DeskSum {
    const { desks } = this.#sumMarket(of);
    const { environment, scheme, deskId } = of;
    const known = desks.get(deskId);
    if (known) return known;
    const sum: DeskSum = {
      market: { environment, scheme },
      deskId,
      paise: 0,
      untilMs: 0,
      announced: { paise: 0, untilMs: 0 },
      sequence: 0,
    };
    desks.set(deskId, sum);
    this.#desks += 1;
    return sum;
  }

  #add(of: Holding, paise: Paise): void {
    this.#sumMarket(of).total += paise;
    const sum = this.#sumDesk(of);
    sum.paise += paise;
    // The room may be used by another desk, so the announced sum falls with it.
    if (sum.announced.paise > sum.paise) sum.announced = { ...sum.announced, paise: sum.paise };
  }

  #noteEnd(id: string, untilMs: number): void {
    const second = Math.ceil(untilMs / 1_000);
    const ids = this.#ends.get(second);
    if (ids) ids.push(id);
    else this.#ends.set(second, [id]);
  }

  /** Drops expired holds; a quote binds up to and including its last instant. */
  #end(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === this.#endedUpTo) return;
    this.#endedUpTo = second;
    for (const [at, ids] of this.#ends) {
      if (at > second) continue;
      this.#ends.delete(at);
      for (const id of ids) {
        const held = this.#held.get(id);
        if (!held) continue;
        if (held.untilMs >= nowMs) {
          this.#noteEnd(id, held.untilMs + 1_000);
          continue;
        }
        this.#held.delete(id);
        this.#add(held, -held.paise);
      }
    }
  }
}

type OfDesk = MarketKey & { readonly deskId: string };

type Announcement = {
  readonly elsewhere: (of: OfDesk) => Elsewhere;
  /** Counts the sums as announced, except of desks that had no room. */
  readonly settle: (over: readonly OfDesk[]) => void;
};

type Elsewhere = { readonly total: Paise; readonly ofDesk: Paise };

const noneElsewhere: Elsewhere = { total: 0, ofDesk: 0 };

const ofDatabase = new WeakMap<object, OpenQuotes>();

/** The holds of this process on this database; one object per pool. */
export function openQuotesOn({ pool }: Pick<Database, "pool">): OpenQuotes {
  const known = ofDatabase.get(pool) ?? new OpenQuotes();
  ofDatabase.set(pool, known);
  return known;
}
