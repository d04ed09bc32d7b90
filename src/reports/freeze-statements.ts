// A worker that freezes the statements of closed months:
//
//   cut       take the last entry number and wait until every transaction before it has ended
//   walk      over the firms that have or had money with us: one walk for live, one for the sandbox,
//             and one for each sandbox desk whose clock is ahead
//   freeze    every missing month up to the last closed one, in order
//   store     the text, its digest and the cut; another process may have been faster
//
// Live comes first: while its walk goes on, the others wait. The walks of the sandbox take turns, and
// within a walk the desks take turns, step by step, so that however many months one desk is behind,
// they delay nobody else's.
//
// Entries are append-only, so entries before the cut are read without locks. A long statement is built
// page by page, each read by a query of its own, and a run of the worker ends after `stepsPerRun`
// steps, so that other workers get their turn.

import { setTimeout } from "node:timers/promises";

import { readCalendar } from "../outside/calendar.ts";
import { environments, type Environment } from "../kernel/caller.ts";
import { readDeskClock } from "../kernel/clock-advance.ts";
import { istMonth, type IstMonth } from "../kernel/time.ts";
import {
  type Cut,
  listFirmsWithMoney,
  readFirstEntryAt,
  isCutSettled,
  takeCut,
} from "../ledger/read-money.ts";
import type { Letterhead } from "../platform/pdf.ts";
import type { Context } from "../platform/context.ts";
import { freezePeriod } from "./freeze-period.ts";
import { nextPeriod, periodsBetween } from "../kernel/months.ts";
import { lastClosedPeriod } from "./statement-rules.ts";
import {
  findLatestBefore,
  listClocksAhead,
  listDesksOfFirms,
  listFirmsFrozen,
  listFirmsOfDesk,
} from "./store.ts";

const firmsPerPage = 100;
/** Statements, pages of a long one, or pages of firms, per run. */
const stepsPerRun = 20;
const cutLooks = 100;
const cutLookMs = 20;

type FreezeContext = Pick<Context, "db" | "now" | "log">;

/** The walk of an environment, or of the sandbox desk of this id. */
type WalkName = string;

/** The firms of one desk that wait in a walk, and the one whose months are being frozen. */
type DeskQueue = {
  readonly firmIds: string[];
  current: { readonly firmId: string; readonly steps: AsyncGenerator<void> } | undefined;
};

type Walk = {
  readonly name: WalkName;
  readonly closed: IstMonth;
  readonly cut: Cut;
  /** After which account or firm more are listed; undefined when all are. */
  after: string | undefined;
  /** By desk; the first is next. */
  readonly queues: Map<string, DeskQueue>;
  /** Firms are listed in every other step while some wait, so that neither waits for the other. */
  listsNext: boolean;
  missed: number;
};

/** Each run takes up to `stepsPerRun` steps; idle until another month is closed. */
export function createStatementFreezer(
  ctx: FreezeContext,
  letterhead: Letterhead,
): () => Promise<"more" | "idle"> {
  const done = new Map<WalkName, IstMonth>();
  /** Walks that could not make every statement. They begin again after an idle run. */
  const incomplete = new Set<WalkName>();
  /** The first has waited longest. */
  const walks = new Map<WalkName, Walk>();
  return async () => {
    const closed = await readClosedPeriods(ctx);
    for (const names of [done, walks]) {
      for (const name of names.keys()) if (!closed.has(name)) names.delete(name);
    }
    const due = [...closed].filter(([name, period]) => {
      const isKnown = done.get(name) === period || walks.get(name)?.closed === period;
      return !isKnown && !incomplete.has(name);
    });
    for (const walk of await openWalks(ctx, due)) walks.set(walk.name, walk);
    for (let step = 0; step < stepsPerRun; step++) {
      const walk = walks.get("live") ?? walks.values().next().value;
      if (!walk) {
        incomplete.clear();
        return "idle";
      }
      walks.delete(walk.name);
      if ((await takeStep(ctx, walk, letterhead)) === "more") walks.set(walk.name, walk);
      else if (walk.missed > 0) incomplete.add(walk.name);
      else done.set(walk.name, walk.closed);
    }
    return "more";
  };
}

/** The last closed month of each environment, and of sandbox desks whose clocks are ahead. */
async function readClosedPeriods({
  db,
  now,
}: FreezeContext): Promise<ReadonlyMap<WalkName, IstMonth>> {
  const calendar = await readCalendar(db);
  const instant = now();
  const ahead = await listClocksAhead(db);
  return new Map<WalkName, IstMonth>([
    ["live", lastClosedPeriod(instant, "live", calendar)],
    ["sandbox", lastClosedPeriod(instant, "sandbox", calendar)],
    ...ahead.map(({ desk_id, ahead_s }): [string, IstMonth] => [
      desk_id,
      lastClosedPeriod(readDeskClock(instant, ahead_s), "sandbox", calendar),
    ]),
  ]);
}

/** None when a transaction before the cut stays open: the next run tries again. */
async function openWalks(
  ctx: FreezeContext,
  due: readonly (readonly [WalkName, IstMonth])[],
): Promise<Walk[]> {
  if (due.length === 0) return [];
  const cut = await takeCut(ctx.db);
  for (let look = 0; look < cutLooks; look++) {
    if (await isCutSettled(ctx.db, cut)) {
      return due.map(([name, closed]) => ({
        name,
        closed,
        cut,
        after: "",
        queues: new Map(),
        listsNext: true,
        missed: 0,
      }));
    }
    await setTimeout(cutLookMs);
  }
  ctx.log.warn({ walks: due.length }, "statements wait for a transaction that does not end");
  return [];
}

async function takeStep(
  ctx: FreezeContext,
  walk: Walk,
  letterhead: Letterhead,
): Promise<"more" | "last"> {
  const [next] = walk.queues;
  if (walk.after !== undefined && (walk.listsNext || !next)) {
    walk.listsNext = false;
    await listMoreFirms(ctx, walk, walk.after);
    return "more";
  }
  walk.listsNext = true;
  if (!next) return "last";
  const [deskId, queue] = next;
  walk.queues.delete(deskId);
  await freezeNext(ctx, walk, { queue, letterhead });
  if (queue.current || queue.firmIds.length > 0) walk.queues.set(deskId, queue);
  return "more";
}

function isEnvironment(name: WalkName): name is Environment {
  return environments.some((environment) => environment === name);
}

/** Queues the next firms that miss a statement, each with its desk. */
async function listMoreFirms({ db }: FreezeContext, walk: Walk, after: string): Promise<void> {
  const { name, closed } = walk;
  const page = isEnvironment(name)
    ? await listFirmsWithMoney(db, name, { after, limit: firmsPerPage })
    : await listFirmsOfDesk(db, name, { after, limit: firmsPerPage });
  walk.after = page.next;
  const frozen = new Set(await listFirmsFrozen(db, page.firmIds, closed));
  const missing = page.firmIds.filter((firmId) => !frozen.has(firmId));
  for (const { firm_id, desk_id } of await listDesksOfFirms(db, missing)) {
    const queue = walk.queues.get(desk_id);
    if (queue) queue.firmIds.push(firm_id);
    else walk.queues.set(desk_id, { firmIds: [firm_id], current: undefined });
  }
}

/** One step of the desk's current firm, or of its next one. */
async function freezeNext(
  ctx: FreezeContext,
  walk: Walk,
  { queue, letterhead }: { readonly queue: DeskQueue; readonly letterhead: Letterhead },
): Promise<void> {
  const firmId = queue.current?.firmId ?? queue.firmIds.shift();
  if (firmId === undefined) return;
  const { closed, cut } = walk;
  queue.current ??= { firmId, steps: freezeUpTo(ctx, firmId, { closed, cut, letterhead }) };
  try {
    if ((await queue.current.steps.next()).done === true) queue.current = undefined;
  } catch (error) {
    queue.current = undefined;
    walk.missed += 1;
    ctx.log.warn({ err: error, firm_id: firmId }, "a statement could not be made yet");
  }
}

/** Yields after each statement, and after each page of a long one. */
async function* freezeUpTo(
  ctx: FreezeContext,
  firmId: string,
  {
    closed,
    cut,
    letterhead,
  }: { readonly closed: IstMonth; readonly cut: Cut; readonly letterhead: Letterhead },
): AsyncGenerator<void> {
  const last = await findLatestBefore(ctx.db, firmId, closed);
  const first = last ? undefined : await readFirstEntryAt(ctx.db, firmId);
  const next = last ? nextPeriod(last.period) : first && istMonth(first);
  for (const period of next === undefined ? [] : periodsBetween(next, closed)) {
    yield* freezePeriod(ctx, firmId, { period, letterhead, upTo: cut.entryNo });
    yield;
  }
}
