// From cards, tape and holdings to the log.
//
//   look      computes every market and compares it with the last update of its scheme
//   append    when something changed: holds the end of the log, looks again, and writes what is new
//
// Every node does this all the time. Who comes second finds nothing changed and writes nothing, so
// it does not matter which node is first, or whether one is missing.

import { randomBytes } from "node:crypto";

import { type Environment, environments } from "../kernel/caller.ts";
import { readExactJson } from "../kernel/json.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { dayMs } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import {
  bodiesOf,
  type Figures,
  figuresOf,
  kindOfChange,
  type Told,
  type UpdateKind,
} from "./rules.ts";
import {
  deleteUpTo,
  findTapes,
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

/** Who was away for longer than this many updates starts anew. */
const keptUpdatesMax = 10_000;
const epochBytes = 5;

/** The worker's piece of work: one look at each environment. */
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
  const { changes } = await look(ctx.db, ctx, environment);
  if (changes.length === 0) return;
  await ctx.db.transaction(async (tx) => await append(tx, ctx, environment));
}

async function append(tx: Tx, ctx: MarketContext, environment: Environment): Promise<void> {
  await insertLog(tx, environment, randomBytes(epochBytes).toString("hex"));
  const end = await lockEnd(tx, environment);
  if (!end) return; // Restarted this very moment; the next look begins the new log.
  const { changes, asOf } = await look(tx, ctx, environment);
  if (changes.length === 0) return;
  const { epoch } = end;
  const updates = changes.map(({ kind, figures }, index) => {
    const place = { epoch, seq: end.seq + 1 + index };
    const bodies = bodiesOf(figures, { ...place, asOf });
    return { environment, ...place, scheme: figures.scheme, kind, ...bodies, created_at: asOf };
  });
  const seq = end.seq + updates.length;
  await insertUpdates(tx, updates);
  await deleteUpTo(tx, environment, { epoch, seq: seq - keptUpdatesMax });
  await setEnd(tx, environment, seq);
}

type Change = { readonly kind: UpdateKind; readonly figures: Figures };

async function look(
  db: Db,
  { now, latestIndex }: Pick<MarketContext, "now" | "latestIndex">,
  environment: Environment,
): Promise<{ readonly changes: readonly Change[]; readonly asOf: Date }> {
  const latest = await listLatest(db, environment);
  // Clocks of nodes differ; in the log, time never runs back.
  const asOf = latest.map((row) => row.created_at).reduce(laterOf, now());
  const after = new Date(asOf.getTime() - dayMs);
  const cards = await findCurrentCards(db, environment);
  const tapes = await findTapes(db, { environment, after, until: asOf });
  const depths = await listDepths(db, environment);
  const indices = await latestIndex(db, environment);

  const changes = schemes.flatMap((scheme): Change[] => {
    const figures = figuresOf({
      scheme,
      card: cards.get(scheme),
      tape: tapes.get(scheme),
      depth: depths.find((known) => known.scheme === scheme)?.bands,
      indexBps: indices.get(scheme),
    });
    const before = latest.find((row) => row.scheme === scheme);
    const kind = kindOfChange(before && (readExactJson(before.buyer_body) as Told), figures);
    return kind ? [{ kind, figures }] : [];
  });
  return { changes, asOf };
}

function laterOf(a: Date, b: Date): Date {
  return a > b ? a : b;
}
