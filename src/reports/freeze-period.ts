// One statement for good. What fits is one text. What does not is kept in pages of lines, and the
// statement names the digest of each, so that its own digest proves all of it.

import { createHash } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { firmById, type FirmOfDesk } from "../firms/find-firms.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { exactJson } from "../kernel/json.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import { writeLongJson } from "../kernel/long-json.ts";
import { type IstMonth, istTimestamp } from "../kernel/time.ts";
import { type MoneyPage, moneyIn, type MoneySums, sumsOf } from "../ledger/read-money.ts";
import type { Context } from "../platform/context.ts";
import { openPace, runPaced } from "../platform/heavy/pace.ts";
import {
  type Account,
  accountFor,
  balanceIn,
  factsOf,
  ofFirm,
  openingOf,
  statementOf,
  sumOf,
} from "./account-for.ts";
import { digestOfPage, type KeptStatement } from "./read-statements.ts";
import { previousPeriod, spanOf } from "../kernel/months.ts";
import {
  addTotals,
  type Line,
  makeLines,
  partMax,
  type Total,
  totalsOf,
} from "./statement-rules.ts";
import { deletePagesLeft, insertPage, insertStatement } from "./statement-store.ts";

const entriesPerPage = 2_000;
const freezer: Actor = { kind: "worker", id: "statements", requestId: null };

type Freezing = {
  readonly period: IstMonth;
  readonly letterhead: Letterhead;
  /** The last entry of the books that counts; all up to it are there. */
  readonly upTo: number;
};

/** Pauses after every page, and before the statement is kept. */
export async function* freezePeriod(
  ctx: Pick<Context, "db" | "now">,
  firmId: string,
  { period, letterhead, upTo }: Freezing,
): AsyncGenerator<void> {
  const now = ctx.now();
  const firm = await firmById(ctx.db, firmId);
  const account = { firm, period, letterhead, now, upTo };
  const short = await accountFor(ctx.db, account);
  const made = short ?? (yield* makePages(ctx, account));
  await keep(ctx, firm, { ...made, status: "final", frozen_at: istTimestamp(now) }, now);
}

/** Writes the lines page by page; answers with all the rest. */
async function* makePages(
  ctx: Pick<Context, "db">,
  account: Account & { readonly upTo: number },
): AsyncGenerator<void, KeptStatement> {
  const { firm, period, upTo } = account;
  const { opening, late } = await openingOf(ctx.db, firm, period);
  const { from, to } = spanOf(period);
  const span = { from, to, late, upTo, limit: entriesPerPage };
  const pages = pageWriter(ctx, account);
  let added: MoneySums = sumsOf([]);
  let totals: Total[] = [];
  let next: MoneyPage["next"];
  do {
    const page = await moneyIn(ctx.db, ofFirm(firm), { ...span, ...(next && { after: next }) });
    const facts = await factsOf(ctx.db, firm.firm_id, page.postings);
    const balance = balanceIn(sumOf(opening, added));
    const lines = await runPaced(
      makeLines(balance, page.postings, facts, pages.lineCount()),
      openPace(),
    );
    await pages.add(lines);
    totals = addTotals(totals, totalsOf(lines));
    added = sumOf(added, sumsOf(page.postings));
    next = page.next;
    yield;
  } while (next);
  const digests = await pages.end();
  const lineCount = pages.lineCount();
  const accounted = { opening, added, lines: [], lineCount, totals, version: upTo };
  return { ...statementOf(account, accounted), page_digests: digests };
}

/** Cuts lines into pages of one size. */
function pageWriter(
  { db }: Pick<Context, "db">,
  { firm, period, upTo }: Account & { readonly upTo: number },
) {
  const key = { firmId: firm.firm_id, period, seenEntryNo: upTo };
  const digests: string[] = [];
  let waiting: Line[] = [];
  let lineCount = 0;
  const write = async (lines: readonly Line[]) => {
    const body = exactJson(lines);
    await insertPage(db, key, { pageNo: digests.length, body });
    digests.push(digestOfPage(body));
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

async function keep(
  ctx: Pick<Context, "db">,
  firm: FirmOfDesk,
  statement: KeptStatement,
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
    await recordChanges(tx, freezer, [changeOf(firm, statement, digest.toString("hex"))], now);
  });
}

function changeOf(firm: FirmOfDesk, statement: KeptStatement, digest: string): Change {
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
    before: null,
    after: { period, closing_paise: statement.closing_paise, digest },
  };
}
