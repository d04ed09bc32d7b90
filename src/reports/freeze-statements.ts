// Makes the statements of months that are over, once and for good:
//
//   cut       a place in the books, waited for until nothing before it is under way
//   walk      over all firms that have or had money with us, until none is left
//   make      every month that is missing up to the last one that is over, in order
//   keep      the text, its digest and the cut; others may have been faster
//
// Entries are only added, so what is before the cut is read without holding anything. A long
// statement is made page by page, each in a statement of SQL of its own, and a run of the worker ends
// after so many pages, so that nobody waits for it.

import { setTimeout } from "node:timers/promises";

import { readCalendar } from "../outside/calendar.ts";
import type { Environment } from "../kernel/caller.ts";
import { istMonth, type IstMonth } from "../kernel/time.ts";
import {
  type Cut,
  firmsWithMoney,
  firstEntryAt,
  isCutSettled,
  takeCut,
} from "../ledger/read-money.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import type { Context } from "../platform/context.ts";
import { freezePeriod } from "./freeze-period.ts";
import { nextPeriod, periodsBetween } from "../kernel/months.ts";
import { lastClosedPeriod } from "./statement-rules.ts";
import { findLatestBefore, listFirmsFrozen } from "./statement-store.ts";

const accountsPerPage = 100;
/** How many statements, or pages of a long one, are made in a run. */
const stepsPerRun = 20;
const cutLooks = 100;
const cutLookMs = 20;

type Working = Pick<Context, "db" | "now" | "log">;

/** The last month that is over, in each environment. */
type Closed = Readonly<Record<Environment, IstMonth>>;

/** Where a walk has come to, for which month, and how many firms it could not do. */
type Walk = {
  readonly closed: Closed;
  readonly cut: Cut;
  /** Firms whose turn comes next, and the account after which more are found. */
  waiting: { readonly firmId: string; readonly closed: IstMonth }[];
  after: string | undefined;
  /** The firm under way. */
  firm: { readonly firmId: string; readonly steps: AsyncGenerator<void> } | undefined;
  missed: number;
};

/** So many steps of a walk; nothing more to do until another month is over. */
export function statementFreezer(
  ctx: Working,
  letterhead: Letterhead,
): () => Promise<"more" | "idle"> {
  let done: Closed | undefined;
  let walk: Walk | undefined;
  return async () => {
    const closed = await closedPeriods(ctx);
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

async function closedPeriods({ db, now }: Working): Promise<Closed> {
  const calendar = await readCalendar(db);
  const closedIn = (environment: Environment) => lastClosedPeriod(now(), environment, calendar);
  return { live: closedIn("live"), sandbox: closedIn("sandbox") };
}

function isSame(one: Closed, other: Closed | undefined): boolean {
  return one.live === other?.live && one.sandbox === other.sandbox;
}

/** Undefined when something was under way for too long: the next run begins again. */
async function beginWalk(ctx: Working, closed: Closed): Promise<Walk | undefined> {
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
  ctx: Working,
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
  const { firms, next: after } = await firmsWithMoney(ctx.db, walk.after, accountsPerPage);
  walk.waiting = [];
  for (const [environment, own] of Map.groupBy(firms, (firm) => firm.environment)) {
    const firmIds = own.map((firm) => firm.firmId);
    const closed = walk.closed[environment];
    const frozen = new Set(await listFirmsFrozen(ctx.db, firmIds, closed));
    const missing = firmIds.filter((id) => !frozen.has(id));
    walk.waiting.push(...missing.map((firmId) => ({ firmId, closed })));
  }
  walk.after = after;
  return "more";
}

async function* freezeUpTo(
  ctx: Working,
  firmId: string,
  {
    closed,
    cut,
    letterhead,
  }: { readonly closed: IstMonth; readonly cut: Cut; readonly letterhead: Letterhead },
): AsyncGenerator<void> {
  const last = await findLatestBefore(ctx.db, firmId, closed);
  const first = last ? undefined : await firstEntryAt(ctx.db, firmId);
  const next = last ? nextPeriod(last.period) : first && istMonth(first);
  for (const period of next === undefined ? [] : periodsBetween(next, closed)) {
    yield* freezePeriod(ctx, firmId, { period, letterhead, upTo: cut.entryNo });
  }
}
