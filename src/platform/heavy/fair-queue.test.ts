import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Environment } from "../../kernel/caller.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { FairQueue } from "./fair-queue.ts";

const wide = { perDeskMax: 1_000, perEnvironmentMax: 1_000 };

const job = (environment: Environment, deskId: string, name = deskId) => ({
  by: { environment, deskId },
  name,
});

function drain(queue: FairQueue<ReturnType<typeof job>>, sandbox = true): string[] {
  const names: string[] = [];
  for (let next = queue.next({ sandbox }); next; next = queue.next({ sandbox })) {
    names.push(next.name);
  }
  return names;
}

test("desks take turns, for any number of jobs each", () => {
  const queue = new FairQueue<ReturnType<typeof job>>(wide);
  for (let at = 1; at <= 4; at++) queue.add(job("live", "busy", `busy ${at}`));
  queue.add(job("live", "late"));
  assert.deepEqual(drain(queue), ["busy 1", "late", "busy 2", "busy 3", "busy 4"]);
});

test("live goes before the sandbox, which still gets a share", () => {
  const queue = new FairQueue<ReturnType<typeof job>>(wide);
  for (let at = 0; at < 3; at++) queue.add(job("sandbox", "s"));
  for (let at = 0; at < 20; at++) queue.add(job("live", "l"));
  const names = drain(queue);
  assert.deepEqual(names.slice(0, 10), [...Array<string>(8).fill("l"), "s", "l"]);
  assert.equal(names.filter((name) => name === "s").length, 3);
});

test("live jobs start while the sandbox is at its limit", () => {
  const queue = new FairQueue<ReturnType<typeof job>>(wide);
  queue.add(job("sandbox", "s"));
  queue.add(job("live", "l"));
  assert.deepEqual(drain(queue, false), ["l"]);
  assert.deepEqual(drain(queue), ["s"]);
});

test("the jobs of a desk and of an environment are bounded separately", () => {
  const queue = new FairQueue<ReturnType<typeof job>>({ perDeskMax: 2, perEnvironmentMax: 3 });
  queue.add(job("sandbox", "a"));
  queue.add(job("sandbox", "a"));
  assert.throws(() => queue.add(job("sandbox", "a")), Overloaded);
  queue.add(job("sandbox", "b"));
  assert.throws(() => queue.add(job("sandbox", "c")), Overloaded);
  queue.add(job("live", "a"));
  assert.deepEqual([queue.waiting("live"), queue.waiting("sandbox")], [1, 3]);
});

test("every job that is added is taken or removed once, in its desk's order", () => {
  const added = fc.array(
    fc.record({
      environment: fc.constantFrom<Environment>("live", "sandbox"),
      deskId: fc.constantFrom("a", "b", "c"),
      isRemoved: fc.boolean(),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(added, (items) => {
      const queue = new FairQueue<ReturnType<typeof job>>(wide);
      const jobs = items.map(({ environment, deskId }, at) => job(environment, deskId, String(at)));
      for (const one of jobs) queue.add(one);
      const kept = jobs.filter((one, at) => !(items[at]?.isRemoved && queue.remove(one)));
      const taken = drain(queue);
      assert.deepEqual(taken.toSorted(), kept.map(({ name }) => name).toSorted());
      for (const { environment, deskId } of items) {
        const own = kept.filter(({ by }) => by.environment === environment && by.deskId === deskId);
        const names = own.map(({ name }) => name);
        assert.deepEqual(
          taken.filter((name) => names.includes(name)),
          names,
        );
      }
      assert.deepEqual([queue.waiting("live"), queue.waiting("sandbox")], [0, 0]);
    }),
  );
});
