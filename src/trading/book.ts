// The book: the credits that can be bought now, in memory, one index of offers per environment and
// scheme.
//
//   source   where offers come from: the inventory of the house, and the credits of resting sells
//   load     once per environment, on first use: reads the horizon, then every offer in pages
//   look     before every use: applies the changes since the horizon, one statement per source; when
//            there are too many changes, the environment is loaded again
//   aside    offers that were not available when an order locked them; rechecked at every look
//
// The book polls and is never notified: each user looks first, and users that arrive during a look
// share the next one. A chosen offer can still be gone a moment later; the order that locks its
// credit finds out and sets the offer aside. Changes alone would not bring that to light, because a
// suspended firm or an expiry changes no row of the offer.
//
// A load reads pages of 5,000 by a partial index; an offer takes about 110 bytes. Changes are found
// by the transaction id that wrote them. Transactions commit in another sequence than their ids, so
// the next look starts at the oldest transaction that was still running; rows above it are read
// again.

import { isDeepStrictEqual } from "node:util";

import { OfferIndex } from "../cover/offer-index.ts";
import type { Offer } from "../cover/rules.ts";
import { readHouseChanges, type HouseCredit, readHouseCredits } from "../credits/inventory.ts";
import { findOffered } from "../credits/reserve-credits.ts";
import { findPans } from "../firms/find-firms.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayNumber } from "../kernel/time.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { coalesce } from "../platform/postgres/coalesce.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { checkOffered, type SetAsideCredit } from "./order-rules.ts";
import {
  listOffered,
  listOfferedSince,
  listSetAside,
  type OfferedPageRow,
  type OfferedRow,
} from "./resting-store.ts";

/** Where a source starts its next look; opaque to the book. */
type Horizon = string;

type OfferChange = {
  readonly scripNo: string;
  readonly scheme: Scheme;
  /** Undefined when the source no longer offers it. */
  readonly offer: Offer | undefined;
};

export type OfferSource = {
  /** A credit can move between sources; a source removes only its own offers. */
  isOwn(offer: Offer): boolean;
  all(
    db: Db,
    environment: Environment,
  ): AsyncIterable<readonly { readonly scheme: Scheme; readonly offer: Offer }[]>;
  changes(db: Db, environment: Environment, since: Horizon | null): Promise<OfferChanges>;
  /**
   * Checks offers that were set aside: a change with the offer when it is available again, without it
   * when it has ended, no change while it still waits. Absent where `changes` reports everything.
   */
  recheck?(db: Db, aside: Aside): Promise<readonly OfferChange[]>;
};

type Aside = {
  readonly environment: Environment;
  readonly now: Date;
  readonly offers: readonly Offer[];
};

type OfferChanges = {
  readonly horizon: Horizon;
  /** Undefined when there are too many. */
  readonly changes: readonly OfferChange[] | undefined;
};

export type Offers = Readonly<Record<Scheme, OfferIndex>>;

export type Book = {
  /** The offers of an environment as of now. */
  look(this: void, environment: Environment): Promise<Offers>;
  /** Takes out offers until their source reports them available again. */
  setAside(this: void, environment: Environment, scripNos: readonly string[]): void;
};

const lookersMax = 20_000;
const loadsMax = 3;

export function openBook(ctx: Pick<Context, "db" | "now">, sources: readonly OfferSource[]): Book {
  const followers = {
    live: followOffers(ctx, "live", sources),
    sandbox: followOffers(contextFor(ctx, { environment: "sandbox" }), "sandbox", sources),
  };
  return {
    look: async (environment) => await followers[environment].look(environment),
    setAside: (environment, scripNos) => followers[environment].setAside(scripNos),
  };
}

type Followed = {
  readonly offers: Offers;
  readonly horizons: Map<OfferSource, Horizon>;
  readonly aside: Map<string, Offer>;
};

function followOffers(
  { db, now }: Pick<Context, "db" | "now">,
  environment: Environment,
  sources: readonly OfferSource[],
) {
  let followed: Followed | undefined;

  async function follow(): Promise<Offers> {
    // Sets of orders look while they hold their connections.
    const { awaited } = db;
    for (let loads = 0; loads < loadsMax; loads++) {
      followed ??= await load(awaited, environment, sources);
      const isTold = await look(awaited, environment, followed);
      if (isTold) await recheckSetAside(awaited, { environment, now: now() }, followed);
      if (isTold) return followed.offers;
      followed = undefined;
    }
    throw new Error("offers change faster than they can be loaded");
  }

  return {
    look: coalesce(
      async (lookers: readonly Environment[]) => {
        const offers = await follow();
        return lookers.map(() => offers);
      },
      { setSizeMax: lookersMax, queueMax: lookersMax, mayRetry: () => false },
    ),
    setAside: (scripNos: readonly string[]) => {
      if (followed) moveAside(followed, scripNos);
    },
  };
}

function moveAside({ offers, aside }: Followed, scripNos: readonly string[]): void {
  for (const scripNo of scripNos) {
    for (const index of Object.values(offers)) {
      const offer = index.find(scripNo);
      if (offer) aside.set(scripNo, offer);
      index.remove(scripNo);
    }
  }
}

async function load(
  db: Db,
  environment: Environment,
  sources: readonly OfferSource[],
): Promise<Followed> {
  const offers = { RODTEP: new OfferIndex(), ROSCTL: new OfferIndex() } satisfies Offers;
  const horizons = new Map<OfferSource, Horizon>();
  for (const source of sources) {
    const { horizon } = await source.changes(db, environment, null);
    horizons.set(source, horizon);
    for await (const page of source.all(db, environment)) {
      for (const { scheme, offer } of page) offers[scheme].put(offer);
    }
  }
  return { offers, horizons, aside: new Map() };
}

/** Applies the changes of every source; false when one has too many. */
async function look(db: Db, environment: Environment, followed: Followed): Promise<boolean> {
  const { horizons } = followed;
  for (const [source, since] of horizons) {
    const { horizon, changes } = await source.changes(db, environment, since);
    if (!changes) return false;
    for (const change of changes) {
      if (!source.recheck || !isAside(change, followed)) applyChange(change, source, followed);
    }
    horizons.set(source, horizon);
  }
  return true;
}

/**
 * While an old transaction runs, the horizon stands still and every look reports the same changes. An
 * offer that was set aside stays aside while its row is unchanged.
 */
function isAside({ scripNo, offer }: OfferChange, { aside }: Followed): boolean {
  const known = aside.get(scripNo);
  return known !== undefined && offer !== undefined && isDeepStrictEqual(known, offer);
}

async function recheckSetAside(
  db: Db,
  when: Pick<Aside, "environment" | "now">,
  followed: Followed,
): Promise<void> {
  for (const source of followed.aside.size > 0 ? followed.horizons.keys() : []) {
    const offers = [...followed.aside.values()].filter((offer) => source.isOwn(offer));
    if (offers.length === 0) continue;
    if (!source.recheck) for (const { scrip_no } of offers) followed.aside.delete(scrip_no);
    const changes = await source.recheck?.(db, { ...when, offers });
    for (const change of changes ?? []) applyChange(change, source, followed);
  }
}

function applyChange(
  { scripNo, scheme, offer }: OfferChange,
  source: OfferSource,
  { offers, aside }: Followed,
): void {
  const known = offers[scheme].find(scripNo) ?? aside.get(scripNo);
  if (!offer && !(known && source.isOwn(known))) return;
  aside.delete(scripNo);
  if (offer) offers[scheme].put(offer);
  else offers[scheme].remove(scripNo);
}

/** The seller of house offers; no PAN looks like this. */
const house = "house";

/** The house sells at the price it quotes, so its offers have no limit. */
export const houseOffers: OfferSource = {
  isOwn: ({ order_id }) => order_id === null,

  async *all(db, environment) {
    for await (const page of readHouseCredits(db, environment)) {
      yield page.map((credit) => ({ scheme: credit.scheme, offer: toHouseOffer(credit) }));
    }
  },

  async changes(db, environment, since) {
    const { horizon, changes } = await readHouseChanges(db, environment, since);
    return {
      horizon,
      changes: changes?.map(({ scripNo, scheme, listed }) => ({
        scripNo,
        scheme,
        offer: listed && toHouseOffer(listed),
      })),
    };
  },
};

function toHouseOffer({ scrip_no, face_paise, expires_on }: HouseCredit): Offer {
  return {
    scrip_no,
    face_paise,
    expires_on: dayNumber(expires_on),
    limit_bps: 0,
    seller: house,
    order_id: null,
  };
}

const pageSize = 5_000;

/** Each undealt credit of a resting sell, at the limit of the order. */
export const restingOffers: OfferSource = {
  isOwn: ({ order_id }) => order_id !== null,

  async *all(db, environment) {
    let page: readonly OfferedPageRow[] = [];
    do {
      page = await listOffered(db, environment, { after: page.at(-1), limit: pageSize });
      const changes = await listOfferChanges(db, environment, page);
      yield changes.flatMap(({ scheme, offer }) => (offer ? [{ scheme, offer }] : []));
    } while (page.length === pageSize);
  },

  async changes(db, environment, since) {
    const { horizon, rows } = await listOfferedSince(db, environment, since);
    return { horizon, changes: await listOfferChanges(db, environment, rows) };
  },

  async recheck(db, { now, offers }) {
    const asked = offers.map((offer) => ({
      orderId: offer.order_id ?? "",
      scripNo: offer.scrip_no,
    }));
    const rows = await listSetAside(db, asked);
    return rows.flatMap((row) => toOfferChange(row, now) ?? []);
  },
};

function toOfferChange(row: SetAsideCredit, now: Date): OfferChange | undefined {
  const { scrip_no: scripNo, scheme } = row;
  const whether = checkOffered(row, now);
  if (whether === "waits") return undefined;
  if (whether === "ended") return { scripNo, scheme, offer: undefined };
  const offer = {
    scrip_no: scripNo,
    face_paise: row.face_paise,
    expires_on: dayNumber(row.expires_on),
    limit_bps: row.limit_bps ?? 0,
    seller: row.pan ?? "",
    order_id: row.order_id,
  };
  return { scripNo, scheme, offer };
}

/**
 * A change for every credit of these orders: with an offer while it rests, without one afterwards.
 */
async function listOfferChanges(
  db: Db,
  environment: Environment,
  orders: readonly OfferedRow[],
): Promise<OfferChange[]> {
  const resting = orders.filter((order) => order.state === "open");
  const numbers = resting.flatMap((order) => order.resting_scrip_nos);
  const credits = await findOffered(db, environment, numbers);
  const pans = await findPans(db, [...new Set(resting.map((order) => order.firm_id))]);
  return orders.flatMap((order) =>
    order.scrip_nos.map((scripNo) => {
      const credit = credits.get(scripNo);
      const rests = order.state === "open" && order.resting_scrip_nos.includes(scripNo);
      const offer: Offer | undefined =
        rests && credit?.reserved_for === order.order_id
          ? {
              scrip_no: scripNo,
              face_paise: credit.face_paise,
              expires_on: dayNumber(credit.expires_on),
              limit_bps: order.limit_bps ?? 0,
              seller: pans.get(order.firm_id) ?? "",
              order_id: order.order_id,
            }
          : undefined;
      return { scripNo, scheme: order.scheme, offer };
    }),
  );
}
