// Heavy requests beside small ones. Nothing here is timed: who is answered before whom, and what is
// left to do once a caller has gone, says enough.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";

import { request } from "undici";

import { openThreads } from "../../src/open-context.ts";
import { Overloaded } from "../../src/platform/coalesce.ts";
import { type Heavy, onThisThread } from "../../src/platform/heavy/kinds.ts";
import type { HeavyPool } from "../../src/platform/heavy/pool.ts";
import { stockHouse } from "../support/inventory.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const looksMax = 1_000;

/** Looks again and again, for a bounded while. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (holds()) return;
    await sleep(20);
  }
  assert.fail(`${what} did not come`);
}

const jobsOf = (pool: HeavyPool) =>
  pool.running("sandbox") + pool.waiting("sandbox") + pool.running("live") + pool.waiting("live");

async function openGroup(service: Service, environment: "live" | "sandbox") {
  const { api_key: key, firm_id: deskId } = await service.issue({ environment });
  const made = await service.send("POST", "/v1/groups", { key, body: { name: "G" }, expect: 201 });
  return { key, deskId, path: `/v1/groups/${made.body.group_id}` };
}

/** Faces without a common unit, and many duties that none of them meets: seconds of searching. */
async function openLargeGroup(service: Service) {
  const group = await openGroup(service, "sandbox");
  const { key, deskId } = group;
  const firmId = await addFirm(service, { deskId });
  await service.send("PUT", `${group.path}/members/${firmId}`, { key, expect: 200 });
  const credits = Array.from({ length: 600 }, (_, at) => ({
    firmId,
    scheme: "RODTEP" as const,
    facePaise: 1_000_003 + 7_919 * at,
    expiresOn: "2028-09-30",
    state: "listed",
  }));
  await addCredits(service, deskId, credits);
  for (let duty = 0; duty < 60; duty++) {
    const body = {
      scheme: "RODTEP",
      amount_paise: 20_000_011 + 977 * duty,
      due_on: "2027-01-31",
      reference: `BE-${duty}`,
    };
    await service.send("POST", `/v1/firms/${firmId}/requirements`, { key, body, expect: 201 });
  }
  return group;
}

test("nettings of the sandbox do not hold up live, and end when their callers go", async (t) => {
  const heavy = openThreads(2);
  t.after(() => heavy.close());
  const service = await startService(t, { heavy });
  const large = await openLargeGroup(service);
  const small = await openGroup(service, "live");
  const gone = new AbortController();
  const answered: string[] = [];
  const netting = (at: number) =>
    request(`${service.url}${large.path}/netting`, {
      headers: { "x-service-key": large.key },
      signal: gone.signal,
    }).then(
      () => answered.push(`sandbox ${at}`),
      () => {},
    );
  const abandoned = Array.from({ length: 4 }, (_, at) => netting(at));
  await until("a netting of the sandbox", () => heavy.running("sandbox") > 0);
  await service.send("GET", `${small.path}/netting`, { key: small.key, expect: 200 });
  answered.push("live");
  assert.deepEqual(answered, ["live"]);
  gone.abort();
  await Promise.all(abandoned);
  await until("an end of work that nobody waits for", () => jobsOf(heavy) === 0);
});

test("papers are drawn by the threads, for the desk that asks", async (t) => {
  const asked: unknown[] = [];
  const heavy: Heavy = {
    run: async (kind, input, options) => {
      asked.push([kind.name, options.by.environment, options.by.deskId]);
      return await onThisThread.run(kind, input, options);
    },
  };
  const service = await startService(t, { heavy });
  const { api_key: key, firm_id: deskId } = await service.issue();
  const answer = await service.send("GET", "/v1/statements/2026-11?format=pdf", { key });
  assert.equal(answer.status, 200);
  assert.deepEqual(asked, [["statement pdf", "sandbox", deskId]]);
});

/** Does all work here, and notes what was asked for. */
function noting(): { readonly heavy: Heavy; readonly asked: string[] } {
  const asked: string[] = [];
  const run: Heavy["run"] = async (kind, input, options) => {
    asked.push(kind.name);
    return await onThisThread.run(kind, input, options);
  };
  return { heavy: { run }, asked };
}

/** No two sums of these meet, so that no search can be sure of its answer. */
const oddFaces = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ face_paise: 1_000_003 + 7_919 * at }));

test("many buys on odd faces are searched for by a thread, and each is answered", async (t) => {
  const { heavy, asked } = noting();
  const service = await startService(t, { heavy });
  await stockHouse(service.ctx, oddFaces(300));
  const { api_key: key } = await service.issue();
  const orders = Array.from({ length: 60 }, (_, at) => ({
    side: "buy",
    scheme: "RODTEP",
    requirement_paise: 8_000_011 + 977 * at,
  }));
  for (const dryRun of ["1", "0"]) {
    asked.length = 0;
    const { body } = await service.send("POST", "/v1/orders:batch", {
      key,
      body: { orders },
      headers: { "x-dry-run": dryRun },
      expect: 200,
    });
    assert.deepEqual([body.submitted, body.failed], [60, 0]);
    const bought = body.results.flatMap(
      ({ order }: { order: { scrip_nos: string[] } }) => order.scrip_nos,
    );
    assert.equal(new Set(bought).size, bought.length, "no credit is sold twice");
    assert.deepEqual(asked, ["cover"]);
  }
});

test("a buy quote on odd faces is searched for by a thread, and says what was proved", async (t) => {
  const { heavy, asked } = noting();
  const service = await startService(t, { heavy });
  const [whole] = await stockHouse(service.ctx, [{ face_paise: 500_000_000 }]);
  const { api_key: key } = await service.issue();
  const quote = async (requirement_paise: number) => {
    const body = { side: "buy", scheme: "RODTEP", requirement_paise };
    return await service.send("POST", "/v1/quote", { key, body, expect: 200 });
  };
  const simple = await quote(500_000_000);
  assert.deepEqual(simple.body.scrip_nos, [whole?.scrip_no]);
  assert.equal(simple.headers.get("x-cover-residual"), "optimal");
  assert.deepEqual(asked, []);
  await stockHouse(service.ctx, oddFaces(300));
  const odd = await quote(80_000_011);
  assert.equal(odd.headers.get("x-cover-residual"), "bounded");
  assert.ok(odd.body.covered_paise > 0 && odd.body.covered_paise <= 80_000_011);
  assert.deepEqual(asked, ["cover"]);
});

test("cover that no thread can be had for is searched for quickly, and nobody is refused", async (t) => {
  const heavy: Heavy = { run: () => Promise.reject(new Overloaded()) };
  const service = await startService(t, { heavy });
  await stockHouse(service.ctx, oddFaces(300));
  const { api_key: key } = await service.issue();
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 80_000_011 };
  const quoted = await service.send("POST", "/v1/quote", { key, body: wanted, expect: 200 });
  assert.ok(quoted.body.covered_paise > 0);
  const placed = await service.send("POST", "/v1/orders", { key, body: wanted, expect: 201 });
  assert.ok(placed.body.covered_paise > 0);
});

test("a search that breaks down fails nobody, least of all a batch that was placed in part", async (t) => {
  const heavy: Heavy = { run: () => Promise.reject(new Error("the thread broke down")) };
  const service = await startService(t, { heavy });
  await stockHouse(service.ctx, oddFaces(300));
  const { post, scripNo } = await dealer(service);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 80_000_011 };
  const orders = [{ side: "sell", scrip_no: scripNo }, wanted];
  const { body } = await post("/v1/orders:batch", { orders }, 200);
  assert.deepEqual([body.submitted, body.failed], [2, 0]);
  assert.ok(body.results[1].order.covered_paise > 0);
  await post("/v1/quote", wanted, 200);
});
