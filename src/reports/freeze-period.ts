// Freezes one statement. A statement that fits is stored as one text. A longer one is stored as pages of
// lines; the text carries the digest of each page, so that its own digest covers all of them.

import { createHash } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { loadFirm, type FirmOfDesk } from "../firms/find-firms.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { exactJson } from "../kernel/json.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { writeLongJson } from "../kernel/long-json.ts";
import { type IstMonth, istTimestamp } from "../kernel/time.ts";
import { readMoney, type MoneyPage, type MoneySums, sumByAccount } from "../ledger/read-money.ts";
import type { Context } from "../platform/context.ts";
import { openPace, runPaced } from "../platform/heavy/pace.ts";
import {
  type StatementSubject,
  accountFor,
  addSums,
  buildStatement,
  findOpening,
  findStatementHead,
  firmKey,
  loadFacts,
  sumBalance,
} from "./account-for.ts";
import { hashPage, type StoredStatement } from "./read-statements.ts";
import { periodSpan, previousPeriod } from "../kernel/months.ts";
import {
  addTotals,
  type Line,
  makeLines,
  partMax,
  sumByKind,
  type Total,
} from "./statement-rules.ts";
import { deletePagesLeft, insertPage, insertStatement } from "./store.ts";

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
