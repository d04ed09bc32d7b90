// What open quotes may still make the house take on.
//
//   hold      a quote is decided: it holds its face until it ends; a credit holds its face once,
//             however often it is quoted, and an amount each time
//   announce  before anybody is told of a quote that holds more, the sums of its desk are written
//             for the other processes, and theirs are read; when all of it passes the limit, what
//             was held is given back and the caller has no quote; only what room was found for is
//             held again without asking
//   release   the house took the credit, or the quote was used: from here on it counts as taken
//
// Deciding and holding are one step of this process. Whoever announces reads after its own sums can
// be read, so of two processes at least one sees the other: together they never pass the limit, and
// nobody waits for a lock. What a process announced and no longer holds counts for the others until
// the time that was announced with it.

import { randomUUID } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import { type Paise, priceFloor } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Database, Db } from "../platform/postgres/postgres.ts";
import type { CardToday } from "./rules.ts";
import { listQuotedElsewhere, type Quoted, setQuoted } from "./store.ts";

export type Market = { readonly environment: Environment; readonly scheme: Scheme };

export type Holding = Market & {
  readonly deskId: string;
  /** The credit, or for an amount the quote itself. */
  readonly id: string;
  readonly paise: Paise;
  readonly untilMs: number;
  /** The moment on which it was decided. */
  readonly heldAtMs: number;
};

type DeskSum = {
  readonly market: Market;
  readonly deskId: string;
  paise: Paise;
  /** By when the last of it ends. */
  untilMs: number;
  /** What other processes were told and left room for: within it nobody is asked again. */
  announced: { paise: Paise; untilMs: number };
  /** The last announcement of it that was sent. */
  sequence: number;
};

type MarketSums = { total: Paise; readonly desks: Map<string, DeskSum> };

/** Memory is bounded: so many are remembered for each desk that has quoted, all desks together. */
const holdingsOfDeskMax = 50_000;

export class OpenQuotes {
  readonly #node = randomUUID();
  readonly #held = new Map<string, Holding>();
  readonly #markets = new Map<Environment, Map<Scheme, MarketSums>>();
  #desks = 0;
  /** What ends in each second; a credit that was quoted again is looked at again. */
  readonly #ends = new Map<number, string[]>();
  #endedUpTo = 0;
  #announcements = 0;

  get node(): string {
    return this.#node;
  }

  /** What the open quotes of this process hold. */
  total(market: Market, now: Date): Paise {
    this.#end(now.getTime());
    return this.#sumMarket(market).total;
  }

  /** What is held for a credit or a quote. */
  heldFor(id: string): Paise {
    return this.#held.get(id)?.paise ?? 0;
  }

  /** Whether the limit and the desk's share have room for this, beside what else is held. */
  hasRoom(card: CardToday, holding: Holding, now: Date, elsewhere = noneElsewhere): boolean {
    this.#end(now.getTime());
    const own = this.heldFor(holding.id);
    if (own === 0 && this.#held.size >= holdingsOfDeskMax * (1 + this.#desks)) return false;
    const added = holding.paise - own;
    const sums = this.#sumMarket(holding);
    const total = sums.total + elsewhere.total + added;
    if (total > card.house_limit_paise - card.taken_paise) return false;
    const ofDesk = (sums.desks.get(holding.deskId)?.paise ?? 0) + elsewhere.ofDesk + added;
    return ofDesk <= priceFloor(card.house_limit_paise, card.desk_share_bps);
  }

  /** Answers with what was held for the same before, for `takeBack`. */
  hold(holding: Holding): Holding | undefined {
    this.#end(holding.heldAtMs);
    const before = this.#held.get(holding.id);
    const isLonger = before !== undefined && before.untilMs > holding.untilMs;
    const held = isLonger ? { ...holding, untilMs: before.untilMs } : holding;
    if (!before) this.#noteEnd(held.id, held.untilMs);
    this.#held.set(held.id, held);
    // Most quotes of a credit are asked for again and again, and hold what was held.
    if (!before || before.paise !== held.paise || before.deskId !== held.deskId) {
      if (before) this.#add(before, -before.paise);
      this.#add(held, held.paise);
    }
    const sum = this.#sumDesk(held);
    if (sum.untilMs < held.untilMs) sum.untilMs = held.untilMs;
    return before;
  }

  /** Undoes a `hold`: what was held before is held again. */
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

  /** Unless it was quoted again after the moment on which this was decided. */
  release(ids: Iterable<string>, decidedAt: Date): void {
    for (const id of ids) {
      const held = this.#held.get(id);
      if (!held || held.heldAtMs > decidedAt.getTime()) continue;
      this.#held.delete(id);
      this.#add(held, -held.paise);
    }
  }

  /** Whether other processes have not been told of all that this desk holds, or not for as long. */
  isUntold(of: Market & { readonly deskId: string }): boolean {
    const { paise, untilMs, announced } = this.#sumDesk(of);
    return paise > announced.paise || untilMs > announced.untilMs;
  }

  /**
   * Tells the sums of these desks, and then reads what other processes hold. Until it is settled that
   * there is room, what was told is not relied on.
   */
  async announce(
    db: Db,
    desks: readonly (Market & { readonly deskId: string })[],
    now: Date,
  ): Promise<Announcement> {
    const sums = [...new Set(desks.map((desk) => this.#sumDesk(desk)))];
    const told = sums.map((sum) => ({
      ...sum.market,
      deskId: sum.deskId,
      paise: sum.paise,
      // Half as long again, so that a desk that goes on quoting is not told of at once again.
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
    const [, rows] = await db.pipeline([
      setQuoted({ node: this.#node, sequence, now }, told),
      listQuotedElsewhere({ node: this.#node, now }),
    ]);
    return {
      elsewhere: (of) => {
        const inMarket = rows.filter(
          (row) => row.environment === of.environment && row.scheme === of.scheme,
        );
        const paise = (some: typeof inMarket) => some.reduce((sum, row) => sum + row.face_paise, 0);
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

  #sumMarket({ environment, scheme }: Market): MarketSums {
    let schemes = this.#markets.get(environment);
    if (!schemes) this.#markets.set(environment, (schemes = new Map()));
    let sums = schemes.get(scheme);
    if (!sums) schemes.set(scheme, (sums = { total: 0, desks: new Map() }));
    return sums;
  }

  #sumDesk(of: Market & { readonly deskId: string }): DeskSum {
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
    // What was given back may be room for other desks of this process now.
    if (sum.announced.paise > sum.paise) sum.announced = { ...sum.announced, paise: sum.paise };
  }

  #noteEnd(id: string, untilMs: number): void {
    const second = Math.ceil(untilMs / 1_000);
    const ids = this.#ends.get(second);
    if (ids) ids.push(id);
    else this.#ends.set(second, [id]);
  }

  /** Gives back what has ended; a quote binds up to and including its last instant. */
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

type OfDesk = Market & { readonly deskId: string };

export type Announcement = {
  readonly elsewhere: (of: OfDesk) => Elsewhere;
  /** From here on what was told counts, but for desks for which there was no room. */
  readonly settle: (over: readonly OfDesk[]) => void;
};

export type Elsewhere = { readonly total: Paise; readonly ofDesk: Paise };

const noneElsewhere: Elsewhere = { total: 0, ofDesk: 0 };

const ofDatabase = new WeakMap<object, OpenQuotes>();

/** Those of this process on this database, on whose behalf ever it is asked. */
export function openQuotesOn({ pool }: Pick<Database, "pool">): OpenQuotes {
  const known = ofDatabase.get(pool) ?? new OpenQuotes();
  ofDatabase.set(pool, known);
  return known;
}
