import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";

import { pino } from "pino";

import { testDatabase } from "../../test/support/database.ts";
import { sql } from "./postgres/postgres.ts";
import { startWorker, watchWrites, type Writes } from "./worker.ts";

const never = 3_600_000;

/** A worker whose every run the test sees and answers. */
function workshop(pauseMs: number, writes?: Writes) {
  const runs = new EventEmitter();
  const lines: { msg: string; worker: string }[] = [];
  const ends: string[] = [];
  let count = 0;
  let answer: () => Promise<"more" | "idle"> = async () => "idle";
  const worker = startWorker({
    name: "test",
    pauseMs,
    writes,
    work: async () => {
      count += 1;
      runs.emit("run");
      return await answer();
    },
    onRun: (ended) => ends.push(ended),
    log: pino({ level: "error" }, { write: (line) => lines.push(JSON.parse(line)) }),
  });
  return {
    ...worker,
    lines,
    count: () => count,
    ends,
    answers: (next: typeof answer) => (answer = next),
    nextRun: () => once(runs, "run"),
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("a worker runs at once, and pauses when there is nothing to do", async () => {
  const worker = workshop(never);
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(worker.count(), 1);
  await worker.stop();
});

test("a worker does not pause while there is more to do", async () => {
  const worker = workshop(never);
  worker.answers(async () => {
    await turn();
    return worker.count() < 50 ? "more" : "idle";
  });
  worker.wake();
  while (worker.count() < 50) await turn();
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(worker.count(), 50);
  await worker.stop();
});

test("a worker runs again after its pause", async () => {
  const worker = workshop(1);
  const alive = setInterval(() => {}, 1_000);
  await worker.nextRun();
  await worker.nextRun();
  clearInterval(alive);
  await worker.stop();
});

test("waking a worker ends its pause, every time", async () => {
  const worker = workshop(never);
  await turn();
  for (let wakes = 1; wakes <= 3; wakes++) {
    const run = worker.nextRun();
    worker.wake();
    await run;
    await turn();
    assert.equal(worker.count(), 1 + wakes);
  }
  await worker.stop();
});

test("waking a worker during a run causes another run", async () => {
  const worker = workshop(never);
  await turn();
  const gate = Promise.withResolvers<"idle">();
  worker.answers(() => gate.promise);
  const second = worker.nextRun();
  worker.wake();
  await second;
  worker.wake();
  const third = worker.nextRun();
  gate.resolve("idle");
  await third;
  assert.equal(worker.count(), 3);
  await worker.stop();
});

test("a fault is logged with the worker's name, counted, and does not stop the worker", async () => {
  const worker = workshop(never);
  await turn();
  worker.answers(() => Promise.reject(new Error("the database is away")));
  const failed = worker.nextRun();
  worker.wake();
  await failed;
  await turn();
  worker.answers(async () => "idle");
  const next = worker.nextRun();
  worker.wake();
  await next;
  assert.deepEqual(
    worker.lines.map(({ msg, worker: name }) => [msg, name]),
    [["worker failed", "test"]],
  );
  assert.deepEqual(worker.ends, ["done", "failed"]);
  await worker.stop();
});

test("a worker pauses after a fault", async () => {
  const worker = workshop(never);
  worker.answers(() => Promise.reject(new Error("again")));
  worker.wake();
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.ok(worker.count() <= 2, "one run at the start and one for the wake");
  await worker.stop();
});

test("stopping a worker lets the current run end and starts no other", async () => {
  const worker = workshop(never);
  await turn();
  const gate = Promise.withResolvers<"more">();
  worker.answers(() => gate.promise);
  const running = worker.nextRun();
  worker.wake();
  await running;
  let stopped = false;
  const stopping = worker.stop().then(() => (stopped = true));
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.equal(stopped, false);
  gate.resolve("more");
  await stopping;
  assert.equal(worker.count(), 2);
  await worker.stop();
});

/** Writes that the test tells of. */
function toldWrites() {
  const told = new EventEmitter();
  const writes: Writes = {
    quietMs: () => never,
    onWrite(listener) {
      told.on("write", listener);
      return () => void told.off("write", listener);
    },
  };
  return { writes, tell: () => void told.emit("write") };
}

test("a write ends the pause that has grown while nobody wrote", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { writes, tell } = toldWrites();
  const worker = workshop(1, writes);
  await turn();
  t.mock.timers.tick(9_999);
  await turn();
  assert.equal(worker.count(), 1, "it has grown to ten seconds");
  tell();
  t.mock.timers.tick(1);
  await turn();
  assert.equal(worker.count(), 2);
  t.mock.timers.tick(10_000);
  await turn();
  assert.equal(worker.count(), 3, "and no further");
  await worker.stop();
});

test("a transaction that wrote is seen by whoever watches writes", async (t) => {
  const { db } = await testDatabase(t);
  const writes = watchWrites({ db, log: pino({ level: "silent" }) });
  const alive = setInterval(() => {}, 1_000);
  for (let write = 0; write < 3; write++) {
    const seen = new Promise<void>((resolve) => writes.onWrite(resolve));
    await db.rows(sql`update ledger_proof set proved_to = proved_to`);
    await seen;
  }
  clearInterval(alive);
  await writes.stop();
});
