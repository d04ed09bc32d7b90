// Queues of the operators' API are read page by page: every row once, in the order of the whole.

import assert from "node:assert/strict";
import { test } from "node:test";

import { furnishConsole } from "../support/furnished-console.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { startService } from "../support/service.ts";
import { addCredit, makeDeal, openTestDesk } from "../support/settlements.ts";

test("a queue read one row at a time is the queue, without a row twice or left out", async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service, { twoOperatorsFromPaise: 25_000_000 });
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  await furnishConsole(t, service, ops, asha);
  const headers = asBearer((await asha.signIn()).token);
  const read = async (path: string) => (await ops.send("GET", path, { headers, expect: 200 })).body;
  for (const scheme of ["RODTEP", "ROSCTL"]) {
    const body = { environment: "live", scheme, terms: { mid_bps: 9_400 } };
    await ops.send("POST", "/ops/rates", { headers, body, expect: 200 });
  }
  const queues = {
    "/ops/settlements/queue?environment=live": "settlements",
    "/ops/approvals?environment=live": "approvals",
    "/ops/approvals?status=proposed": "approvals",
    "/ops/questions?environment=live": "questions",
    "/ops/bank/queue?": "lines",
    "/ops/webhooks/failures?": "failures",
    "/ops/payout-files?status=live": "payout_files",
    "/ops/enquiries?status=received": "enquiries",
  };
  for (const [path, name] of Object.entries(queues)) {
    const whole = await read(`${path}&limit=100`);
    assert.equal(whole.next_cursor, null, path);
    assert.ok(whole[name].length > 0, path);
    const walked: object[] = [];
    let cursor = "";
    do {
      const page = await read(`${path}&limit=1${cursor}`);
      walked.push(...page[name]);
      cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
    } while (cursor !== "" && walked.length <= whole[name].length);
    assert.deepEqual(walked, whole[name], path);
  }
});

test("the settlement queue begins with what is most overdue and says whose move it waits for", async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const environment = "live";
  const seller = await openTestDesk(service, environment);
  const buyer = await openTestDesk(service, environment);
  const deal = async () => {
    const legs = [{ seller, scripNo: await addCredit(service, seller) }];
    return await makeDeal(service, { environment, buyer, legs });
  };
  const first = await deal();
  service.clock.advance({ seconds: 3 * 86_400 });
  const second = await deal();
  const headers = asBearer((await asha.signIn()).token);
  const read = async (path: string) => (await ops.send("GET", path, { headers, expect: 200 })).body;
  const { settlements } = await read("/ops/settlements/queue?environment=live");
  const told = settlements.map((row: Record<string, unknown>) => [
    row["settlement_id"],
    row["waiting_on"],
    row["late"],
  ]);
  assert.deepEqual(told, [
    [first, "buyer", true],
    [second, "buyer", false],
  ]);
  const { bands } = await read("/ops/settlements/by-age?environment=live");
  const [{ face_paise: face }] = settlements;
  assert.deepEqual(bands, [
    { from_days: 0, before_days: 1, count: 1, face_paise: face },
    { from_days: 1, before_days: 3, count: 0, face_paise: 0 },
    { from_days: 3, before_days: 7, count: 1, face_paise: face },
    { from_days: 7, before_days: null, count: 0, face_paise: 0 },
  ]);
});
