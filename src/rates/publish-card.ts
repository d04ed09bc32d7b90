// Publishes rate cards. A card is everything a price is made of, per environment and scheme. Cards
// are rows that are only added: publishing, halting and opening each add a version under a lock of
// the scheme, so that concurrent changes build on each other. The last version is in force. Each
// version is an audit record on the desk of the house.
//
// A large move of a live card needs two operators: of a price, or of what limits the house's risk. A new
// card is compared with the card in force and with the last card that two operators approved or that
// stood 24 hours ago, so that many small moves add up to a large one. Prices are compared at every size
// band and validity band. A limit moves when it is raised: whoever lowers one takes no risk. The first
// live card of a scheme takes a house that is complete, and two people as soon as two may publish.

import { refuseIncompleteHouse } from "../house/read-house.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { bpsOfPar, percentText } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import type { ApprovalKind, Terms } from "../operators/approval-kind.ts";
import { countPeople } from "../operators/manage-operators.ts";
import { aloneHours, twoPeopleFromBps } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  cardNumbers,
  type CardTerms,
  findTermProblems,
  priceAsk,
  priceBid,
  type RateCard,
  refuseNote,
  startingTerms,
} from "./rules.ts";
import { findCurrentCard, findSettledCard, insertCard, lockScheme } from "./store.ts";

export type PublishCard = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  /** Terms that are left out stay as in the card in force, or as in the starting card. */
  readonly terms: Partial<CardTerms>;
  readonly note?: string | undefined;
};

/**
 * Publishes the next version of a card; the next quote uses it. It neither halts nor opens the
 * market; a first card opens it.
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
    await recordChanges(tx, actor, [toCardChange("publish", card)], now);
    return card;
  });
}

/** A proposal to publish a card is open this long. */
const validHours = 12;

type CardPreview = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly version: number;
  /** Null for a first card, which moves nothing. */
  readonly move_bps: number | null;
  /** The largest raise of a limit, in proportion to what it was. */
  readonly limit_move_bps: number | null;
  /** How many operators it needs. */
  readonly people: 1 | 2;
  /** The whole card as it would be, with what is in force. */
  readonly terms: readonly ChangedTerm[];
  readonly bands: readonly PricedBand[];
};

/** A number of a card; without one in force nothing was before. */
type ChangedTerm = {
  readonly term: string;
  readonly before: number | null;
  readonly after: number;
};

type Publishing = PublishCard & { readonly twoFromBps?: number };

/** Shows what publishing would change; writes nothing. */
export async function previewCard(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  publishing: Publishing,
): Promise<CardPreview> {
  const { environment, scheme, twoFromBps = twoPeopleFromBps } = publishing;
  const now = ctx.now();
  const before = await findCurrentCard(ctx.db, environment, scheme);
  const after = buildNextCard(before, publishing, { by: actor.id, now });
  const moves = await measureMoves(ctx.db, { before, after, now });
  const mayPublish = ["admin", ...cardPublication.approvers] as const;
  const isLarge = before
    ? Math.max(moves.move_bps ?? 0, moves.limit_move_bps ?? 0) >= twoFromBps
    : (await countPeople(ctx.db, mayPublish)) >= 2;
  return {
    environment,
    scheme,
    version: after.version,
    ...moves,
    people: environment === "live" && isLarge ? 2 : 1,
    terms: listTerms(before, after),
    bands: priceBands(before, after),
  };
}

type PublishedCard =
  | { readonly outcome: "published"; readonly card: RateCard }
  | {
      readonly outcome: "proposed";
      readonly approval_id: string;
      readonly move_bps: number | null;
    };

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
    return { outcome: "proposed", approval_id: acted.approval_id, move_bps };
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
    // A first price is an offer, and whoever takes it has to know whom it deals with.
    if (!before && environment === "live") {
      await refuseIncompleteHouse(tx, environment, istDay(now));
    }
    const moves = await measureMoves(tx, { before, after: draft, now });
    return {
      summary: summarize(before, draft, moves),
      valuePaise: null,
      shows: [
        {
          title: "Terms before and after",
          rows: listTerms(before, draft).filter(({ before: was, after }) => was !== after),
        },
        { title: "Prices before and after", rows: priceBands(before, draft) },
      ],
      // The approval fails if the prices changed since the proposal; a halt does not matter.
      facts: before ? pickPrices(before) : {},
      async carryOut(actor, proposedBy) {
        const card = { ...draft, published_by: proposedBy ?? actor.id };
        await insertCard(tx, card, proposedBy === undefined ? null : actor.id);
        return { changes: [toCardChange("publish", card)], answer: card };
      },
    };
  },
};

/** Bid and ask of a size and a validity, before and after; null without a price. */
type PricedBand = {
  readonly from_paise: number;
  /** The upper bound of the band, exclusive; null for the last. */
  readonly below_paise: number | null;
  readonly from_days: number;
  readonly bid_before_bps: number | null;
  readonly bid_after_bps: number | null;
  readonly ask_before_bps: number | null;
  readonly ask_after_bps: number | null;
};

/** The audit record of a new version, on the desk of the house. */
export function toCardChange(action: "publish" | "halt" | "open", after: RateCard): Change {
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
    after: describeCard(after),
  };
}

/** The next version of a card; throws a Failure when its terms may not be published. */
function buildNextCard(
  before: RateCard | undefined,
  { environment, scheme, terms, note }: PublishCard,
  { by, now }: { readonly by: string; readonly now: Date },
): RateCard {
  refuseNote(note);
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

/** Without undefined terms, which would overwrite those of the card before. */
function dropUndefined(terms: Partial<CardTerms>): Partial<CardTerms> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

type Moves = Pick<CardPreview, "move_bps" | "limit_move_bps">;

async function measureMoves(
  db: Db,
  { before, after, now }: { before: RateCard | undefined; after: RateCard; now: Date },
): Promise<Moves> {
  if (!before) return { move_bps: null, limit_move_bps: null };
  const since = new Date(now.getTime() - aloneHours * 3_600_000);
  const { environment, scheme } = after;
  const settled = await findSettledCard(db, { environment, scheme, since });
  const compared = settled ? [before, settled] : [before];
  return {
    move_bps: Math.max(...compared.map((card) => findLargestMove(card, after))),
    limit_move_bps: Math.max(...compared.map((card) => findLargestRaise(card, after))),
  };
}

const limits = ["house_limit_paise", "face_max_paise", "desk_share_bps"] as const;

/** Rounded up, so that a raise of the limit is never taken for a smaller one. */
function findLargestRaise(before: CardTerms, after: CardTerms): number {
  const raises = limits.map((name) => {
    const raised = BigInt(after[name]) - BigInt(before[name]);
    const was = BigInt(before[name]);
    return raised <= 0n ? 0 : Number((raised * BigInt(bpsOfPar) + was - 1n) / was);
  });
  return Math.min(Math.max(...raises), Number.MAX_SAFE_INTEGER);
}

function summarize(before: RateCard | undefined, after: RateCard, moves: Moves): string {
  const { scheme, mid_bps } = after;
  const { move_bps, limit_move_bps } = moves;
  if (!before) return `${scheme} gets its first card, priced around ${percentText(mid_bps)}`;
  const raise = limit_move_bps ? `; a limit is raised by ${percentText(limit_move_bps)}` : "";
  return `${scheme} is priced around ${percentText(mid_bps)} instead of ${percentText(before.mid_bps)}; some price moves by ${percentText(move_bps ?? 0)}${raise}`;
}

/** Every number of a card; bands are shown by the prices that they make. */
function listTerms(before: RateCard | undefined, after: RateCard): ChangedTerm[] {
  return cardNumbers.map((term) => ({ term, before: before?.[term] ?? null, after: after[term] }));
}

/** The largest change of any price that both cards have. */
function findLargestMove(before: RateCard, after: RateCard): number {
  const moves = priceBands(before, after).flatMap((band) => [
    distance(band.bid_before_bps, band.bid_after_bps),
    distance(band.ask_before_bps, band.ask_after_bps),
  ]);
  return Math.max(0, ...moves);
}

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

function unite(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

function distance(one: number | null, other: number | null): number {
  return one === null || other === null ? 0 : Math.abs(one - other);
}

function pickPrices(card: RateCard): object {
  const { version: _version, state: _state, published_at: _at, ...rest } = card;
  const { published_by: _by, note: _note, ...prices } = rest;
  return prices;
}

function describeCard({ published_at, ...facts }: RateCard): object {
  return { ...facts, published_at: published_at.toISOString() };
}
