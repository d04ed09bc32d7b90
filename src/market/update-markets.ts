// Publishes markets: computes figures from cards, tape and holdings, and appends changes to the log.
//
//   compute   every market, and compare it with the last update of its scheme
//   append    if something changed: lock the end of the log, compute again, and write the changes
//
// Every node does this all the time. The second one finds no change and writes nothing, so it does
// not matter which node is first, or whether one is missing.
//
//   worker on any node ─ compute, compare ▶ market_logs (locked) ──▶ market_updates, notify
//                                                                        │
//   GET /v1/market ◀── the last update of each scheme ───────────────────┤
//   streams ◀── the same bytes to each ◀── one reader per node ──────────┘ (`stream-market.ts`)
//
// An update is the whole market of one scheme as text, once with and once without the buy side, so its
// id `<epoch>-<seq>` and its bytes are the same from every node. The last 10,000 are kept, and the last
// of each scheme. The credits that the house could sell are counted apart (`countDepth`), when they
// have changed.

import { randomBytes } from "node:crypto";

import { sellableDaysMin } from "../credits/rules.ts";
import { type Environment, environments } from "../kernel/caller.ts";
import { readExactJson } from "../kernel/json.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { addDays, dayMs, istDay, type IstDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import type { RateCard } from "../rates/rules.ts";
import {
  buildFigures,
  classifyChange,
  type Figures,
  type PublishedUpdate,
  type UpdateKind,
  writeBodies,
} from "./rules.ts";
import {
  type AskedBand,
  countDepths,
  deleteUpTo,
  type DepthRow,
  findTapes,
  hasHouseChanged,
  insertLog,
  insertUpdates,
  listDepths,
  listLatest,
  lockEnd,
  setEnd,
} from "./store.ts";

/** The last published index of every scheme that has one. */
export type LatestIndex = (
  db: Db,
  environment: Environment,
) => Promise<ReadonlyMap<Scheme, number>>;

export type MarketContext = Context & { readonly latestIndex: LatestIndex };

/** A stream that missed more updates than this gets a reset. */
const keptUpdatesMax = 10_000;
const epochBytes = 5;

/** Updates the markets of each environment. */
export async function updateMarkets(
  ctx: MarketContext,
  offenders: Offenders = noOffenders(),
): Promise<"idle"> {
  await workOneByOne(offenders, environments, async (environment) => {
    await updateMarket(ctx, environment);
    return 1;
  });
  return "idle";
}

export async function updateMarket(ctx: MarketContext, environment: Environment): Promise<void> {
  const { changes } = await computeChanges(ctx.db, ctx, environment);
  if (changes.length === 0) return;
  await ctx.db.transaction(async (tx) => await appendUpdates(tx, ctx, environment));
}

async function appendUpdates(tx: Tx, ctx: MarketContext, environment: Environment): Promise<void> {
  await insertLog(tx, environment, randomBytes(epochBytes).toString("hex"));
  const end = await lockEnd(tx, environment);
  if (!end) return; // The log was just restarted; the next run begins the new one.
  const { changes, asOf } = await computeChanges(tx, ctx, environment);
  if (changes.length === 0) return;
  const { epoch } = end;
  const updates = changes.map(({ kind, figures }, index) => {
    const place = { epoch, seq: end.seq + 1 + index };
    const bodies = writeBodies(figures, { ...place, asOf });
    return { environment, ...place, scheme: figures.scheme, kind, ...bodies, created_at: asOf };
  });
  const seq = end.seq + updates.length;
  await insertUpdates(tx, updates);
  await deleteUpTo(tx, environment, { epoch, seq: seq - keptUpdatesMax });
  await setEnd(tx, environment, seq);
}

type MarketChange = { readonly kind: UpdateKind; readonly figures: Figures };

async function computeChanges(
  db: Db,
  { now, latestIndex }: Pick<MarketContext, "now" | "latestIndex">,
  environment: Environment,
): Promise<{ readonly changes: readonly MarketChange[]; readonly asOf: Date }> {
  const latest = await listLatest(db, environment);
  // Clocks of nodes differ, but `as_of` never decreases in the log.
  const asOf = latest.map((row) => row.created_at).reduce(later, now());
  const after = new Date(asOf.getTime() - dayMs);
  const cards = await findCurrentCards(db, environment);
  const tapes = await findTapes(db, { environment, after, until: asOf });
  const depths = await listDepths(db, environment);
  const indices = await latestIndex(db, environment);

  const changes = schemes.flatMap((scheme): MarketChange[] => {
    const figures = buildFigures({
      scheme,
      card: cards.get(scheme),
      tape: tapes.get(scheme),
      depth: depths.find((known) => known.scheme === scheme)?.bands,
      indexBps: indices.get(scheme),
    });
    const before = latest.find((row) => row.scheme === scheme);
    const kind = classifyChange(
      before && (readExactJson(before.buyer_body) as PublishedUpdate),
      figures,
    );
    return kind ? [{ kind, figures }] : [];
  });
  return { changes, asOf };
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

/** Counts the credits that the house could sell, when a card, the day or a holding has changed. */
export async function countDepth(
  ctx: Context,
  offenders: Offenders = noOffenders(),
): Promise<"idle"> {
  await workOneByOne(offenders, environments, async (environment) => {
    await countDepthIfDue(ctx, environment);
    return 1;
  });
  return "idle";
}

async function countDepthIfDue({ db, now }: Context, environment: Environment): Promise<void> {
  const today = istDay(now());
  const cards = await findCurrentCards(db, environment);
  const counted = await listDepths(db, environment);
  const isCounted = isDepthCounted(cards, counted, today);
  if (isCounted && !(await hasHouseChanged(db, environment))) return;
  const usableUntil = addDays(today, sellableDaysMin);
  const bands = [...cards.values()].flatMap(toAskedBands);
  await countDepths(db, { environment, today, usableUntil, bands });
}

/** Whether the bands of every card were counted today. */
function isDepthCounted(
  cards: ReadonlyMap<Scheme, RateCard>,
  counted: readonly DepthRow[],
  today: IstDay,
): boolean {
  return [...cards.values()].every(({ scheme, size_bands }) => {
    const depth = counted.find((known) => known.scheme === scheme);
    return depth?.counted_on === today && joinBounds(depth.bands) === joinBounds(size_bands);
  });
}

function joinBounds(bands: readonly { readonly below_paise: number | null }[]): string {
  return bands.map(({ below_paise }) => below_paise).join();
}

function toAskedBands({ scheme, size_bands }: RateCard): AskedBand[] {
  return size_bands.map(({ below_paise }, index) => ({
    scheme,
    from_paise: size_bands[index - 1]?.below_paise ?? 0,
    below_paise,
  }));
}
