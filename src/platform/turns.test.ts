import assert from "node:assert/strict";
import { test } from "node:test";

import { Overloaded } from "./coalesce.ts";
import { takeTurns } from "./turns.ts";

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

test("a piece that fails keeps nobody from their turn", async () => {
  const inTurn = takeTurns({ waitingMax: 10 });
  const failed = inTurn(async () => await Promise.reject(new Error("no")));
  const next = inTurn(async () => "yes");
  await assert.rejects(failed, /no/);
  assert.equal(await next, "yes");
});

test("who finds too many waiting is refused at once", async () => {
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
