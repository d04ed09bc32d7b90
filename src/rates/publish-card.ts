// A price that moves far takes two people. It is compared with the card in force and with the last
// one that two people made or that stood a day ago, so that many small moves are one large one. A
// scheme's first card moves nothing.
//
// What a card changes, price by price: the same function that prices, asked at both ends of every
// size band and at every validity band of both cards.
//
// A rate card is everything a price is made of, per environment and scheme. Cards are rows that are only
// added: publishing, halting and opening each add a version under a lock of the scheme, so two at once
// build on each other. The last version is in force. Each is an audit record on the house's desk.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import type { ApprovalKind, Terms } from "../operators/approval-kind.ts";
import { aloneHours, twoPeopleFromBps } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  priceAsk,
  priceBid,
  type CardTerms,
  isNote,
  noteLengthMax,
  findTermProblems,
  type RateCard,
  startingTerms,
} from "./rules.ts";
import { findCurrentCard, findSettledCard, insertCard, lockScheme } from "./store.ts";

export type PublishCard = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  /** What is left out stays as it is in the card in force, or in the starting card. */
  readonly terms: Partial<CardTerms>;
  readonly note?: string | undefined;
};

/**
 * The next version of a scheme's card; prices follow it from the next quote. Whoever publishes at
 * the same time builds on it. It neither halts nor opens the market; a first card opens it.
 */
export async function publishCard(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, scheme, terms, note }: PublishCard,
): Promise<RateCard> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await lockScheme(tx, environment, scheme);
    const before = await findCurrentCard(tx, environment, scheme);
    const publishing = { environment, scheme, terms, note };
    const card = buildNextCard(before, publishing, { by: actor.id, now });
    await insertCard(tx, card);
    await recordChanges(tx, actor, [toCardChange("publish", before, card)], now);
    return card;
  });
}

/** The card that would follow this one; refused when it is none that may be published. */
function buildNextCard(
  before: RateCard | undefined,
  { environment, scheme, terms, note }: PublishCard,
  { by, now }: { readonly by: string; readonly now: Date },
): RateCard {
  if (note !== undefined && !isNote(note)) {
    throw unprocessable({ path: "note", problem: `must be at most ${noteLengthMax} characters` });
  }
  const card: RateCard = {
    ...startingTerms[scheme],
    ...before,
    ...dropUndefined(terms),
    environment,
    scheme,
    version: (before?.version ?? 0) + 1,
    state: before?.state ?? "open",
    published_at: now,
    published_by: by,
    note: note ?? null,
  };
  const problems = findTermProblems(card);
  if (problems.length > 0) throw unprocessable(...problems);
  return card;
}

/** A term that is undefined is left out, as one that is not there. */
function dropUndefined(terms: Partial<CardTerms>): Partial<CardTerms> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

/** A price is a matter of the day. */
const validHours = 12;

type CardPreview = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly version: number;
  readonly move_bps: number;
  /** How many people it takes. */
  readonly people: 1 | 2;
  readonly bands: readonly PricedBand[];
};

type Publishing = PublishCard & { readonly twoFromBps?: number };

/** What publishing would change; nothing is written. */
export async function previewCard(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  publishing: Publishing,
): Promise<CardPreview> {
  const { environment, scheme, twoFromBps = twoPeopleFromBps } = publishing;
  const now = ctx.now();
  const before = await findCurrentCard(ctx.db, environment, scheme);
  const after = buildNextCard(before, publishing, { by: actor.id, now });
  const move_bps = await measureMove(ctx.db, { before, after, now });
  const people = environment === "live" && move_bps >= twoFromBps ? 2 : 1;
  const bands = priceBands(before, after);
  return { environment, scheme, version: after.version, move_bps, people, bands };
}

type PublishedCard =
  | { readonly outcome: "published"; readonly card: RateCard }
  | { readonly outcome: "proposed"; readonly approval_id: string; readonly move_bps: number };

export async function publishCardWithApproval(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  publishing: Publishing,
): Promise<PublishedCard> {
  const { environment, scheme, terms, note } = publishing;
  const { move_bps, people } = await previewCard(ctx, actor, publishing);
  const acted = await actWithApproval(ctx, actor, {
    kind: cardPublication,
    environment,
    subjectId: `${environment} ${scheme}`,
    terms: { scheme, terms, ...(note !== undefined && { note }) },
    people,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval.approval_id, move_bps };
  }
  return { outcome: "published", card: acted.answer as RateCard }; // What the kind answers.
}

type PublicationTerms = Terms & {
  readonly scheme: Scheme;
  readonly terms: Partial<CardTerms>;
  readonly note?: string;
};

export const cardPublication: ApprovalKind<PublicationTerms> = {
  name: "rate_card.publish",
  proposers: ["dealer"],
  approvers: ["dealer"],
  validHours,
  async prepare(tx, { environment, terms: { scheme, terms, note } }, now) {
    await lockScheme(tx, environment, scheme);
    const before = await findCurrentCard(tx, environment, scheme);
    const publishing = { environment, scheme, terms, note };
    const draft = buildNextCard(before, publishing, { by: "", now });
    const move = await measureMove(tx, { before, after: draft, now });
    return {
      summary: `${scheme} is priced around ${draft.mid_bps} bps instead of ${before?.mid_bps ?? "nothing"}; some price moves by ${move} bps`,
      valuePaise: null,
      // A halt in between does not matter; another price does.
      facts: before ? pickPrices(before) : {},
      async carryOut(actor, proposedBy) {
        const card = { ...draft, published_by: proposedBy ?? actor.id };
        await insertCard(tx, card, proposedBy === undefined ? null : actor.id);
        return { changes: [toCardChange("publish", before, card)], answer: card };
      },
    };
  },
};

async function measureMove(
  db: Db,
  { before, after, now }: { before: RateCard | undefined; after: RateCard; now: Date },
): Promise<number> {
  const since = new Date(now.getTime() - aloneHours * 3_600_000);
  const { environment, scheme } = after;
  const settled = await findSettledCard(db, { environment, scheme, since });
  return Math.max(findLargestMove(before, after), findLargestMove(settled, after));
}

function pickPrices(card: RateCard): object {
  const { version: _version, state: _state, published_at: _at, ...rest } = card;
  const { published_by: _by, note: _note, ...prices } = rest;
  return prices;
}

/** Bid and ask for a size and a validity, before and after; null where there is no price. */
type PricedBand = {
  readonly from_paise: number;
  /** The first face that is no longer in the band; null for the last one. */
  readonly below_paise: number | null;
  readonly from_days: number;
  readonly bid_before_bps: number | null;
  readonly bid_after_bps: number | null;
  readonly ask_before_bps: number | null;
  readonly ask_after_bps: number | null;
};

function priceBands(before: RateCard | undefined, after: RateCard): PricedBand[] {
  const cards = before ? [before, after] : [after];
  const bounds = unite(
    cards.flatMap(({ size_bands }) => size_bands.map((b) => b.below_paise ?? 0)),
  );
  const edges = unite([1, ...bounds.filter((bound) => bound > 1)]);
  const days = unite(cards.flatMap((card) => card.validity_bands.map((b) => b.from_days)));
  return edges.flatMap((from_paise, index) =>
    days.toReversed().map((from_days) => ({
      from_paise,
      below_paise: edges[index + 1] ?? null,
      from_days,
      bid_before_bps: (before && priceBid(before, from_paise, from_days)) ?? null,
      bid_after_bps: priceBid(after, from_paise, from_days) ?? null,
      ask_before_bps: before ? priceAsk(before, from_paise) : null,
      ask_after_bps: priceAsk(after, from_paise),
    })),
  );
}

/** The largest change of any price that both cards have. */
function findLargestMove(before: RateCard | undefined, after: RateCard): number {
  const moves = priceBands(before, after).flatMap((band) => [
    distance(band.bid_before_bps, band.bid_after_bps),
    distance(band.ask_before_bps, band.ask_after_bps),
  ]);
  return Math.max(0, ...moves);
}

function distance(one: number | null, other: number | null): number {
  return one === null || other === null ? 0 : Math.abs(one - other);
}

function unite(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

/** A new version of a card, as the audit trail records it on the house's desk. */
export function toCardChange(
  action: "publish" | "halt" | "open",
  before: RateCard | undefined,
  after: RateCard,
): Change {
  const house = houseFirmId[after.environment];
  return {
    environment: after.environment,
    deskId: house,
    firmId: house,
    action: `rate_card.${action}`,
    entity: {
      type: "rate_card",
      id: after.scheme,
      version: after.version,
      href: `/v1/market/${after.scheme}`,
    },
    before: before ? describeCard(before) : null,
    after: describeCard(after),
  };
}

function describeCard({ published_at, ...facts }: RateCard): object {
  return { ...facts, published_at: published_at.toISOString() };
}
