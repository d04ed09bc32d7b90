// Plans that need no luck: every statement finds its rows by an index with a plan that was made while
// the tables were small, and without statistics. `npm run compat` does this at full size, on the
// oldest PostgreSQL too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { countRows, judge, recordPlans } from "./compat/plans.ts";
import { fill } from "./compat/fill.ts";
import { dealADay } from "./compat/walk.ts";
import { asOwner } from "./support/database.ts";
import { dealer } from "./support/orders.ts";
import { startReceiver } from "./support/receivers.ts";
import { startService } from "./support/service.ts";

const ofDesk = 1_000;
const limits = { largeTable: 1_000, rowsFree: 300, rowsPerNeeded: 20, deskRows: ofDesk };

test("a day of dealing scans no large table and reads few more rows than it needs", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
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
  const service = await startService(t);
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
