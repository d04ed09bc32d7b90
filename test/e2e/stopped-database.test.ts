// A database that stops answering. Nothing here is timed: who was answered while it stood still, and
// what is found once it goes on, says enough.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { dataDirectory, demoKeyIn, postgresPid, serve } from "../support/process.ts";
import type { Answer, RequestOptions } from "../support/service.ts";
import { stopPostgres } from "../support/stopped-postgres.ts";

const looksMax = 3_000;
const lookPauseMs = 20;
/** Far beyond any deadline of the service; it only ends a test that would hang. */
const guardMs = 30_000;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (await holds()) return;
    await sleep(lookPauseMs);
  }
  assert.fail(`${what} did not come`);
}

/** What is asked for; nothing when there is no answer before the guard. */
async function awaitAnswers(asked: readonly Promise<Answer>[]): Promise<Answer[]> {
  const guard = sleep(guardMs, undefined, { ref: false });
  const answered = await Promise.all(asked.map((one) => Promise.race([one, guard])));
  return answered.map((one, at) => one ?? assert.fail(`request ${at} was not answered`));
}

/** The database's owner, beside the service. */
async function connectOwner(t: TestContext, dataDir: string): Promise<pg.Client> {
  const server = await openEmbedded({ dataDir, as: "visitor", create: false });
  const owner = new pg.Client(server.connection);
  owner.on("error", () => {});
  await owner.connect();
  t.after(async () => {
    await owner.end();
    await server.leave();
  });
  return owner;
}

/** A commit that keeps an order takes long enough to be interrupted. */
const slowCommits = `
  create function sleep_at_commit() returns trigger language plpgsql as
    'begin perform pg_sleep(4); return null; end';
  create constraint trigger slow_commit after insert on orders deferrable initially deferred
    for each row execute function sleep_at_commit();
  grant execute on function sleep_at_commit to public`;

test("while PostgreSQL is stopped every call is answered, and afterwards nothing is lost or duplicated", async (t) => {
  const dataDir = await dataDirectory(t, { isMigrated: true });
  const { send, output } = await serve(t, { DATA_DIR: dataDir, LOG_LEVEL: "silent" });
  await until("the introduction", async () => output.stdout.includes("API reference"));
  const key = demoKeyIn(output.stdout) ?? "";
  const owner = await connectOwner(t, dataDir);
  await owner.query(slowCommits);
  const { rows: listed } = await owner.query<{ scrip_no: string }>(
    `select scrip_no
    from credits
    join api_keys on api_keys.desk_id = credits.desk_id
    where credits.state = 'listed'
    order by scrip_no`,
  );
  const scripNos = listed.map(({ scrip_no }) => scrip_no);
  const sell = (at: number) => ({ side: "sell", scrip_no: scripNos[at] });
  const order = (at: number): RequestOptions => ({
    key,
    body: sell(at),
    headers: { "idempotency-key": `order-${at}` },
  });
  const batch = (from: number): RequestOptions => ({
    key,
    body: { orders: [sell(from), sell(from + 1)] },
    headers: { "idempotency-key": `batch-${from}` },
  });
  const askAll = () => [
    send("GET", "/v1/whoami", { key }),
    send("GET", "/v1/orders", { key }),
    send("GET", "/public/rates"),
    send("POST", "/v1/orders", order(2)),
    send("POST", "/v1/orders:batch", batch(4)),
    send("POST", "/v1/quote", { key, body: sell(6) }),
    send("POST", "/v1/quote", {
      key,
      body: { side: "buy", scheme: "RODTEP", requirement_paise: 200_000_000 },
    }),
  ];

  const committing = send("POST", "/v1/orders", order(0));
  await until("a commit under way", async () => {
    const { rows } = await owner.query(
      "select from pg_stat_activity where wait_event = 'PgSleep' and query = 'commit'",
    );
    return rows.length > 0;
  });
  // Admitted, and behind the one that is being committed.
  const waiting = send("POST", "/v1/orders", order(1));
  await until("its admission", async () => {
    const { rows } = await owner.query<{ calls: number }>(
      "select sum(calls)::int as calls from usage_months",
    );
    return rows[0]?.calls === 2;
  });
  await sleep(lookPauseMs);
  const letGo = await stopPostgres((await postgresPid(dataDir)) ?? 0);
  try {
    const first = await awaitAnswers([committing, waiting, ...askAll()]);
    const ready = await send("GET", "/readyz");
    const second = await awaitAnswers(askAll());
    assert.deepEqual([ready.status, ready.body.reason], [503, "the database does not answer"]);
    for (const [at, answer] of [...first, ...second].entries()) {
      assert.equal(answer.status, 500, `${at}: ${answer.text}`);
      const slug = at < 2 ? "internal" : "internal_error";
      assert.deepEqual(Object.keys(answer.body), ["error", "message", "request_id"]);
      assert.equal(answer.body.error, slug);
      assert.equal(answer.headers.get("retry-after"), null);
    }
  } finally {
    letGo();
  }

  await until("readiness", async () => (await send("GET", "/readyz")).status === 200);
  await owner.query("drop trigger slow_commit on orders");
  const found = await send("POST", "/v1/orders", order(0));
  assert.deepEqual([found.status, found.headers.get("idempotent-replayed")], [200, "true"]);
  for (const at of [1, 2]) {
    const placed = await send("POST", "/v1/orders", { ...order(at), expect: 201 });
    const again = await send("POST", "/v1/orders", { ...order(at), expect: 200 });
    assert.equal(again.body.order_id, placed.body.order_id);
  }
  const placed = await send("POST", "/v1/orders:batch", { ...batch(4), expect: 200 });
  assert.deepEqual([placed.body.submitted, placed.body.failed], [2, 0]);
  const { body } = await send("GET", "/v1/orders", { key, expect: 200 });
  const sold = body.orders.flatMap(({ scrip_nos }: { scrip_nos: string[] }) => scrip_nos);
  assert.equal(sold.length, 5);
  assert.deepEqual(new Set(sold), new Set([0, 1, 2, 4, 5].map((at) => scripNos[at])));
  // The workers have gone on, too: they bring what was dealt to its end.
  await until("a settlement", async () => {
    const { body: found } = await send("GET", "/v1/settlements", { key, expect: 200 });
    return found.settlements.some(({ status }: { status: string }) => status === "settled");
  });
});
