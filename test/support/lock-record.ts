// What each transaction of this process holds when it waits for more, read from its statements, and the
// order that the documentation declares.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import pg from "pg";

import { readRuns } from "./random.ts";

/** Somebody held rows of one table and came to another, which others may hold. */
export type Step = {
  readonly held: string;
  readonly waited: string;
  /** Whether it gives up before the server would look for deadlocks. */
  readonly yields: boolean;
  /** The statements that locked something, up to this one. */
  readonly texts: readonly string[];
};

/** The block below the heading "Locks". */
function readLockOrder(): readonly string[] {
  const page = readFileSync(new URL("../../docs/ARCHITECTURE.md", import.meta.url), "utf8");
  const [, block = ""] = /\n## Locks\n.*?\n```\n(.*?)\n```/s.exec(page) ?? [];
  return block.split(/\s*─▶\s*|\n/).filter((name) => name !== "");
}

/** Held first only by who gives up before the server looks for deadlocks. */
const heldByYielding = new Set(["questions", "orders"]);

/**
 * Every step goes along the order that the documentation declares, and these were among them: without
 * them a test would have looked at nothing.
 */
export function assertLockOrder(
  steps: ReadonlyMap<string, Step>,
  mustBeSeen: readonly (readonly [string, string])[],
): void {
  const order = readLockOrder();
  assert.equal(new Set(order).size, order.length);
  const against = [...steps.values()].filter(({ held, waited, yields }) => {
    const isDeclared = order.includes(held) && order.includes(waited);
    const isAllowed = yields && heldByYielding.has(held);
    return !isDeclared || (order.indexOf(held) > order.indexOf(waited) && !isAllowed);
  });
  const told = against.map(
    ({ held, waited, texts }) => `${held} ─▶ ${waited}\n${texts.join("\n--\n")}`,
  );
  assert.deepEqual(told, []);
  for (const [held, waited] of mustBeSeen) {
    const wasSeen = steps.has(`${held} ─▶ ${waited}`) || steps.has(`${held} ─▶ ${waited} (yields)`);
    assert.ok(wasSeen, `${held} ${waited}`);
  }
}

/**
 * Rows that only who holds something else comes to: legs are changed with their settlement, the
 * house's day and the tape by who matches; a deal of anybody else is private and not on the tape.
 */
const parts = new Map([
  ["settlement_legs", ["settlements"]],
  ["house_days", ["match_locks"]],
  ["house_desk_days", ["match_locks"]],
  ["deal_minutes", ["match_locks"]],
]);

/**
 * Tables whose new rows nobody waits for who holds anything that their inserter may want: who may ask
 * about something holds it, and who would confirm a claim to a number gives up.
 */
const unawaited = new Set(["questions", "credits"]);

type Lock = { readonly name: string; readonly waits: boolean; readonly keeps: boolean };

const relation = /(?:from|join) ([a-z_]+)\b(?! ?\()(?: as (\w+))?/g;

/**
 * What a statement locks, in the order in which it stands there. A row that is inserted unless it is
 * there is `new`: nobody knows it but who inserts the same.
 */
export function parseLocks(statement: string): Lock[] {
  const text = statement.replaceAll(/\s+/g, " ").trim();
  const found = new Map<string, Lock & { readonly at: number }>();
  const add = (name: string, at: number, { waits = true, keeps = true } = {}) => {
    const before = found.get(name);
    if (before && (before.waits === waits || !before.waits)) return;
    found.set(name, { name, waits, keeps, at: before?.at ?? at });
  };
  for (const match of text.matchAll(
    /for (?:no key )?(?:update|share)(?: of (\w+))?( skip locked)?/g,
  )) {
    const from = openingBefore(text, match.index);
    for (const [, table = "", alias = table] of text.slice(from, match.index).matchAll(relation)) {
      if (match[1] !== undefined && match[1] !== alias) continue;
      add(table, from, { waits: match[2] === undefined });
    }
  }
  for (const match of text.matchAll(/(?:^|[^a-z] )(?:update|delete from) ([a-z_]+)/g)) {
    add(match[1] ?? "", match.index);
  }
  const inserts =
    /insert into ([a-z_]+)(?:(?!insert into ).)* on conflict(?:(?!insert into ).)* do (update|nothing)/g;
  for (const [, table = "", then] of text.matchAll(inserts)) {
    if (then === "nothing") add(`new ${table}`, text.length, { keeps: !unawaited.has(table) });
    else add(table, text.length);
  }
  for (const [, name = ""] of text.matchAll(/pg_advisory_xact_lock\(\w+\('([\w ]+)/g)) add(name, 0);
  return [...found.values()].toSorted((a, b) => a.at - b.at);
}

/** Where the select begins that ends with the locking clause at this place. */
function openingBefore(text: string, end: number): number {
  let depth = 0;
  for (let at = end - 1; at >= 0; at--) {
    if (text[at] === ")") depth++;
    if (text[at] === "(" && depth-- === 0) return at;
  }
  return 0;
}

type Driver = {
  parse: (this: pg.Connection, config: { name: string; text: string }, ...rest: unknown[]) => void;
  bind: (this: pg.Connection, config: { statement: string }, ...rest: unknown[]) => void;
};
const driver = pg.Connection.prototype as unknown as Driver;

/** The texts of the statements that connections have prepared, by name. */
const texts = new Map<string, string>();
const parse = driver.parse;
driver.parse = function (config, ...rest) {
  texts.set(config.name, config.text);
  parse.call(this, config, ...rest);
};

/** Every step that transactions take from now on, each once. */
export function recordLocks(t: { after(work: () => void): void }): ReadonlyMap<string, Step> {
  const steps = new Map<string, Step>();
  type Open = { readonly held: Set<string>; readonly texts: string[]; yields: boolean };
  const open = new WeakMap<pg.Connection, Open>();
  // A few hundred texts come again and again, and each takes long to read.
  const known = new Map<string, readonly Lock[]>();
  const read = (text: string) => {
    const locks = known.get(text) ?? parseLocks(text);
    known.set(text, locks);
    return locks;
  };
  const note = (transaction: Open, text: string) => {
    const { held, texts } = transaction;
    for (const { name, waits, keeps } of read(text)) {
      const isPart = parts.get(name)?.some((whole) => held.has(whole)) ?? false;
      if (held.has(name) || isPart || name === "deal_minutes") continue;
      if (texts.at(-1) !== text) texts.push(text);
      for (const before of waits ? held : []) {
        const { yields } = transaction;
        const key = `${before} ─▶ ${name}${yields ? " (yields)" : ""}`;
        if (!steps.has(key)) {
          steps.set(key, { held: before, waited: name, yields, texts: [...texts] });
        }
      }
      if (keeps) held.add(name);
    }
    if (text.includes("lock_timeout")) transaction.yields = true;
  };
  const bind = driver.bind;
  driver.bind = function (config, ...rest) {
    const text = texts.get(config.statement) ?? "";
    const transaction = open.get(this);
    if (text === "begin") open.set(this, { held: new Set(), texts: [], yields: false });
    else if (text === "commit" || text === "rollback") open.delete(this);
    else if (transaction) note(transaction, text);
    bind.call(this, config, ...rest);
  };
  t.after(() => (driver.bind = bind));
  return steps;
}

/** The circles that the server has broken from now on, also where the work was then tried again. */
export function recordDeadlocks(t: { after(work: () => void): void }): readonly string[] {
  const seen: string[] = [];
  // Where the driver hears of every error, whoever takes it then; bound when a connection is opened.
  const name = "_handleErrorMessage";
  type Hear = (this: pg.Client, message: pg.DatabaseError) => void;
  const client = pg.Client.prototype as unknown as Record<typeof name, Hear>;
  const hear = client[name];
  client[name] = function (message) {
    if (message.code === "40P01") seen.push(message.detail ?? message.message);
    hear.call(this, message);
  };
  t.after(() => (client[name] = hear));
  return seen;
}

/**
 * Which acts are run beside which: every two where RUNS asks for a long run, otherwise each beside
 * itself and a third of the others. The order of their locks is judged either way, from each alone.
 */
export function listPairs(names: readonly string[]): (readonly [string, string])[] {
  const step = readRuns(1) > 1 ? 1 : 3;
  return names.flatMap((one, at) =>
    names
      .slice(at)
      .filter((_, ahead) => ahead % step === 0)
      .map((other) => [one, other] as const),
  );
}
