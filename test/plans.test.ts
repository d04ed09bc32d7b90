// Plans that need no luck: every statement finds its rows by an index with a plan that was made while
// the tables were small, and without statistics. `npm run compat` does this at full size, on the
// oldest PostgreSQL too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { countRows, judge, recordPlans } from "./compat/plans.ts";
import { fill, leaveUncounted } from "./compat/fill.ts";
import { dealADay } from "./compat/walk.ts";
import { countLineBlocks, findMissingLine, findWrongLine } from "../src/ledger/compare-store.ts";
import { takeCut } from "../src/ledger/read-money.ts";
import { listOffered, type OfferedPageRow } from "../src/trading/resting-store.ts";
import { asOwner } from "./support/database.ts";
import { payIn, payInMany } from "./support/ledger.ts";
import { dealer } from "./support/orders.ts";
import { startReceiver } from "./support/receivers.ts";
import { startService } from "./support/service.ts";

const ofDesk = 1_000;
const limits = { largeTable: 1_000, rowsFree: 300, rowsPerNeeded: 20, deskRows: ofDesk };

test("a day of dealing scans no large table and reads few more rows than it needs", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  await asOwner(db, leaveUncounted);
  const plans = await recordPlans(db);
  const { deskId: desk, firmId: firm } = await dealADay(t, service);
  plans.take();
  await asOwner(db, async (owner) => {
    await fill(owner, { worlds: 20, desk, firm, ofDesk, credits: 6_000 }, () => {});
  });
  const tableRows = await asOwner(db, countRows);
  const node = await startService(t, { beside: service, db });
  await dealADay(t, node, ["ledger-check"]);
  const judged = judge(plans.take(), tableRows, limits);
  assert.ok(judged.length > 100, "the server told its plans");
  const faulty = judged.filter(({ faults }) => faults.length > 0);
  assert.deepEqual(
    faulty.map(({ text, faults, nodes }) => ({ text: text.slice(0, 200), faults, nodes })),
    [],
  );

  await asOwner(db, (owner) => owner.query("drop index credits_by_desk_scrip"));
  const { post, scripNo } = await dealer(node);
  await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
  const without = judge(plans.take(), tableRows, limits).flatMap(({ faults }) => faults);
  assert.ok(without.length > 0, "without an index that sales need there is something to find");
});

test("subscriptions are read in pages, and each one behind is found", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const receiver = await startReceiver(t);
  const { post, scripNo } = await dealer(service);
  await post("/v1/webhooks", { url: receiver.url, event: "*" }, 201);
  await service.work();
  const others = 3_000;
  await asOwner(db, async (owner) => {
    // Nothing happens on the desk that these would want.
    await owner.query(
      `insert into webhooks
      select (jsonb_populate_record(w, jsonb_build_object(
        'webhook_id', 'whk_' || lpad(n::text, 26, '0'), 'after_sequence', 1000000000
      ))).*
      from webhooks as w, generate_series(1, $1::int) as n`,
      [others],
    );
  });
  const before = receiver.received.length;
  await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
  plans.take();
  await service.work();
  assert.ok(receiver.received.length > before, "the last of them is told");
  const tableRows = await asOwner(db, countRows);
  const looks = judge(plans.take(), tableRows, limits).filter(({ nodes }) =>
    nodes.includes("webhooks_"),
  );
  assert.ok(looks.length > 0, "the server told its plans");
  for (const { text, rowsRead } of looks) assert.ok(rowsRead < others, text);
});

test("a look at a desk's records of one minute reads the blocks of that minute", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const { post, get, scripNo } = await dealer(service);
  await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
  const others = 3_000;
  await asOwner(db, async (owner) => {
    await owner.query(
      `insert into journal_blocks
      select (jsonb_populate_record(last, jsonb_build_object(
        'first_seq', last.first_seq + n * 256, 'last_seq', last.last_seq + n * 256,
        'first_sequence', null, 'last_sequence', null, 'at', last.at + n * interval '1 minute'
      ))).*
      from journal_blocks as last, generate_series(1, $1::int) as n
      where last.first_seq = (select max(first_seq) from journal_blocks)`,
      [others],
    );
    await owner.query("analyze journal_blocks");
  });
  plans.take();
  const from = service.ctx.now();
  const to = new Date(from.getTime() + 60_000);
  const within = `from=${from.toISOString()}&to=${to.toISOString()}`;
  const { audit } = await get(`/v1/audit?action=order.place&${within}`);
  assert.equal(audit.length, 1);
  const tableRows = await asOwner(db, countRows);
  const looks = judge(plans.take(), tableRows, limits).filter(({ nodes }) =>
    nodes.includes("journal_blocks"),
  );
  assert.ok(looks.length > 0, "the server told its plans");
  for (const { text, rowsRead } of looks) assert.ok(rowsRead < 100, `${rowsRead}: ${text}`);
});

test("a statement of the round over statement lines reads its blocks and their entries", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 1);
  await payInMany(service, firmId, 5_000);
  assert.ok((await countLineBlocks(db)) > 40);
  plans.take();
  assert.equal(await findWrongLine(db, { from: 20, below: 22 }), undefined);
  const tableRows = await asOwner(db, countRows);
  const [look] = judge(plans.take(), tableRows, limits);
  assert.match(
    look?.nodes ?? "",
    /^blocks of ledger_firm_entries \d+(, ledger_entries_pkey \d+){2}$/,
  );
  assert.ok(look && look.rowsRead < 600, `${look?.rowsRead} lines and entries were read`);
});

test("missing lines are looked for near the others of their firm, and one by one where times are far apart", async (t) => {
  const service = await startService(t, { isNew: true });
  const { ctx, clock } = service;
  const plans = await recordPlans(ctx.db);
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 1);
  await payInMany(service, firmId, 5_000);
  const { entryNo: from } = await takeCut(ctx.db);
  clock.set(new Date(Date.UTC(2020, 0, 1)));
  await payIn(service, firmId, 1);
  clock.set(new Date(Date.UTC(2030, 0, 1)));
  await payIn(service, firmId, 1);
  plans.take();
  assert.equal(await findMissingLine(ctx.db, { from, to: from + 2 }), undefined);
  const [look] = judge(plans.take(), await asOwner(ctx.db, countRows), limits);
  assert.ok(look && look.rowsRead < 200, `${look?.rowsRead} lines and entries were read`);
  await asOwner(ctx.db, (owner) =>
    owner.query("delete from ledger_firm_entries where entry_no = $1", [from + 2]),
  );
  const missing = await findMissingLine(ctx.db, { from, to: from + 2 });
  assert.equal(missing?.place, `entry ${from + 2} on the statement of ${firmId}`);
});

test("pages of resting sells give each one once and read no other orders", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const { post, scripNo } = await dealer(service);
  await post("/v1/orders", { side: "sell", scrip_no: scripNo, limit_bps: 9_990 }, 201);
  const copies = 1_000;
  await asOwner(db, async (owner) => {
    // Sells of both schemes and, at many prices, pairs of one limit and time; and as many open buys.
    await owner.query(
      `insert into orders
      select copy.*
      from orders as o, generate_series(1, 2 * $1::int) as n,
        jsonb_populate_record(o, jsonb_build_object(
          'order_id', 'ord_' || lpad(n::text, 26, '0'), 'idempotency_key', null, 'request', null,
          'scheme', (array['RODTEP', 'ROSCTL'])[1 + n % 2], 'limit_bps', 1 + (n / 4) % 500,
          'side', case when n <= $1 then 'sell' else 'buy' end,
          'scrip_no', case when n <= $1 then o.scrip_no end,
          'face_paise', case when n <= $1 then o.face_paise end,
          'requirement_paise', case when n > $1 then o.face_paise end
        )) as copy`,
      [copies],
    );
    await owner.query("analyze orders");
  });
  plans.take();
  const limit = 100;
  const read: string[] = [];
  let page: OfferedPageRow[] = [];
  do {
    page = await listOffered(db, "sandbox", { after: page.at(-1), limit });
    read.push(...page.map(({ order_id }) => order_id));
  } while (page.length === limit);
  assert.equal(read.length, copies + 1);
  assert.equal(new Set(read).size, read.length);
  const tableRows = await asOwner(db, countRows);
  const looks = judge(plans.take(), tableRows, limits).filter(({ nodes }) =>
    nodes.includes("orders_resting_sells"),
  );
  assert.ok(looks.length > 0, "the server told its plans");
  for (const { rowsRead } of looks) assert.ok(rowsRead <= limit, `${rowsRead} orders were read`);
});

test("a deal that settles reads its own questions and settlements, however many are open", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const { post, scripNos } = await dealer(service, [{}, {}]);
  const sell = async (scripNo = "") =>
    await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
  await sell(scripNos[0]);
  await service.workOn(["settlement"]);
  const others = 3_000;
  // The plans of the first deal are kept by the connections; nobody tells the planner of the others.
  await asOwner(db, async (owner) => {
    await owner.query(
      `insert into questions
      select copy.*
      from questions as i, generate_series(1, $1::int) as n,
        jsonb_populate_record(i, jsonb_build_object(
          'question_id', 'inq_' || lpad(n::text, 26, '0'), 'subject_id', 'stl_' || n,
          'due_at', i.due_at + interval '1 year'
        )) as copy`,
      [others],
    );
    await owner.query(
      `insert into settlements
      select copy.*
      from settlements as s, generate_series(1, $1::int) as n,
        jsonb_populate_record(s, jsonb_build_object(
          'settlement_id', 'stl_' || lpad(n::text, 26, '0'), 'due_at', s.due_at + interval '1 year'
        )) as copy`,
      [others],
    );
  });
  service.clock.advance({ seconds: 1 });
  await service.workOn(["simulation"]);
  plans.take();
  await sell(scripNos[1]);
  const names = ["settlement", "simulation", "funding", "deadlines", "payouts"];
  await service.workOn(names);
  service.clock.advance({ seconds: 1 });
  await service.workOn(names);
  service.clock.advance({ seconds: 60 });
  await service.workOn(["deadlines"]);
  const tableRows = await asOwner(db, countRows);
  const looks = judge(plans.take(), tableRows, limits).filter(({ nodes }) =>
    /questions_|settlements_/.test(nodes),
  );
  assert.ok(looks.length > 5, "the server told its plans");
  for (const { text, rowsRead } of looks) assert.ok(rowsRead < 100, `${rowsRead}: ${text}`);
});
