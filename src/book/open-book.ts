// The book: what can be bought now, in memory, one index of offers per environment and scheme.
//
//   source   says where offers come from, and what changed there since a horizon
//   load     once per environment, at its first use: the horizon first, then every offer in pages
//   look     before every use: what changed since the horizon, in one statement per source
//
// After a look the book is what the database was at that moment. Nothing tells it of changes and no
// clock makes it stale: whoever wants to choose from it looks first, and those who come while a look
// is under way share the next one. What is chosen can still be gone a moment later; an order locks
// its credits and finds out.

import { OfferIndex } from "../cover/offer-index.ts";
import type { Offer } from "../cover/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { coalesce } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";

/** Where a source begins its next look; only the source knows what it means. */
export type Horizon = string;

export type OfferChange = {
  readonly scripNo: string;
  readonly scheme: Scheme;
  /** Undefined when it is not offered here any more. */
  readonly offer: Offer | undefined;
};

export type OfferSource = {
  /** A credit can pass from one source to another: each takes back only what it offered. */
  isOwn(offer: Offer): boolean;
  all(
    db: Db,
    environment: Environment,
  ): AsyncIterable<readonly { readonly scheme: Scheme; readonly offer: Offer }[]>;
  changes(
    db: Db,
    environment: Environment,
    since: Horizon | null,
  ): Promise<{ readonly horizon: Horizon; readonly changes: readonly OfferChange[] }>;
};

export type Offers = Readonly<Record<Scheme, OfferIndex>>;

/** The offers of an environment, as the database has them now. */
export type Book = (environment: Environment) => Promise<Offers>;

const lookersMax = 20_000;

export function openBook({ db }: Pick<Context, "db">, sources: readonly OfferSource[]): Book {
  const looks = {
    live: looker(db, "live", sources),
    sandbox: looker(db, "sandbox", sources),
  };
  return async (environment) => await looks[environment](environment);
}

type Followed = {
  readonly offers: Offers;
  readonly horizons: Map<OfferSource, Horizon>;
};

function looker(db: Db, environment: Environment, sources: readonly OfferSource[]) {
  let followed: Followed | undefined;
  return coalesce(
    async (lookers: readonly Environment[]) => {
      const current = (followed ??= await load(db, environment, sources));
      for (const source of sources) await look(db, environment, { source, ...current });
      return lookers.map(() => current.offers);
    },
    { setSizeMax: lookersMax, queueMax: lookersMax, mayRetry: () => false },
  );
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
  return { offers, horizons };
}

async function look(
  db: Db,
  environment: Environment,
  { source, offers, horizons }: Followed & { readonly source: OfferSource },
): Promise<void> {
  const since = horizons.get(source) ?? null;
  const { horizon, changes } = await source.changes(db, environment, since);
  for (const { scripNo, scheme, offer } of changes) {
    const known = offers[scheme].find(scripNo);
    if (offer) offers[scheme].put(offer);
    else if (known && source.isOwn(known)) offers[scheme].remove(scripNo);
  }
  horizons.set(source, horizon);
}
