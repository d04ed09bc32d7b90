// Plans that need no luck: every statement finds its rows by an index with a plan that was made while
// the tables were small, and without statistics. `npm run compat` does this at full size, on the
// oldest PostgreSQL too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { countRows, judge, recordPlans } from "./compat/plans.ts";
import { fill } from "./compat/fill.ts";
import { dealADay } from "./compat/walk.ts";
import { asOwner } from "./support/database.ts";
import { startService } from "./support/service.ts";

const ofDesk = 1_000;
const limits = { largeTable: 1_000, rowsFree: 300, rowsPerNeeded: 20, deskRows: ofDesk };

test("a day of dealing reads no table whole, and little more than it needs", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const { deskId: desk, firmId: firm } = await dealADay(t, service);
  plans.take();
  await asOwner(db, async (owner) => {
    await fill(owner, { worlds: 20, desk, firm, ofDesk, credits: 6_000 }, () => {});
  });
  const tableRows = await asOwner(db, countRows);
  const node = await startService(t, { beside: service });
  const walk = async () => {
    await dealADay(t, node, ["ledger-check"]);
    return judge(plans.take(), tableRows, limits);
  };
  const judged = await walk();
  assert.ok(judged.length > 100, "the server told its plans");
  const faulty = judged.filter(({ faults }) => faults.length > 0);
  assert.deepEqual(
    faulty.map(({ text, faults, nodes }) => ({ text: text.slice(0, 200), faults, nodes })),
    [],
  );

  await asOwner(db, (owner) => owner.query("drop index credits_by_desk_scrip"));
  const without = (await walk()).flatMap(({ faults }) => faults);
  assert.ok(without.length > 0, "without an index that sales need there is something to find");
});
