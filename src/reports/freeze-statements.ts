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

import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { type FirmOfDesk, loadFirm } from "../firms/find-firms.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { type Environment, environments } from "../kernel/caller.ts";
import { readDeskClock } from "../kernel/clock-advance.ts";
import { exactJson } from "../kernel/json.ts";
import { writeLongJson } from "../kernel/long-json.ts";
import { nextPeriod, periodsBetween, periodSpan, previousPeriod } from "../kernel/months.ts";
import { istMonth, type IstMonth, istTimestamp } from "../kernel/time.ts";
import {
  type Cut,
  isCutSettled,
  listFirmsWithMoney,
  type MoneyPage,
  type MoneySums,
  readFirstEntryAt,
  readMoney,
  sumByAccount,
  takeCut,
} from "../ledger/read-money.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import { openPace, runPaced } from "../platform/heavy/pace.ts";
import type { Letterhead } from "../platform/pdf.ts";
import {
  accountFor,
  addSums,
  buildStatement,
  findOpening,
  findStatementHead,
  firmKey,
  loadFacts,
  type StatementSubject,
  sumBalance,
} from "./account-for.ts";
import { hashPage, type StoredStatement } from "./read-statements.ts";
import {
  addTotals,
  lastClosedPeriod,
  type Line,
  makeLines,
  partMax,
  sumByKind,
  type Total,
} from "./statement-rules.ts";
import {
  deletePagesLeft,
  findLastFrozen,
  findLatestBefore,
  insertPage,
  insertStatement,
  listClocksAhead,
  listDesksOfFirms,
  listFirmsFrozen,
  listFirmsOfDesk,
} from "./store.ts";

/** The last month of live that is closed. */
export async function findClosedMonth({ db, now }: Pick<Context, "db" | "now">): Promise<IstMonth> {
  return lastClosedPeriod(now(), "live", await readCalendar(db));
}

const hourMs = 3_600_000;
const hoursToNextMax = 40 * 24;

/** When statements of the last closed month of live were written, and when the next one is closed, to the hour. */
export async function describeFreezing({ db, now }: Pick<Context, "db" | "now">) {
  const calendar = await readCalendar(db);
  const instant = now();
  const closed = lastClosedPeriod(instant, "live", calendar);
  const thisHour = Math.floor(instant.getTime() / hourMs) * hourMs;
  const hours = Array.from({ length: hoursToNextMax }, (_, at) => thisHour + (at + 1) * hourMs);
  const next = hours.find((at) => lastClosedPeriod(new Date(at), "live", calendar) !== closed);
  return {
    lastAt: await findLastFrozen(db, closed),
    nextAt: next === undefined ? null : new Date(next),
  };
}

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

// Freezes one statement. A statement that fits is stored as one text. A longer one is stored as pages of
// lines; the text carries the digest of each page, so that its own digest covers all of them.

const entriesPerPage = 2_000;
const freezer: Actor = { kind: "worker", id: "statements", requestId: null };

type FreezeOptions = {
  readonly period: IstMonth;
  readonly letterhead: Letterhead;
  /** The last entry number that counts. All entries up to it are committed. */
  readonly upTo: number;
};

/** Yields after every page. */
export async function* freezePeriod(
  ctx: Pick<Context, "db" | "now">,
  firmId: string,
  { period, letterhead, upTo }: FreezeOptions,
): AsyncGenerator<void> {
  const now = ctx.now();
  const firm = await loadFirm(ctx.db, firmId);
  const head = await findStatementHead(ctx.db, { firm, period, letterhead, now });
  const account = { firm, period, letterhead: head, now, upTo };
  const short = await accountFor(ctx.db, account);
  const made = short ?? (yield* writePages(ctx, account));
  await storeStatement(ctx, firm, { ...made, status: "final", frozen_at: istTimestamp(now) }, now);
}

/** Stores the lines page by page and returns the statement without them. */
async function* writePages(
  ctx: Pick<Context, "db">,
  account: StatementSubject & { readonly upTo: number },
): AsyncGenerator<void, StoredStatement> {
  const { firm, period, upTo } = account;
  const { opening, late } = await findOpening(ctx.db, firm, period);
  const { from, to } = periodSpan(period);
  const span = { from, to, late, upTo, limit: entriesPerPage };
  const pages = createPageWriter(ctx, account);
  let added: MoneySums = sumByAccount([]);
  let totals: Total[] = [];
  let next: MoneyPage["next"];
  do {
    const page = await readMoney(ctx.db, firmKey(firm), { ...span, ...(next && { after: next }) });
    const facts = await loadFacts(ctx.db, firm.firm_id, page.postings);
    const balance = sumBalance(addSums(opening, added));
    const lines = await runPaced(
      makeLines(balance, page.postings, facts, pages.lineCount()),
      openPace(),
    );
    await pages.add(lines);
    totals = addTotals(totals, sumByKind(lines));
    added = addSums(added, sumByAccount(page.postings));
    next = page.next;
    yield;
  } while (next);
  const digests = await pages.end();
  const lineCount = pages.lineCount();
  const accounted = { opening, added, lines: [], lineCount, totals, version: upTo };
  return { ...buildStatement(account, accounted), page_digests: digests };
}

/** Cuts lines into pages of `partMax`. */
function createPageWriter(
  { db }: Pick<Context, "db">,
  { firm, period, upTo }: StatementSubject & { readonly upTo: number },
) {
  const key = { firmId: firm.firm_id, period, seenEntryNo: upTo };
  const digests: string[] = [];
  let waiting: Line[] = [];
  let lineCount = 0;
  const write = async (lines: readonly Line[]) => {
    const body = exactJson(lines);
    await insertPage(db, key, { pageNo: digests.length, body });
    digests.push(hashPage(body));
  };
  return {
    lineCount: () => lineCount,
    async add(lines: readonly Line[]): Promise<void> {
      lineCount += lines.length;
      waiting = [...waiting, ...lines];
      while (waiting.length >= partMax) {
        await write(waiting.slice(0, partMax));
        waiting = waiting.slice(partMax);
      }
    },
    async end(): Promise<readonly string[]> {
      if (waiting.length > 0) await write(waiting);
      return digests;
    },
  };
}

async function storeStatement(
  ctx: Pick<Context, "db">,
  firm: FirmOfDesk,
  statement: StoredStatement,
  now: Date,
): Promise<void> {
  const body = await runPaced(writeLongJson(statement, "lines"), openPace());
  const digest = createHash("sha256").update(body).digest();
  await ctx.db.transaction(async (tx) => {
    const isNew = await insertStatement(tx, {
      firm_id: firm.firm_id,
      period: statement.period,
      environment: firm.environment,
      opening_paise: statement.opening_paise,
      closing_paise: statement.closing_paise,
      commission_paise: statement.commission_paise,
      dues_paise: statement.dues_paise,
      seen_entry_no: statement.version,
      frozen_at: now,
      digest,
      body,
    });
    const periods = [previousPeriod(statement.period), statement.period];
    await deletePagesLeft(tx, { firmId: firm.firm_id, periods });
    if (!isNew) return;
    await recordChanges(
      tx,
      freezer,
      [describeFreeze(firm, statement, digest.toString("hex"))],
      now,
    );
  });
}

function describeFreeze(firm: FirmOfDesk, statement: StoredStatement, digest: string): Change {
  const { period, firm_id, version } = statement;
  return {
    environment: firm.environment,
    deskId: firm.desk_id,
    firmId: firm_id,
    action: "statement.freeze",
    entity: {
      type: "statement",
      id: statement.statement_no,
      version,
      href: `/v1/statements/${period}?firm_id=${firm_id}`,
    },
    after: { period, closing_paise: statement.closing_paise, digest },
    event: {
      name: "statement.ready",
      from: null,
      to: "final",
      data: { statement_no: statement.statement_no, period },
    },
  };
}
