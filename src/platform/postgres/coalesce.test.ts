import assert from "node:assert/strict";
import { mock, test } from "node:test";

import fc from "fast-check";

import { coalesce, Overloaded } from "./coalesce.ts";

const always = () => true;
const never = () => false;

type Load = { items: number[]; setSizeMax: number; setsInFlight: number; turns: boolean[] };

const loads: fc.Arbitrary<Load> = fc.record({
  items: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 120 }),
  setSizeMax: fc.integer({ min: 1, max: 17 }),
  setsInFlight: fc.integer({ min: 1, max: 3 }),
  turns: fc.array(fc.boolean(), { maxLength: 120 }),
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Asks for each item, letting the event loop turn between some of them. */
async function askAll<Result>(ask: (item: number) => Promise<Result>, { items, turns }: Load) {
  const answers: Promise<PromiseSettledResult<Result>>[] = [];
  for (const [index, item] of items.entries()) {
    answers.push(Promise.allSettled([ask(item)]).then(([settled]) => settled));
    if (turns[index]) await turn();
  }
  return await Promise.all(answers);
}

test("every caller gets its own answer, and sets keep their order and their size limit", async () => {
  await fc.assert(
    fc.asyncProperty(loads, async (load) => {
      const worked: number[] = [];
      let running = 0;
      const ask = coalesce(
        async (set: readonly number[]) => {
          assert.ok(set.length >= 1 && set.length <= load.setSizeMax);
          running += 1;
          assert.ok(running <= load.setsInFlight);
          worked.push(...set);
          await turn();
          running -= 1;
          return set.map((item) => `answer to ${item}`);
        },
        { ...load, queueMax: 1_000, mayRetry: never },
      );
      const answers = await askAll(ask, load);
      assert.deepEqual(worked, load.items);
      assert.deepEqual(
        answers.map((answer) => answer.status === "fulfilled" && answer.value),
        load.items.map((item) => `answer to ${item}`),
      );
    }),
  );
});

test("a bad item fails alone, whether its set is refused or throws", async () => {
  await fc.assert(
    fc.asyncProperty(loads, fc.boolean(), async (load, breaks) => {
      const isBad = (item: number) => item % 10 === 3;
      const kept: number[] = [];
      const ask = coalesce(
        async (set: readonly number[]) => {
          await turn();
          if (breaks && set.some(isBad)) throw new Error("the whole set was rolled back");
          kept.push(...set.filter((item) => !isBad(item)));
          return set.map((item) => (isBad(item) ? new Error("only this one") : item));
        },
        { ...load, queueMax: 1_000, mayRetry: always },
      );
      const answers = await askAll(ask, load);
      const expected = load.items.map((item) => (isBad(item) ? "rejected" : "fulfilled"));
      assert.deepEqual(
        answers.map(({ status }) => status),
        expected,
      );
      const good = load.items.filter((item) => !isBad(item));
      const ascending = (a: number, b: number) => a - b;
      assert.deepEqual(
        kept.toSorted(ascending),
        good.toSorted(ascending),
        "nothing is kept twice or lost",
      );
    }),
  );
});

test("a set that may have been committed is never retried", async () => {
  let tries = 0;
  const ask = coalesce(
    async (_set: readonly number[]): Promise<number[]> => {
      tries += 1;
      throw new Error("the connection was lost during commit");
    },
    { setSizeMax: 10, queueMax: 10, mayRetry: never },
  );
  const answers = await Promise.allSettled([ask(1), ask(2), ask(3)]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.equal(tries, 1);
});

test("a full queue refuses new items and serves the waiting ones", async () => {
  const gate = Promise.withResolvers<void>();
  const ask = coalesce(
    async (set: readonly number[]) => {
      await gate.promise;
      return set;
    },
    { setSizeMax: 1, queueMax: 2, mayRetry: never },
  );
  const first = ask(1);
  await turn();
  const waiting = [ask(2), ask(3)];
  await assert.rejects(ask(4), Overloaded);
  gate.resolve();
  assert.deepEqual(await Promise.all([first, ...waiting]), [1, 2, 3]);
  assert.equal(await ask(5), 5);
});

test("sets are formed without timers", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  t.after(() => mock.timers.reset());
  const ask = coalesce(async (set: readonly number[]) => set, {
    setSizeMax: 4,
    queueMax: 10,
    mayRetry: never,
  });
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(ask)), [1, 2, 3, 4, 5]);
});

test("items that arrive while a set runs form the next set", async () => {
  const sizes: number[] = [];
  const gate = Promise.withResolvers<void>();
  const ask = coalesce(
    async (set: readonly number[]) => {
      if (sizes.length === 1) await gate.promise;
      return set;
    },
    { setSizeMax: 100, queueMax: 100, mayRetry: never, onSet: (size) => sizes.push(size) },
  );
  const first = ask(0);
  await turn();
  const rest: Promise<number>[] = [];
  for (let item = 1; item <= 50; item++) {
    rest.push(ask(item));
    if (item % 10 === 0) await turn();
  }
  gate.resolve();
  await Promise.all([first, ...rest]);
  assert.deepEqual(sizes, [1, 50]);
});
