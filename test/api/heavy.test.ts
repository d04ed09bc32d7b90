// Heavy requests beside small ones. Nothing here is timed: who is answered before whom, and what is
// left to do once a caller has gone, says enough.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";

import { request } from "undici";

import { OfferIndex } from "../../src/cover/offer-index.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { operator } from "../../src/kernel/actor.ts";
import { openThreads } from "../../src/open-context.ts";
import { Overloaded } from "../../src/platform/postgres/coalesce.ts";
import {
  type Heavy,
  type HeavyOptions,
  NobodyWaits,
  onThisThread,
} from "../../src/platform/heavy/kinds.ts";
import type { HeavyPool } from "../../src/platform/heavy/pool.ts";
import { stockHouse } from "../support/inventory.ts";
import { addFirm } from "../support/holdings.ts";
import { openGroup, openLargeGroup } from "../support/large-group.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";
import { openBookSessions } from "../../src/trading/book-session.ts";

const looksMax = 1_000;

/** Looks again and again, for a bounded while. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (holds()) return;
    await sleep(20);
  }
  assert.fail(`${what} did not come`);
}

const countJobs = (pool: HeavyPool) =>
  pool.running("sandbox") + pool.waiting("sandbox") + pool.running("live") + pool.waiting("live");

test("sandbox nettings do not delay live ones, and stop when their callers disconnect", async (t) => {
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
  await until("an end of work that nobody waits for", () => countJobs(heavy) === 0);
});

test("large bodies of the sandbox do not delay one of live", async (t) => {
  const service = await startService(t);
  const [flooder, honest] = [await service.issue(), await service.issue({ environment: "live" })];
  const body = `[${"1.5,".repeat(200_000)}1.5]`;
  const answered: string[] = [];
  const post = async (name: string, key: string) => {
    await service.send("POST", "/v1/orders:batch", { key, body, expect: 400 });
    answered.push(name);
  };
  const flood = Array.from({ length: 24 }, () => post("sandbox", flooder.api_key));
  await until("an answer of the sandbox", () => answered.length > 0);
  await post("live", honest.api_key);
  assert.ok(answered.length < 20, `${answered.length - 1} bodies of the sandbox came before it`);
  await Promise.all(flood);
});

test("PDFs are drawn in threads, queued by desk", async (t) => {
  const asked: unknown[] = [];
  const heavy: Heavy = {
    ...onThisThread,
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
  return { heavy: { ...onThisThread, run }, asked };
}

/** No two sums of these meet, so that no search can be sure of its answer. */
const oddFaces = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ face_paise: 1_000_003 + 7_919 * at }));

test("concurrent buys on odd faces are searched in a thread, and each is answered", async (t) => {
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

test("a buy quote on odd faces is searched in a thread, and reports its proof", async (t) => {
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

test("without a free thread cover is searched in process with few steps, and no call is refused", async (t) => {
  const heavy: Heavy = { ...onThisThread, run: () => Promise.reject(new Overloaded()) };
  const service = await startService(t, { heavy });
  await stockHouse(service.ctx, oddFaces(300));
  const { api_key: key } = await service.issue();
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 80_000_011 };
  const quoted = await service.send("POST", "/v1/quote", { key, body: wanted, expect: 200 });
  assert.ok(quoted.body.covered_paise > 0);
  const placed = await service.send("POST", "/v1/orders", { key, body: wanted, expect: 201 });
  assert.ok(placed.body.covered_paise > 0);
});

test("a search that crashes fails no order, and no batch that was partly placed", async (t) => {
  const run = () => Promise.reject(new Error("the thread broke down"));
  const heavy: Heavy = { ...onThisThread, run };
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

/** A search that takes until its caller goes. */
function neverFinding() {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const run: Heavy["run"] = (_kind, _input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => {
        reject(new NobodyWaits());
        stopped.resolve();
      });
      begun.resolve();
      if (!signal) stopped.reject(new Error("the search is not told that its caller goes"));
    });
  return { heavy: { ...onThisThread, run }, begun: begun.promise, stopped: stopped.promise };
}

for (const [what, path, body] of [
  ["a quote", "/v1/quote", (wanted: object) => wanted],
  ["an order", "/v1/orders", (wanted: object) => wanted],
  ["a batch", "/v1/orders:batch", (wanted: object) => ({ orders: [wanted, wanted] })],
] as const) {
  test(`the search for ${what} stops when its caller disconnects, and stores nothing`, async (t) => {
    const { heavy, begun, stopped } = neverFinding();
    const service = await startService(t, { heavy });
    await stockHouse(service.ctx, oddFaces(300));
    const { api_key: key } = await service.issue();
    const leaving = new AbortController();
    const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 80_000_011 };
    const answered = request(`${service.url}${path}`, {
      method: "POST",
      headers: { "x-service-key": key, "content-type": "application/json" },
      body: JSON.stringify(body(wanted)),
      signal: leaving.signal,
    });
    await begun;
    leaving.abort();
    await assert.rejects(answered);
    await stopped;
    const { body: listed } = await service.send("GET", "/v1/orders", { key, expect: 200 });
    assert.deepEqual(listed.orders, []);
    const { rows } = await service.ctx.db.pool.query("select from quotes");
    assert.deepEqual(rows, []);
  });
}

const buildReport = (rows: number) =>
  [
    "scrip_no,scheme,balance,issued_on,expires_on",
    ...Array.from({ length: rows }, (_, at) => `S${100_000 + at}A,RODTEP,1,2026-10-01,2028-09-30`),
  ].join("\n");

/** Pauses wherever there is a place to, and tells of the first pause. */
function pausing(pool: HeavyPool, atPause: (options: HeavyOptions) => Promise<void>) {
  const pauses: string[] = [];
  const heavy: Heavy = {
    ...onThisThread,
    inPieces: async (name, work, options) =>
      await pool.inPieces(
        name,
        async (pace) =>
          await work({
            isOver: () => true,
            turn: async () => {
              pauses.push(name);
              if (pauses.length === 1) await atPause(options);
              await pace.turn();
            },
          }),
        options,
      ),
  };
  return { heavy, pauses };
}

test("an import yields to other requests after every row", async (t) => {
  const pool = openThreads(1);
  t.after(() => pool.close());
  let served: number | undefined;
  const { heavy, pauses } = pausing(pool, async () => {
    served = (await service.send("GET", "/v1/whoami", { key: other.api_key })).status;
  });
  const service = await startService(t, { heavy });
  const other = await service.issue({ environment: "live" });
  const { api_key: key, firm_id: deskId } = await service.issue();
  const firmId = await addFirm(service, { deskId });
  const { body } = await service.send("POST", `/v1/firms/${firmId}/credits:import`, {
    key,
    body: { csv: buildReport(1_200) },
    expect: 200,
  });
  assert.equal(served, 200);
  assert.deepEqual([body.accepted, body.failed, body.skipped], [1_200, 0, 0]);
  assert.deepEqual(body.results.at(-1).row, 1_201);
  // Read, judged, answered and written one by one.
  assert.ok(pauses.length > 4 * 1_200, `${pauses.length} pauses`);
  const kept = await service.send("GET", `/v1/firms/${firmId}/credits?limit=1`, { key });
  assert.equal(kept.body.total, 1_200);
});

test("an import whose caller disconnects stores nothing and frees its place", async (t) => {
  const pool = openThreads(1);
  t.after(() => pool.close());
  const gone = new AbortController();
  const { heavy } = pausing(pool, async ({ signal }) => {
    const left = Promise.withResolvers<void>();
    signal?.addEventListener("abort", () => left.resolve());
    gone.abort();
    await left.promise;
  });
  const service = await startService(t, { heavy });
  const { api_key: key, firm_id: deskId } = await service.issue();
  const firmId = await addFirm(service, { deskId });
  const path = `/v1/firms/${firmId}/credits`;
  await assert.rejects(
    request(`${service.url}${path}:import`, {
      method: "POST",
      headers: { "x-service-key": key, "content-type": "application/json" },
      body: JSON.stringify({ csv: buildReport(1_200) }),
      signal: gone.signal,
    }),
  );
  await until("an end of the import", () => countJobs(pool) === 0);
  const { body } = await service.send("GET", `${path}?limit=1`, { key, expect: 200 });
  assert.equal(body.total, 0);
});

test("a long statement is read and written with pauses, as JSON and as CSV", async (t) => {
  const pool = openThreads(1);
  t.after(() => pool.close());
  const { heavy, pauses } = pausing(pool, async () => {});
  const service = await startService(t, { heavy });
  const { api_key: key, firm_id: firmId } = await service.issue();
  for (let at = 0; at < 40; at++) {
    const reference = `PAUSE${String(at).padStart(17, "0")}`;
    const deposit = { environment: "sandbox", firmId, paise: 100 + at, reference } as const;
    await addDeposit(service.ctx, operator, deposit);
  }
  const path = "/v1/statements/2026-11";
  const { body } = await service.send("GET", path, { key, expect: 200 });
  assert.deepEqual([body.lines.length, body.line_count], [40, 40]);
  const paises = body.lines.map(({ amount_paise }: { amount_paise: number }) => amount_paise);
  assert.equal(
    paises.reduce((sum: number, paise: number) => sum + paise, body.opening_paise),
    body.closing_paise,
  );
  assert.ok(pauses.filter((name) => name === "statement").length >= 80);
  assert.ok(pauses.filter((name) => name === "statement text").length >= 40);
  const csv = await fetch(`${service.url}${path}?format=csv`, {
    headers: { "x-service-key": key },
  });
  assert.equal((await csv.text()).trim().split("\r\n").length, 43);
  service.clock.advance({ days: 40 });
  await service.work();
  pauses.length = 0;
  const kept = await service.send("GET", path, { key, expect: 200 });
  assert.equal(kept.body.status, "final");
  assert.deepEqual(kept.body.lines, body.lines);
  assert.ok(pauses.filter((name) => name === "statement").length >= 40, "one after every line");
});

test("an offer that a refresh restores while a batch is paused is not sold twice", async () => {
  const index = new OfferIndex();
  const offer = {
    scrip_no: "S1",
    face_paise: 100_000,
    expires_on: 30_000,
    limit_bps: 0,
    seller: "AAAAA0000A",
    order_id: null,
  };
  index.load([offer], 1);
  const offers = { RODTEP: index, ROSCTL: new OfferIndex() };
  const books = openBookSessions({ look: async () => offers, setAside: () => {} });
  const session = books.session("sandbox", new Set());
  await session.refresh();
  const wanted = {
    scheme: "RODTEP",
    requirementPaise: 100_000,
    plan: null,
    tiers: [
      {
        least_paise: 1,
        most_paise: 100_000,
        price_max_bps: 10_000,
        price_min_bps: 0,
        dealt_at: { price_bps: 10_000 },
      },
    ],
    pan: null,
    expiresFrom: "2026-11-16",
  } as unknown as Parameters<typeof session.choose>[0];
  const chosen = session.choose(wanted);
  assert.ok(chosen && "offers" in chosen && chosen.offers.length === 1);
  session.take("RODTEP", chosen.offers);
  index.put(offer); // As the database still has it.
  assert.equal(session.choose(wanted), undefined);
  session.undo();
  assert.equal(index.size, 1);
});
