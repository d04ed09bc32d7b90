// The cards in force, each with the face that the house has bought today in its scheme, over all
// processes. Orders add to that figure under the match lock. A binding quote is honoured beyond the
// house limit, so the figure may exceed it. A failed deal is not subtracted: the limit is on what
// the house agrees to.

import type { Environment } from "../kernel/caller.ts";
import type { Bps } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type Db, known, type Query } from "../platform/postgres/postgres.ts";
import type { OpenQuotes } from "./open-quotes.ts";
import {
  type AuthoredCard,
  type CardToday,
  clampMid,
  nothingOfDay,
  quoteWindowMaxS,
  type RateCard,
} from "./rules.ts";
import {
  addToHouseDays,
  addToDeskDays,
  type CardOfDesks,
  type DeskTaking,
  findDefaultBps,
  type HouseTaking,
  listCardRows,
  listCardsToday,
  listCardsWithQuotes,
  listCurrentCards,
  listDefaultBps,
  listMidsAt,
} from "./store.ts";

export type { DeskTaking };

/** The card in force, for this desk; undefined when none was ever published. */
export type FindCard = (
  environment: Environment,
  scheme: Scheme,
  deskId?: string,
) => CardToday | undefined;

/** The cards in force today, in one statement. */
export function loadCardsToday(environments: readonly Environment[], now: Date): Query<FindCard> {
  return listCardsToday(environments, istDay(now)).map(indexCards);
}

/** The same, with the holds of open quotes counted as taken. */
export function loadCardsWithQuotes(
  environments: readonly Environment[],
  { now, quotes }: { readonly now: Date; readonly quotes: OpenQuotes },
): Query<FindCard> {
  const when = { day: istDay(now), node: quotes.node, now };
  return listCardsWithQuotes(environments, when).map((rows) =>
    indexCards(
      rows.map(({ quoted_paise, ...card }) => ({
        ...card,
        taken_paise: card.taken_paise + quoted_paise + quotes.total(card, now),
      })),
    ),
  );
}

/** The card in force per scheme; a scheme without one has no market. */
export async function findCurrentCards(
  db: Db,
  environment: Environment,
): Promise<ReadonlyMap<Scheme, RateCard>> {
  return await db.run(queryCurrentCards(environment));
}

/** The same as a query, for whoever asks for more together. */
export function queryCurrentCards(environment: Environment): Query<ReadonlyMap<Scheme, RateCard>> {
  return listCurrentCards(environment).map(
    (cards) => new Map(cards.map((card) => [card.scheme, card])),
  );
}

/** The mid that was in force for a scheme at each of these moments; undefined without any card. */
export function findMidsAt(
  environment: Environment,
  moments: readonly { readonly scheme: Scheme; readonly at: Date }[],
): Query<readonly (Bps | undefined)[]> {
  return listMidsAt(environment, moments).map((rows) => {
    const mids = new Map(rows.map(({ position, ...card }) => [position, clampMid(card)]));
    return moments.map((_, at) => mids.get(at + 1));
  });
}

/**
 * What a side that is late pays of the face of a deal that is made now, by scheme. A raised figure
 * counts once no quote is open that was told the one before: a deal never costs more than was told.
 */
export function loadDefaultBps(
  environment: Environment,
  now: Date,
): Query<ReadonlyMap<Scheme, Bps>> {
  const since = new Date(now.getTime() - quoteWindowMaxS * 1_000);
  return listDefaultBps(environment, since).map(
    (rows) => new Map(rows.map((row) => [row.scheme, row.default_bps])),
  );
}

/** What the card of this version says of it. */
export async function readDefaultBps(
  db: Db,
  card: Pick<RateCard, "environment" | "scheme" | "version">,
): Promise<Bps> {
  return await findDefaultBps(db, card);
}

type CardSearch = {
  readonly environment: Environment | null;
  readonly scheme: Scheme | null;
  /** Every version, newest first, instead of only the one in force. */
  readonly history: boolean;
};

/** The cards of every environment, for operators. */
export async function listCards(
  { db }: Pick<Context, "db">,
  search: CardSearch,
): Promise<AuthoredCard[]> {
  return await listCardRows(db, search);
}

/** Adds what desks get of the sandbox's house. */
export function addDeskTaken(day: IstDay, takings: readonly DeskTaking[]): Query<void> {
  return takings.length > 0 ? addToDeskDays(day, takings) : known(undefined);
}

export function addHouseTaken(day: IstDay, takings: readonly HouseTaking[]): Query<void> {
  return takings.length > 0 ? addToHouseDays(day, takings) : known(undefined);
}

function indexCards(cards: readonly CardOfDesks[]): FindCard {
  return (environment, scheme, deskId) => {
    const card = cards.find((one) => one.environment === environment && one.scheme === scheme);
    if (!card || deskId === undefined || environment === "live") return card;
    const isHalted = card.halted_desks.includes(deskId);
    const desk_day = card.desk_days?.[deskId] ?? nothingOfDay;
    return { ...card, desk_day, ...(isHalted && { state: "halted" }) };
  };
}
