// Statements of busy months: made without holding anybody's money, in bounded pieces, and read in
// parts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import type { Letterhead } from "../../src/platform/pdf.ts";
import { isCutSettled, takeCut } from "../../src/ledger/read-money.ts";
import { assertWritten } from "../../src/ledger/rules.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import { type Database, type Db, sql } from "../../src/platform/postgres/postgres.ts";
import { freezePeriod } from "../../src/reports/freeze-statements.ts";
import { createStatementFreezer } from "../../src/reports/freeze-statements.ts";
import { linesMax } from "../../src/reports/statement-rules.ts";
import { asOwner } from "../support/database.ts";
import {
  assertLedgerSound,
  bank,
  buildEntry,
  payIn,
  payInMany,
  toCash,
} from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";

const letterhead: Letterhead = { name: "House", address: [], gstin: null };
const hourMs = 3_600_000;
const monthEnd = Date.parse("2026-12-01T00:00:00+05:30");

test("a month with too many lines for one answer is stored in pages and read in parts", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, []);
  await payIn(service, desk.firmId, 7);
  const count = linesMax + 5_001;
  const paise = (await payInMany(service, desk.firmId, count)) + 7n;
  await assertLedgerSound(service);
  const path = `/v1/statements/2026-11?firm_id=${desk.firmId}`;
  service.clock.set(new Date(monthEnd - hourMs));
  const running = await service.send("GET", path, { key: desk.key, expect: 409 });
  assert.equal(running.body.detail.reason, "too_many_lines");

  service.clock.set(new Date(monthEnd + hourMs));
  await service.work();
  const whole = await service.send("GET", path, { key: desk.key, expect: 409 });
  const long = { reason: "too_many_lines", lines: count + 1, lines_max: linesMax };
  assert.deepEqual(whole.body.detail, long);
  let after = 0;
  let balance = 0;
  for (;;) {
    const part = await desk.get(`${path}&after_line=${after}&limit=1999`);
    assert.equal(part.status, "final");
    assert.equal(part.line_count, count + 1);
    assert.equal(part.closing_paise, Number(paise));
    assert.deepEqual(part.totals, [
      { kind: "deposit", lines: count + 1, amount_paise: Number(paise) },
    ]);
    if (part.lines.length === 0) break;
    for (const line of part.lines) {
      assert.equal(line.line_no, ++after);
      assert.equal(line.balance_paise, (balance += line.amount_paise));
    }
  }
  assert.equal(after, count + 1);
  assert.equal(BigInt(balance), paise);
  const csv = await service.send("GET", `${path}&after_line=${count - 1}&format=csv`, {
    key: desk.key,
    expect: 200,
  });
  assert.match(csv.text, /\r\n,[^\r]*,closing,/);
  assert.doesNotMatch(csv.text, /,opening,/);
  await service.send("GET", `${path}&after_line=0&format=pdf`, { key: desk.key, expect: 422 });
  const listed = await desk.get(`/v1/statements?firm_id=${desk.firmId}`);
  assert.deepEqual(
    listed.statements.map((each: { period: string; opening_paise: number }) => each.opening_paise),
    [Number(paise), 0],
  );
});

test("a tampered page is not served", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, []);
  await payIn(service, desk.firmId, 7);
  await payInMany(service, desk.firmId, linesMax + 1);
  service.clock.set(new Date(monthEnd + hourMs));
  await service.work();
  const path = `/v1/statements/2026-11?firm_id=${desk.firmId}&after_line=0`;
  await service.send("GET", path, { key: desk.key, expect: 200 });
  await asOwner(service.ctx.db, async (owner) => {
    await owner.query(
      `update statement_pages set body = replace(body, '"amount_paise":3,', '"amount_paise":4,')`,
    );
  });
  await service.send("GET", path, { key: desk.key, expect: 500 });
});

test("pages of an interrupted run are deleted when the statement is stored, and its own pages stay", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const desk = await dealer(service, []);
  await payIn(service, desk.firmId, 7);
  await payInMany(service, desk.firmId, linesMax + 1);
  service.clock.set(new Date(monthEnd + hourMs));
  const pagesBy = async () =>
    (
      await ctx.db.pool.query(
        "select distinct seen_entry_no as seen from statement_pages order by seen_entry_no",
      )
    ).rows.map((row) => Number(row.seen));
  const upTo = linesMax + 2; // All entries so far.
  const stops = freezePeriod(ctx, desk.firmId, { period: "2026-11", letterhead, upTo });
  await stops.next();
  await stops.next();
  assert.deepEqual(await pagesBy(), [upTo], "it stopped before the statement was kept");

  await payIn(service, desk.firmId, 1);
  await service.work();
  const kept = await pagesBy();
  assert.equal(kept.length, 1);
  assert.ok(!kept.includes(upTo));
  const path = `/v1/statements/2026-11?firm_id=${desk.firmId}&after_line=0`;
  await service.send("GET", path, { key: desk.key, expect: 200 });

  // The first was only slow: what it goes on to write goes as well.
  while ((await stops.next()).done !== true);
  assert.deepEqual(await pagesBy(), kept);
  await assert.rejects(ctx.db.pool.query("delete from statement_pages"), { code: "23001" });
});

test("a cut is settled only when the newest transaction has ended too", async (t) => {
  const { ctx } = await startService(t);
  await ctx.db.transaction(async (tx) => {
    await tx.rows(sql`select pg_current_xact_id()`);
    const cut = await takeCut(ctx.db);
    assert.equal(await isCutSettled(ctx.db, cut), false);
  });
  // Transactions of the server's other databases are waited for too: they end soon.
  const cut = await takeCut(ctx.db);
  while (!(await isCutSettled(ctx.db, cut))) await setTimeout(10);
});

test("transactions open at the cut are waited for, without a lock on balances", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, []);
  await payIn(service, desk.firmId, 7);
  const { ctx } = service;
  const late = buildEntry("deposit", "posted", [{ from: bank, to: toCash(desk.firmId), paise: 5 }]);
  const inNovember = ctx.now();
  service.clock.set(new Date(monthEnd + hourMs));
  const asked: string[] = [];
  const told = Promise.withResolvers<void>();
  const note = (db: Db): Pick<Db, "rows"> => ({
    rows: async (statement) => {
      asked.push(statement.text);
      if (statement.text.includes("pg_snapshot_xmin")) told.resolve();
      return await db.rows(statement);
    },
  });
  const db: Database = {
    ...ctx.db,
    ...note(ctx.db),
    transaction: async (work, options) =>
      await ctx.db.transaction(async (tx) => await work({ ...tx, ...note(tx) }), options),
  };
  const freeze = createStatementFreezer({ ...ctx, db }, letterhead);
  const frozen = Promise.withResolvers<void>();
  await ctx.db.transaction(async (tx) => {
    assertWritten(await postEntries(tx, [late], inNovember));
    void (async () => {
      while ((await freeze()) === "more");
      frozen.resolve();
    })();
    await told.promise;
  });
  await frozen.promise;
  const statement = await desk.get(`/v1/statements/2026-11?firm_id=${desk.firmId}`);
  assert.equal(statement.status, "final");
  assert.equal(statement.closing_paise, 12);
  const locking = asked.filter((text) => /for (update|share)|update ledger/.test(text));
  assert.deepEqual(locking, []);
});
