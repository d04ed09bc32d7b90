import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { includesScope, scopes } from "../kernel/caller.ts";
import { confineChild, findGrowth, type KeyBounds, narrowKey } from "./narrow-rules.ts";

const limit = fc.option(fc.integer({ min: 1, max: 5 }));
const networks = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.168.0.0/16", "2001:db8::/32"];
const bounds: fc.Arbitrary<KeyBounds> = fc.record({
  scopes: fc.uniqueArray(fc.constantFrom(...scopes), { minLength: 1 }),
  buy_side: fc.boolean(),
  withdrawals: fc.boolean(),
  per_minute: limit,
  monthly_quota: limit,
  max_order_paise: limit,
  daily_notional_paise: limit,
  ip_allowlist: fc.uniqueArray(fc.constantFrom(...networks), { maxLength: 3 }),
  expires_at: fc.option(
    fc.integer({ min: 1, max: 5 }).map((day) => new Date(Date.UTC(2027, 0, day))),
  ),
});

const whole: KeyBounds = {
  scopes: ["quote", "orders:read"],
  buy_side: true,
  withdrawals: true,
  per_minute: 30,
  monthly_quota: null,
  max_order_paise: null,
  daily_notional_paise: null,
  ip_allowlist: ["10.0.0.0/8"],
  expires_at: new Date("2027-03-31T00:00:00Z"),
};

const later = new Date("2027-04-01T00:00:00Z");

test("growth of a key is named by its field", () => {
  const cases = [
    ["scopes", narrowKey(whole, { scopes: ["quote", "firms"] }, undefined)],
    ["scopes", narrowKey(whole, { scopes: ["*"] }, undefined)],
    ["expires_at", narrowKey(whole, {}, later)],
    ["ip_allowlist", narrowKey(whole, { ip_allowlist: [] }, undefined)],
    ["ip_allowlist", narrowKey(whole, { ip_allowlist: ["11.0.0.1"] }, undefined)],
    ["ip_allowlist", narrowKey(whole, { ip_allowlist: ["10.0.0.0/7"] }, undefined)],
    ["limits.per_minute", narrowKey(whole, { limits: { per_minute: 31 } }, undefined)],
  ] as const;
  for (const [path, wanted] of cases) {
    assert.deepEqual(
      findGrowth(whole, wanted).map((problem) => problem.path),
      [path],
    );
  }
  const bare = { ...whole, buy_side: false, withdrawals: false };
  const asked = { buy_side: true, limits: { withdrawals: true } };
  assert.deepEqual(
    findGrowth(bare, narrowKey(bare, asked, undefined)).map(({ path }) => path),
    ["buy_side", "limits.withdrawals"],
  );
});

test("a key stays as it is by an empty change, and narrows in every field at once", () => {
  assert.deepEqual(narrowKey(whole, {}, undefined), whole);
  assert.deepEqual(narrowKey(whole, { limits: {} }, undefined), whole);
  const asked = {
    scopes: ["quote"],
    buy_side: false,
    ip_allowlist: ["10.1.0.0/16", "10.2.0.1"],
    limits: { per_minute: 1, monthly_quota: 2, max_order_paise: 3, withdrawals: false },
  } as const;
  const narrowed = narrowKey(whole, asked, new Date("2027-01-01T00:00:00Z"));
  assert.deepEqual(findGrowth(whole, narrowed), []);
  assert.deepEqual(narrowed.scopes, ["quote"]);
  assert.equal(narrowed.daily_notional_paise, null);
});

test("a child is never wider than itself or its root key, and unchanged where it fits", () => {
  fc.assert(
    fc.property(bounds, bounds, (child, root) => {
      const confined = confineChild(child, root);
      if (!confined) return;
      assert.deepEqual(findGrowth(child, confined), []);
      assert.deepEqual(findGrowth(root, confined), []);
      assert.ok(confined.scopes.every((scope) => includesScope(child.scopes, scope)));
      assert.deepEqual(confineChild(confined, root), confined);
      assert.deepEqual(confineChild(confined, confined), confined);
    }),
  );
});

test("nothing is left of a child without a scope or an address in common with its root key", () => {
  assert.equal(confineChild({ ...whole, scopes: ["firms"] }, whole), undefined);
  assert.equal(confineChild({ ...whole, ip_allowlist: ["11.0.0.1"] }, whole), undefined);
  assert.deepEqual(confineChild({ ...whole, ip_allowlist: [] }, whole)?.ip_allowlist, [
    "10.0.0.0/8",
  ]);
});
