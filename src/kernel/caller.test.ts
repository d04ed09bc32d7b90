import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  type Caller,
  type Demand,
  includesScope,
  intersect,
  isScope,
  type KeyKind,
  meetsDemand,
  type Scope,
  scopes,
} from "./caller.ts";

const grants = fc.uniqueArray(fc.constantFrom(...scopes), { minLength: 1 });
const named = scopes.filter((scope) => scope !== "*");

function callerWith(granted: readonly Scope[], kind: KeyKind): Caller {
  return {
    keyId: "key_1",
    rootKeyId: "key_1",
    kind,
    environment: "sandbox",
    firmId: "frm_1",
    deskId: "frm_1",
    scopes: granted,
    buySide: false,
    withdrawals: true,
    confined: false,
  };
}

test("a caller is admitted exactly when it holds the demanded scope, for every scope and kind", () => {
  const demands: Demand[] = [...named, "any key", "root key"];
  for (const granted of scopes) {
    for (const kind of ["root", "sub_account", "app"] as const) {
      for (const demand of demands) {
        const expected =
          demand === "any key" ||
          (demand === "root key" ? kind === "root" : granted === "*" || granted === demand);
        assert.equal(meetsDemand(callerWith([granted], kind), demand), expected);
      }
    }
  }
});

test("a child holds a scope exactly when it was granted to both the child and its parent", () => {
  fc.assert(
    fc.property(grants, grants, (child, parent) => {
      const both = intersect(child, parent);
      for (const scope of named) {
        assert.equal(
          includesScope(both, scope),
          includesScope(child, scope) && includesScope(parent, scope),
          scope,
        );
      }
      assert.equal(both.includes("*"), child.includes("*") && parent.includes("*"));
    }),
  );
});

test("only the scopes of the contract are scopes", () => {
  for (const scope of scopes) assert.equal(isScope(scope), true);
  for (const text of ["", "admin", "orders", "QUOTE", "quote ", "__proto__", "length"]) {
    assert.equal(isScope(text), false, text);
  }
});
