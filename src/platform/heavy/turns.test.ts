import assert from "node:assert/strict";
import { test } from "node:test";

import { Overloaded } from "../postgres/coalesce.ts";
import { takeTurns } from "./fair-queue.ts";

const limits = { perDeskMax: 10, perEnvironmentMax: 100 };
const one = { environment: "sandbox", deskId: "one" } as const;
const another = { environment: "sandbox", deskId: "another" } as const;

test("work is done one piece at a time, in the order it came", async () => {
  const inTurn = takeTurns(limits);
  const log: string[] = [];
  const piece = (name: string) => async () => {
    log.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name} ends`);
    return name;
  };
  const done = await Promise.all(["a", "b", "c"].map((name) => inTurn(one, piece(name))));
  assert.deepEqual(done, ["a", "b", "c"]);
  assert.deepEqual(log, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

test("a piece that fails does not block the pieces after it", async () => {
  const inTurn = takeTurns(limits);
  const failed = inTurn(one, async () => await Promise.reject(new Error("no")));
  const next = inTurn(one, async () => "yes");
  await assert.rejects(failed, /no/);
  assert.equal(await next, "yes");
});

test("work is refused at once when the queue is full", async () => {
  const inTurn = takeTurns({ perDeskMax: 1, perEnvironmentMax: 10 });
  let release = () => {};
  const first = inTurn(one, async () => await new Promise<void>((resolve) => (release = resolve)));
  await new Promise((resolve) => setImmediate(resolve));
  const second = inTurn(one, async () => "second");
  await assert.rejects(
    inTurn(one, async () => "third"),
    Overloaded,
  );
  release();
  await first;
  assert.equal(await second, "second");
});

test("desks take turns, and one that has too much waiting is refused alone", async () => {
  const inTurn = takeTurns({ perDeskMax: 3, perEnvironmentMax: 100 });
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  const note = (name: string) => async () => void log.push(name);
  const all = [inTurn(one, () => held.promise)];
  for (const name of ["1", "2", "3"]) all.push(inTurn(one, note(name)));
  await assert.rejects(inTurn(one, note("4")), Overloaded);
  for (const name of ["a", "b"]) all.push(inTurn(another, note(name)));
  held.resolve();
  await Promise.all(all);
  assert.deepEqual(log, ["1", "a", "2", "b", "3"]);
});
