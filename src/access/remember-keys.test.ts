import assert from "node:assert/strict";
import { test } from "node:test";

import { newId } from "../kernel/ids.ts";
import type { Authenticated } from "./authenticate.ts";
import { keyMemory } from "./remember-keys.ts";
import { makeApiKey } from "./key-rules.ts";

const now = new Date("2026-11-15T09:15:00Z");

function newKey(stamp: string | null = "7 9") {
  const keyId = newId("key", now);
  const known: Authenticated = {
    caller: {
      keyId,
      rootKeyId: keyId,
      kind: "root",
      environment: "sandbox",
      firmId: "frm_a",
      deskId: "frm_a",
      scopes: ["*"],
      buySide: false,
      withdrawals: true,
      confined: false,
    },
    allowance: { plan: "sandbox", enforced: false, perMinute: 1, quota: 1 },
    ipAllowlist: [],
    stamp,
  };
  return { keyId, known, header: makeApiKey("sandbox", keyId).apiKey };
}

test("a remembered key is found by its whole header only", () => {
  const memory = keyMemory();
  const { header, keyId, known } = newKey();
  assert.equal(memory.find(header), undefined);
  assert.equal(memory.mayKnow(header), false);
  memory.keep(header, known);
  assert.deepEqual([memory.mayKnow(header), memory.find(header)], [true, known]);
  const guess = makeApiKey("sandbox", keyId).apiKey;
  assert.equal(memory.find(guess), undefined, "the same id with another secret");
  assert.equal(memory.find(makeApiKey("live", keyId).apiKey), undefined);
  assert.equal(memory.find(`${header}x`), undefined);
  assert.equal(memory.find("nonsense"), undefined);
  assert.equal(memory.mayKnow("nonsense"), false);
});

test("of two keys with one id the last verified one is remembered", () => {
  const memory = keyMemory();
  const { header: first, keyId, known } = newKey();
  memory.keep(first, known);
  const second = makeApiKey("sandbox", keyId).apiKey;
  memory.keep(second, { ...known, stamp: "8 9" });
  assert.equal(memory.find(first), undefined);
  assert.equal(memory.find(second)?.stamp, "8 9");
});

test("a key that cannot be confirmed is not remembered", () => {
  const memory = keyMemory();
  const { header, known } = newKey(null);
  memory.keep(header, known);
  assert.equal(memory.find(header), undefined);
});

test("the cache of keys is bounded and evicts the oldest", () => {
  const memory = keyMemory({ most: 2 });
  const keys = [newKey(), newKey(), newKey()] as const;
  for (const { header, known } of keys) memory.keep(header, known);
  assert.deepEqual(
    keys.map(({ header }) => memory.find(header) !== undefined),
    [false, true, true],
  );
});
