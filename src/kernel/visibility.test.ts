import assert from "node:assert/strict";
import { test } from "node:test";

import type { Caller, KeyKind } from "./caller.ts";
import { Failure } from "./failure.ts";
import {
  idempotencyOwner,
  isVisible,
  refuseSubAccount,
  toFirmFilter,
  visibleTo,
} from "./visibility.ts";

function callerOfKind(kind: KeyKind): Caller {
  return {
    keyId: "key_1",
    rootKeyId: "key_1",
    kind,
    environment: "sandbox",
    firmId: "frm_client",
    deskId: "frm_desk",
    scopes: ["*"],
    buySide: false,
    withdrawals: true,
    confined: false,
  };
}

const desk = visibleTo(callerOfKind("root"));
const client = visibleTo(callerOfKind("sub_account"));

test("root and app keys see every firm of their desk, a sub_account key its own firm", () => {
  assert.deepEqual(desk, { deskId: "frm_desk", firmId: null });
  assert.deepEqual(visibleTo(callerOfKind("app")), desk);
  assert.deepEqual(client, { deskId: "frm_desk", firmId: "frm_client" });
});

test("a record is visible when its desk and, for a sub_account key, its firm match", () => {
  const rows = [
    ["frm_desk", "frm_client", true, true],
    ["frm_desk", "frm_other", true, false],
    ["frm_elsewhere", "frm_client", false, false],
    [null, null, false, false],
  ] as const;
  for (const [deskId, firmId, toDesk, toClient] of rows) {
    assert.equal(isVisible(desk, { deskId, firmId }), toDesk);
    assert.equal(isVisible(client, { deskId, firmId }), toClient);
  }
});

test("a list filtered by a firm that the caller cannot see is a list of no firm", () => {
  assert.equal(toFirmFilter(desk, undefined), null);
  assert.equal(toFirmFilter(desk, "frm_other"), "frm_other");
  assert.equal(toFirmFilter(client, undefined), "frm_client");
  assert.equal(toFirmFilter(client, "frm_client"), "frm_client");
  assert.equal(toFirmFilter(client, "frm_other"), "");
});

test("idempotency keys belong to the firm of a sub_account key, otherwise to the desk", () => {
  assert.equal(idempotencyOwner(callerOfKind("app")), "frm_desk");
  assert.equal(idempotencyOwner(callerOfKind("sub_account")), "frm_client");
});

test("an act of the whole desk is refused to sub_account keys only", () => {
  refuseSubAccount(desk, "open a desk");
  assert.throws(
    () => refuseSubAccount(client, "open a desk"),
    (error) =>
      error instanceof Failure &&
      error.code === "forbidden" &&
      error.detail?.["reason"] === "sub_account_key",
  );
});
