import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import * as jobs from "../../../test/support/heavy-jobs.ts";
import { Failure } from "../../kernel/failure.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { type HeavyPool, type HeavyPoolOptions, openHeavyPool } from "./pool.ts";

const module = new URL("../../../test/support/heavy-jobs.ts", import.meta.url);
const live = { by: { environment: "live", deskId: "one" } } as const;
const sandbox = { by: { environment: "sandbox", deskId: "two" } } as const;

function open(t: TestContext, options: Partial<HeavyPoolOptions> = {}): HeavyPool {
  const pool = openHeavyPool({ module, threads: 2, ...options });
  t.after(() => pool.close());
  return pool;
}

const shared = () => new Int32Array(new SharedArrayBuffer(4));

/** Without blocking this thread. */
async function raised(flag: Int32Array): Promise<void> {
  const { value } = Atomics.waitAsync(flag, 0, 0);
  await value;
}

function openGate(gate: Int32Array): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

test("work runs in a thread, and its Failure arrives as a Failure", async (t) => {
  const pool = open(t);
  assert.equal(await pool.run(jobs.echo, "yes", live), "yes");
  await assert.rejects(pool.run(jobs.refuse, "because", live), (error) => {
    assert.ok(error instanceof Failure);
    assert.deepEqual([error.code, error.detail], ["conflict", { reason: "because" }]);
    return true;
  });
  await assert.rejects(pool.run(jobs.breakDown, undefined, live), /a bug/);
  await assert.rejects(pool.run(jobs.echo, (() => {}) as unknown as string, live), /cloned/);
  assert.equal(await pool.run(jobs.echo, "still", live), "still");
});

test("live jobs are served while the sandbox is overloaded", async (t) => {
  const pool = open(t, { perDeskMax: 4 });
  const gate = shared();
  const held = Array.from({ length: 5 }, () => pool.run(jobs.wait, gate, sandbox));
  const ended = Promise.all(held);
  assert.deepEqual([pool.running("sandbox"), pool.waiting("sandbox")], [1, 4]);
  await assert.rejects(pool.run(jobs.echo, "more", sandbox), Overloaded);
  const other = { by: { environment: "sandbox", deskId: "three" } } as const;
  const answers: string[] = [];
  const late = pool.run(jobs.echo, "sandbox", other).then((word) => answers.push(word));
  for (let at = 0; at < 20; at++) answers.push(await pool.run(jobs.echo, "live", live));
  assert.deepEqual(answers, Array<string>(20).fill("live"));
  openGate(gate);
  await late;
  assert.deepEqual(await ended, Array<string>(5).fill("opened"));
});

for (const [what, kind, limits] of [
  ["overruns its memory", jobs.eat, { memoryMb: 16 }],
  ["ends its thread", jobs.die, {}],
] as const) {
  test(`a job that ${what} fails alone`, async (t) => {
    const pool = open(t, { threads: 1, ...limits });
    const outcomes = await Promise.allSettled([
      pool.run(jobs.echo, "before", live),
      pool.run(kind, undefined, live),
      pool.run(jobs.echo, "after", live),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
  });
}

test("a job that overruns its time fails alone", async (t) => {
  const pool = open(t, { threads: 1, timeMs: 400 });
  const spun = pool.run(jobs.spin, shared(), live);
  await assert.rejects(spun, /took longer than 400 ms/);
  assert.deepEqual([pool.running("live"), pool.waiting("live")], [0, 0]);
});

test("a job of a kind with a time of its own is ended past it, and its caller is refused", async (t) => {
  const pool = open(t, { threads: 1 });
  const outcomes: string[] = [];
  pool.onEnded(({ kind, outcome }) => outcomes.push(`${kind} ${outcome}`));
  await assert.rejects(pool.run(jobs.spinBriefly, shared(), live), (error) => {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "unprocessable");
    return true;
  });
  assert.equal(await pool.run(jobs.echo, "after", live), "after");
  assert.deepEqual(outcomes, ["spin briefly refused", "echo done"]);
});

test("a job whose caller disconnects leaves the queue", async (t) => {
  const pool = open(t, { threads: 1 });
  const gate = shared();
  const held = pool.run(jobs.wait, gate, live);
  const gone = new AbortController();
  const left = pool.run(jobs.echo, "left", { ...live, signal: gone.signal });
  const kept = pool.run(jobs.echo, "kept", live);
  gone.abort();
  await assert.rejects(left, Overloaded);
  assert.equal(pool.waiting("live"), 1);
  openGate(gate);
  assert.deepEqual(await Promise.all([held, kept]), ["opened", "kept"]);
  await assert.rejects(pool.run(jobs.echo, "late", { ...live, signal: gone.signal }), Overloaded);
});

for (const [how, kind] of [
  ["stops when it is asked to", jobs.stopWhenAsked],
  ["does not listen", jobs.spin],
] as const) {
  test(`a running job whose caller disconnects frees its thread if it ${how}`, async (t) => {
    const pool = open(t, { threads: 1, stopMs: 50 });
    const ended: string[] = [];
    pool.onEnded(({ outcome }) => ended.push(outcome));
    const begun = shared();
    const gone = new AbortController();
    const running = pool.run(kind, begun, { ...live, signal: gone.signal });
    const rejected = assert.rejects(running);
    await raised(begun);
    gone.abort();
    await rejected;
    assert.equal(await pool.run(jobs.echo, "next", live), "next");
    assert.deepEqual(ended, ["abandoned", "done"]);
  });
}

test("a job that waits when the pool closes is answered with a retryable error", async (t) => {
  const pool = open(t, { threads: 1 });
  const gate = shared();
  const asked = [pool.run(jobs.wait, gate, live), pool.run(jobs.echo, "waits", live)];
  const refused = Promise.all(asked.map((one) => assert.rejects(one, Overloaded)));
  await pool.close();
  await refused;
  await assert.rejects(pool.run(jobs.echo, "late", live), Overloaded);
});
