import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { environments, includesScope, scopes } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  intersectGrants,
  keyLifecycle,
  type KeyState,
  maskKey,
  matchesSecret,
  makeApiKey,
  dummySecret,
  parseApiKey,
  refuseExcess,
  findKeyState,
} from "./key-rules.ts";

const now = new Date("2026-11-15T09:15:00Z");
const keyId = newId("key", now);

test("a new key parses to its environment and id, and matches its stored hash", () => {
  for (const environment of environments) {
    const { apiKey, sealed } = makeApiKey(environment, keyId);
    const parsed = parseApiKey(apiKey);
    assert.equal(parsed?.environment, environment);
    assert.equal(parsed?.keyId, keyId);
    assert.match(apiKey, environment === "live" ? /^service_live_/ : /^service_test_/);
    assert.equal(matchesSecret(parsed?.secret ?? "", sealed), true);
    assert.equal(sealed.hint, apiKey.slice(-4));
    assert.equal(sealed.secret_hash.includes(parsed?.secret ?? ""), false);
  }
});

test("the checksum catches every change of a single character", () => {
  const { apiKey } = makeApiKey("sandbox", keyId);
  const characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ";
  let changes = 0;
  for (let at = 0; at < apiKey.length; at++) {
    for (const other of characters) {
      if (other === apiKey[at]) continue;
      const changed = apiKey.slice(0, at) + other + apiKey.slice(at + 1);
      assert.equal(parseApiKey(changed), undefined, changed);
      changes += 1;
    }
  }
  assert.equal(changes, apiKey.length * (characters.length - 1));
});

test("a key with a missing, added or swapped character does not parse", () => {
  const { apiKey } = makeApiKey("live", keyId);
  for (let at = 0; at < apiKey.length; at++) {
    assert.equal(parseApiKey(apiKey.slice(0, at) + apiKey.slice(at + 1)), undefined);
    assert.equal(parseApiKey(`${apiKey.slice(0, at)}0${apiKey.slice(at)}`), undefined);
    const [one = "", other = ""] = apiKey.slice(at, at + 2);
    if (one === other || other === "") continue;
    const swapped = apiKey.slice(0, at) + other + one + apiKey.slice(at + 2);
    assert.equal(parseApiKey(swapped), undefined, swapped);
  }
  for (const text of ["", " ", `${apiKey}\n`, ` ${apiKey}`, apiKey.toUpperCase()]) {
    assert.equal(parseApiKey(text), undefined);
  }
});

test("parsing any text gives a key or undefined, and never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(parseApiKey(text), undefined)));
});

test("a secret matches its own hash only, and no secret matches a missing hash", () => {
  const one = makeApiKey("sandbox", keyId);
  const other = makeApiKey("sandbox", keyId);
  const secret = parseApiKey(one.apiKey)?.secret ?? "";
  assert.equal(matchesSecret(secret, one.sealed), true);
  assert.equal(matchesSecret(secret, other.sealed), false);
  assert.equal(matchesSecret(secret, { ...one.sealed, salt: other.sealed.salt }), false);
  for (const text of [secret, "", "0".repeat(32)]) {
    assert.equal(matchesSecret(text, dummySecret), false);
  }
});

test("new keys are unique and use every digit of base 62", () => {
  const keys = Array.from({ length: 500 }, () => makeApiKey("sandbox", keyId));
  assert.equal(new Set(keys.map(({ apiKey }) => apiKey)).size, keys.length);
  assert.equal(new Set(keys.map(({ sealed }) => sealed.salt.toString("hex"))).size, keys.length);
  const secrets = keys.map(({ apiKey }) => parseApiKey(apiKey)?.secret ?? "").join("");
  assert.equal(secrets.length, 500 * 32);
  assert.equal(new Set(secrets).size, 62);
});

test("a masked key shows its environment and four characters", () => {
  assert.equal(maskKey("live", "x3Kq"), "service_live_…x3Kq");
  assert.equal(maskKey("sandbox", "x3Kq"), "service_test_…x3Kq");
});

test("each state allows each action exactly as this table says", () => {
  const table: Record<KeyState, Record<keyof typeof keyLifecycle.moves, KeyState | "refused">> = {
    active: { reissue: "active", update: "active", revoke: "revoked", expire: "expired" },
    expired: { reissue: "refused", update: "refused", revoke: "revoked", expire: "refused" },
    revoked: { reissue: "refused", update: "refused", revoke: "refused", expire: "refused" },
  };
  assert.deepEqual(Object.keys(table).toSorted(), [...keyLifecycle.states].toSorted());
  for (const state of keyLifecycle.states) {
    const row = table[state];
    assert.deepEqual(Object.keys(row).toSorted(), Object.keys(keyLifecycle.moves).toSorted());
    for (const action of Object.keys(keyLifecycle.moves) as (keyof typeof keyLifecycle.moves)[]) {
      const go = () => advance(keyLifecycle, state, action);
      if (row[action] === "refused") assert.throws(go, Failure, `${state} ${action}`);
      else assert.equal(go(), row[action], `${state} ${action}`);
    }
  }
  assert.deepEqual(allowedActions(keyLifecycle, "active"), ["reissue", "update", "revoke"]);
  assert.deepEqual(allowedActions(keyLifecycle, "expired"), ["revoke"]);
  assert.deepEqual(allowedActions(keyLifecycle, "revoked"), []);
});

test("a key is expired from its expiry instant on, and revoked takes precedence", () => {
  const before = new Date(now.getTime() - 1);
  const after = new Date(now.getTime() + 1);
  assert.equal(findKeyState({ revoked_at: null, expires_at: null }, now), "active");
  assert.equal(findKeyState({ revoked_at: null, expires_at: after }, now), "active");
  assert.equal(findKeyState({ revoked_at: null, expires_at: now }, now), "expired");
  assert.equal(findKeyState({ revoked_at: null, expires_at: before }, now), "expired");
  assert.equal(findKeyState({ revoked_at: before, expires_at: before }, now), "revoked");
  assert.equal(findKeyState({ revoked_at: before, expires_at: after }, now), "revoked");
});

const grantsOfKeys = fc.record({
  scopes: fc.uniqueArray(fc.constantFrom(...scopes), { minLength: 1 }),
  buySide: fc.boolean(),
  withdrawals: fc.boolean(),
});

test("a minted child has all the scopes it was granted, and its parent holds them all", () => {
  fc.assert(
    fc.property(grantsOfKeys, grantsOfKeys, (parent, asked) => {
      const effective = intersectGrants(asked, parent);
      for (const scope of effective.scopes) assert.ok(includesScope(parent.scopes, scope));
      assert.ok(parent.buySide || !effective.buySide);
      assert.equal(effective.withdrawals, asked.withdrawals && parent.withdrawals);

      const exceeds =
        asked.scopes.some((scope) => !includesScope(parent.scopes, scope)) ||
        (asked.buySide && !parent.buySide);
      if (exceeds) {
        assert.throws(() => refuseExcess(parent, asked), { code: "forbidden" });
        return;
      }
      refuseExcess(parent, asked);
      for (const scope of asked.scopes) assert.ok(includesScope(effective.scopes, scope));
      assert.equal(effective.buySide, asked.buySide);
    }),
  );
});

test("a root key holds the scopes it was granted", () => {
  fc.assert(
    fc.property(grantsOfKeys, (own) => assert.deepEqual(intersectGrants(own, undefined), own)),
  );
});
