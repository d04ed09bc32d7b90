import assert from "node:assert/strict";
import { test } from "node:test";

import { mapPaced, noPace, openPace, runPaced, takePiece } from "./pace.ts";

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
