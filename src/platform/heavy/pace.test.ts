import assert from "node:assert/strict";
import { test } from "node:test";

import { Overloaded } from "../postgres/coalesce.ts";
import { mapPaced, noPace, openLanes, openPace, runPaced, takePiece, takeTurns } from "./pace.ts";

/** Longer than a piece may be. */
function busy(): void {
  const endMs = performance.now() + 7;
  while (performance.now() < endMs);
}

async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    if (isDone) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

const items = Array.from({ length: 10 }, (_, at) => at);

test("other work runs after every piece, and results keep their order", async () => {
  const turns = await turnsDuring(async () => {
    const results = await mapPaced(items, (item) => (busy(), 2 * item), openPace());
    assert.deepEqual(
      results,
      items.map((item) => 2 * item),
    );
  });
  assert.ok(turns >= items.length, `${turns} turns`);
  const work = function* () {
    for (const _ of items) yield busy();
    return "done";
  };
  const turnsOfRun = await turnsDuring(async () => {
    assert.equal(await runPaced(work(), openPace()), "done");
  });
  assert.ok(turnsOfRun >= items.length, `${turnsOfRun} turns`);
  assert.equal(await turnsDuring(() => mapPaced(items, busy, noPace)), 0);
});

test("after a large body, a call of several turns ends before the next body", async () => {
  const order: string[] = [];
  const parse = async (name: string) => {
    await takePiece("bodies");
    const endMs = performance.now() + 20;
    while (performance.now() < endMs);
    order.push(name);
  };
  const answer = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    order.push("small call");
  };
  await Promise.all([parse("first"), parse("second"), answer()]);
  assert.deepEqual(order, ["first", "small call", "second"]);
});

test("aborted work ends at its next turn", async () => {
  let done = 0;
  const pace = openPace({
    mayGoOn: () => {
      if (done >= 3) throw new Error("nobody waits");
    },
  });
  await assert.rejects(
    mapPaced(items, () => (busy(), (done += 1)), pace),
    /nobody waits/,
  );
  assert.equal(done, 3);
});

test("one turn of the event loop runs one piece of each queue, in order of arrival", async () => {
  const begun: string[] = [];
  const begin = (queue: "few" | "many", at: number) =>
    takePiece(queue).then(() => begun.push(`${queue} ${at}`));
  const all = [0, 1, 2].flatMap((at) => [begin("many", at), begin("few", at)]);
  for (const turn of [1, 2, 3]) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(begun.length, 2 * turn);
  }
  await Promise.all(all);
  assert.deepEqual(begun, ["many 0", "few 0", "many 1", "few 1", "many 2", "few 2"]);
});

test("work is done one piece at a time, in the order it came", async () => {
  const inTurn = takeTurns({ waitingMax: 10 });
  const log: string[] = [];
  const piece = (name: string) => async () => {
    log.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name} ends`);
    return name;
  };
  const done = await Promise.all(["a", "b", "c"].map((name) => inTurn(piece(name))));
  assert.deepEqual(done, ["a", "b", "c"]);
  assert.deepEqual(log, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

test("a piece that fails does not block the pieces after it", async () => {
  const inTurn = takeTurns({ waitingMax: 10 });
  const failed = inTurn(async () => await Promise.reject(new Error("no")));
  const next = inTurn(async () => "yes");
  await assert.rejects(failed, /no/);
  assert.equal(await next, "yes");
});

test("work is refused at once when the queue is full", async () => {
  const inTurn = takeTurns({ waitingMax: 1 });
  let release = () => {};
  const first = inTurn(async () => await new Promise<void>((resolve) => (release = resolve)));
  await new Promise((resolve) => setImmediate(resolve));
  const second = inTurn(async () => "second");
  await assert.rejects(
    inTurn(async () => "third"),
    Overloaded,
  );
  release();
  await first;
  assert.equal(await second, "second");
});

test("lanes go on beside each other, and work in several waits for all of them", async () => {
  const inLanes = openLanes(["a", "b"], { waitingMax: 10 });
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  const note = (name: string) => async () => void log.push(name);
  const first = inLanes(["a"], async () => {
    await held.promise;
    log.push("a");
  });
  // Named in any order, they are taken in one.
  const both = inLanes(["b", "a"], note("both"));
  await inLanes(["b"], note("b"));
  assert.deepEqual(log, ["b"]);
  held.resolve();
  await Promise.all([first, both, inLanes(["a", "b"], note("again"))]);
  assert.deepEqual(log, ["b", "a", "both", "again"]);
});
