import assert from "node:assert/strict";
import { test } from "node:test";

import { setReachable, testDatabase } from "../../../test/support/database.ts";
import { coalesce } from "./coalesce.ts";
import { workPastHeld } from "./hold-back.ts";
import { sql } from "./postgres.ts";
import { type SetAttempt, wasRolledBack, withoutWriting, workInHalves } from "./split.ts";

const thrown = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => assert.fail("nothing was thrown"),
    (error: unknown) => error,
  );

test("an error says whether its transaction may have been committed", async (t) => {
  const { db } = await testDatabase(t);
  const ours = thrown(db.transaction(() => Promise.reject(new Error("a bug of ours"))));
  assert.equal(wasRolledBack(await ours), true, "thrown by us before the commit");
  const refused = thrown(db.transaction((tx) => tx.rows(sql`select 1 / ${0}::int`)));
  assert.equal(wasRolledBack(await refused), true, "refused by the database");
  assert.equal(wasRolledBack(await thrown(db.rows(sql`select 1 / ${0}::int`))), true, "alone");

  const late = db.transaction(async (tx) => {
    await tx.rows(
      sql`create temporary table late (n int primary key deferrable initially deferred)`,
    );
    await tx.rows(sql`insert into late values (1), (1)`);
  });
  assert.equal(wasRolledBack(await thrown(late)), true, "refused at the commit");

  const cut = db.transaction(async (tx) => {
    await tx.rows(sql`select 1`);
    await setReachable(db, false);
    await tx.rows(sql`select 1`);
  });
  assert.equal(wasRolledBack(await thrown(cut)), true, "the connection was lost before the commit");
  await setReachable(db, true);
  const after = db
    .transaction(async (tx) => await tx.rows(sql`select 1`))
    .then(() => {
      throw new Error("after the commit");
    });
  assert.equal(wasRolledBack(await thrown(after)), false, "after the commit");
  const pure = thrown(withoutWriting(() => Promise.reject(new Error("a price"))));
  assert.equal(wasRolledBack(await pure), true);
});

test("a set with too few answers fails whole and is not retried", async () => {
  let tries = 0;
  const work = async () => {
    tries += 1;
    return [1];
  };
  const outcomes = await workInHalves(work, [1, 2, 3], () => true);
  assert.equal(outcomes.filter((outcome) => outcome instanceof Error).length, 3);
  assert.equal(tries, 1);
});

/** A worker on sets in which the items of held groups cannot be had. */
function heldWork(held: Set<string>) {
  class Held extends Error {}
  const sets: string[][] = [];
  const ask = coalesce<string, string>(
    async (items) => {
      sets.push([...items]);
      if (items.some((item) => held.has(item[0] ?? ""))) throw new Held();
      return items;
    },
    {
      setSizeMax: 100,
      queueMax: 100,
      mayRetry: () => true,
      held: { isHeld: (error) => error instanceof Held, toGroup: (item) => item[0] ?? "" },
    },
  );
  return { ask, sets };
}

test("items that meet a locked row wait apart from all others", async () => {
  const held = new Set(["a"]);
  const { ask, sets } = heldWork(held);
  const waiting = ["a1", "a2"].map(ask);
  assert.deepEqual(await Promise.all(["b1", "c1"].map(ask)), ["b1", "c1"]);
  const late = ask("a3");
  const before = sets.length;
  assert.equal(await ask("b2"), "b2");
  assert.deepEqual(sets.slice(before), [["b2"]], "who comes later joins those that wait");
  held.clear();
  assert.deepEqual(await Promise.all([...waiting, late]), ["a1", "a2", "a3"]);
  assert.deepEqual(sets.at(-1), ["a1", "a2", "a3"], "in one set");
});

test("items whose row stays locked are refused one by one, and work again afterwards", async () => {
  const held = new Set(["a"]);
  const { ask } = heldWork(held);
  const answers = await Promise.allSettled(["a1", "b1", "a2"].map(ask));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "fulfilled", "rejected"],
  );
  held.clear();
  assert.equal(await ask("a1"), "a1");
});

/** A set that meets a locked row unless it is tried as a whole for the last time. */
function tryLast() {
  class Held extends Error {}
  const sizes: number[] = [];
  const isHeld = (error: unknown) => error instanceof Held;
  const work = async (items: readonly string[], { isPart, isLast }: SetAttempt) => {
    sizes.push(items.length);
    if (isPart || !isLast) throw new Held();
    return items;
  };
  return { sizes, isHeld, work };
}

test("single items that met a locked row queue for it together before they are refused", async () => {
  const { sizes, isHeld, work } = tryLast();
  const held = { isHeld, toGroup: () => "a" };
  const ask = coalesce(work, { setSizeMax: 100, queueMax: 100, mayRetry: () => true, held });
  assert.deepEqual(await Promise.all(["1", "2", "3"].map(ask)), ["1", "2", "3"]);
  assert.equal(sizes.at(-1), 3);
});

test("the items of a call that met a locked row queue for it together before they are refused", async () => {
  const { sizes, isHeld, work } = tryLast();
  const inHalves = (items: readonly string[], attempt: SetAttempt) =>
    workInHalves(work, items, () => attempt.isLast === true, attempt);
  const outcomes = await workPastHeld(inHalves, ["1", "2", "3"], { isHeld, isDryRun: false });
  assert.deepEqual(outcomes, ["1", "2", "3"]);
  assert.deepEqual(sizes, Array(7).fill(3)); // At once, and after each pause.
});
