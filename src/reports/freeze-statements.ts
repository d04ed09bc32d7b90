// A worker that freezes the statements of closed months:
//
//   cut       take the last entry number and wait until every transaction before it has ended
//   walk      over all firms that have or had money with us
//   freeze    every missing month up to the last closed one, in order
//   store     the text, its digest and the cut; another process may have been faster
//
// Entries are append-only, so entries before the cut are read without locks. A long statement is built
// page by page, each read by a query of its own, and a run of the worker ends after `stepsPerRun`
// steps, so that other workers get their turn.

import { setTimeout } from "node:timers/promises";

import { readCalendar } from "../outside/calendar.ts";
import type { Environment } from "../kernel/caller.ts";
import { istMonth, type IstMonth } from "../kernel/time.ts";
import {
  type Cut,
  listFirmsWithMoney,
  readFirstEntryAt,
  isCutSettled,
  takeCut,
} from "../ledger/read-money.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import type { Context } from "../platform/context.ts";
import { freezePeriod } from "./freeze-period.ts";
import { nextPeriod, periodsBetween } from "../kernel/months.ts";
import { lastClosedPeriod } from "./statement-rules.ts";
import { findLatestBefore, listClocksAhead, listFirmsFrozen, listFirmsOfDesks } from "./store.ts";

const accountsPerPage = 100;
/** Statements, or pages of a long one, per run. */
const stepsPerRun = 20;
const cutLooks = 100;
const cutLookMs = 20;

type FreezeContext = Pick<Context, "db" | "now" | "log">;

/** The last closed month of each environment, and of sandbox desks whose clocks are ahead. */
type ClosedPeriods = Readonly<Record<Environment, IstMonth>> & {
  readonly byDesk: ReadonlyMap<string, IstMonth>;
};

/** The state of a walk over all firms. */
type Walk = {
  readonly closed: ClosedPeriods;
  readonly cut: Cut;
  /** The next firms, and the account after which more are listed. */
  waiting: { readonly firmId: string; readonly closed: IstMonth }[];
  after: string | undefined;
  /** The firm whose months are being frozen. */
  firm: { readonly firmId: string; readonly steps: AsyncGenerator<void> } | undefined;
  missed: number;
};

/** Each run takes up to `stepsPerRun` steps; idle until another month is closed. */
export function createStatementFreezer(
  ctx: FreezeContext,
  letterhead: Letterhead,
): () => Promise<"more" | "idle"> {
  let done: ClosedPeriods | undefined;
  let walk: Walk | undefined;
  return async () => {
    const closed = await readClosedPeriods(ctx);
    if (!walk && isSame(closed, done)) return "idle";
    const current = walk ?? (await beginWalk(ctx, closed));
    walk = current;
    if (!current) return "idle";
    for (let step = 0; step < stepsPerRun; step++) {
      if ((await takeStep(ctx, current, letterhead)) === "more") continue;
      if (current.missed === 0) done = current.closed;
      walk = undefined;
      return "idle";
    }
    return "more";
  };
}

async function readClosedPeriods({ db, now }: FreezeContext): Promise<ClosedPeriods> {
  const calendar = await readCalendar(db);
  const instant = now();
  const closedIn = (environment: Environment, at = instant) =>
    lastClosedPeriod(at, environment, calendar);
  const ahead = await listClocksAhead(db);
  const byDesk = ahead.map(({ desk_id, ahead_s }): [string, IstMonth] => {
    const clock = new Date(instant.getTime() + ahead_s * 1_000);
    return [desk_id, closedIn("sandbox", clock)];
  });
  return { live: closedIn("live"), sandbox: closedIn("sandbox"), byDesk: new Map(byDesk) };
}

function isSame(one: ClosedPeriods, other: ClosedPeriods | undefined): boolean {
  if (!other || one.live !== other.live || one.sandbox !== other.sandbox) return false;
  const isAlike = [...one.byDesk].every(([deskId, closed]) => other.byDesk.get(deskId) === closed);
  return isAlike && one.byDesk.size === other.byDesk.size;
}

/** Undefined when a transaction before the cut stays open: the next run begins again. */
async function beginWalk(ctx: FreezeContext, closed: ClosedPeriods): Promise<Walk | undefined> {
  const cut = await takeCut(ctx.db);
  for (let look = 0; look < cutLooks; look++) {
    if (await isCutSettled(ctx.db, cut)) {
      return { closed, cut, waiting: [], after: "", firm: undefined, missed: 0 };
    }
    await setTimeout(cutLookMs);
  }
  ctx.log.warn({ closed }, "statements wait for a transaction that does not end");
  return undefined;
}

async function takeStep(
  ctx: FreezeContext,
  walk: Walk,
  letterhead: Letterhead,
): Promise<"more" | "last"> {
  if (walk.firm) {
    const { firmId, steps } = walk.firm;
    try {
      if ((await steps.next()).done === true) walk.firm = undefined;
    } catch (error) {
      walk.firm = undefined;
      walk.missed += 1;
      ctx.log.warn({ err: error, firm_id: firmId }, "a statement could not be made yet");
    }
    return "more";
  }
  const next = walk.waiting.shift();
  if (next !== undefined) {
    const { firmId, closed } = next;
    const upTo = { closed, cut: walk.cut, letterhead };
    walk.firm = { firmId, steps: freezeUpTo(ctx, firmId, upTo) };
    return "more";
  }
  if (walk.after === undefined) return "last";
  const { firms, next: after } = await listFirmsWithMoney(ctx.db, walk.after, accountsPerPage);
  walk.waiting = [];
  const closedBy = await findClosedByFirm(ctx, walk, firms);
  for (const [closed, own] of Map.groupBy(firms, closedBy)) {
    const firmIds = own.map((firm) => firm.firmId);
    const frozen = new Set(await listFirmsFrozen(ctx.db, firmIds, closed));
    const missing = firmIds.filter((id) => !frozen.has(id));
    walk.waiting.push(...missing.map((firmId) => ({ firmId, closed })));
  }
  walk.after = after;
  return "more";
}

/** A firm's month is closed with its environment's, or with its desk's clock where that is ahead. */
async function findClosedByFirm(
  { db }: FreezeContext,
  { closed }: Walk,
  firms: readonly { readonly firmId: string; readonly environment: Environment }[],
): Promise<(firm: (typeof firms)[number]) => IstMonth> {
  const { byDesk } = closed;
  const firmIds = firms.map(({ firmId }) => firmId);
  const ahead = byDesk.size === 0 ? [] : await listFirmsOfDesks(db, firmIds, [...byDesk.keys()]);
  const deskByFirm = new Map(ahead.map(({ firm_id, desk_id }) => [firm_id, desk_id]));
  return ({ firmId, environment }) =>
    byDesk.get(deskByFirm.get(firmId) ?? "") ?? closed[environment];
}

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
  }
}
