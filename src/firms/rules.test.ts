import assert from "node:assert/strict";
import { test } from "node:test";

import { listIdentityChecks } from "../outside/question-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  type FirmCheck,
  firmLifecycle,
  firmStates,
  type FirmState,
  mergeChecks,
  buildPendingChecks,
  findTradingRefusal,
  decideVerification,
} from "./rules.ts";
import { listHolds } from "./hold-rules.ts";

const now = new Date("2026-11-15T09:15:00Z");

/** Written out by hand, so that a slip in the table of moves shows. */
const published: Record<keyof typeof firmLifecycle.moves, Partial<Record<FirmState, FirmState>>> = {
  vouch: { registered: "authorized" },
  verify: { registered: "verifying", action_required: "verifying" },
  change_identity: { verifying: "verifying", verified: "verifying", authorized: "verifying" },
  require_action: { verifying: "action_required" },
  reject: { verifying: "rejected" },
  confirm: { verifying: "verified" },
  authorize: { verified: "authorized" },
  suspend: { authorized: "suspended" },
  resume: { suspended: "authorized" },
  offboard: everyoneHere("offboarded"),
  drain: everyoneHere("offboarding"),
  finish: { offboarding: "offboarded" },
};

function everyoneHere(to: FirmState): Partial<Record<FirmState, FirmState>> {
  const gone = new Set<FirmState>(["offboarding", "offboarded"]);
  return Object.fromEntries(firmStates.filter((s) => !gone.has(s)).map((from) => [from, to]));
}

type Action = keyof typeof published;

for (const action of Object.keys(published) as Action[]) {
  for (const state of firmStates) {
    const to = published[action][state];
    test(`${action} of a firm that is ${state} ${to ? `leads to ${to}` : "is a conflict"}`, () => {
      if (to) {
        assert.equal(advance(firmLifecycle, state, action), to);
        return;
      }
      assert.throws(
        () => advance(firmLifecycle, state, action),
        (error: unknown) =>
          error instanceof Failure &&
          error.code === "conflict" &&
          error.detail?.["state"] === state,
      );
    });
  }
}

test("the table has no other moves than these", () => {
  assert.deepEqual(Object.keys(firmLifecycle.moves).toSorted(), Object.keys(published).toSorted());
});

test("moves of the registry, the clock and the operator are never allowed actions", () => {
  for (const state of firmStates) {
    const actions = allowedActions(firmLifecycle, state);
    for (const action of ["vouch", "require_action", "reject", "confirm", "finish"]) {
      assert.ok(!actions.includes(action), `${state} allows ${action}`);
    }
  }
  assert.deepEqual(allowedActions(firmLifecycle, "offboarded"), []);
});

const passed = (check: FirmCheck["check"]): FirmCheck => ({
  check,
  outcome: "pass",
  cure: null,
  as_of: "2026-11-15T14:45:00.000+05:30",
});

test("verification waits for every answer, and a flagged IEC rejects the firm", () => {
  const asked = buildPendingChecks(listIdentityChecks({ gstin: null }));
  assert.deepEqual(
    asked.map(({ check }) => check),
    ["IEC_ACTIVE", "PAN_MATCH", "FLAGGED_IEC"],
  );
  assert.equal(decideVerification(asked), "pending");
  const all = asked.map(({ check }) => passed(check));
  assert.equal(decideVerification(all), "confirm");
  const panFails = mergeChecks(all, [{ ...passed("PAN_MATCH"), outcome: "fail" }]);
  assert.equal(decideVerification(panFails), "require_action");
  const flagged = mergeChecks(panFails, [{ ...passed("FLAGGED_IEC"), outcome: "fail" }]);
  assert.equal(decideVerification(flagged), "reject");
  assert.equal(
    decideVerification(mergeChecks(flagged, buildPendingChecks(["BANK_NAME_MATCH"]))),
    "pending",
  );
});

test("a hold ends at its time, and an unconfirmed account is not paid", () => {
  const firm = {
    connection_state: "authorized" as FirmState,
    checks: [passed("BANK_NAME_MATCH")],
    account_id: "acc_1",
    account_confirmed_at: now,
    hold_reason: "beneficiary_change" as const,
    hold_until: new Date(now.getTime() + 1),
  };
  assert.deepEqual(
    listHolds(firm, now).map(({ reason }) => reason),
    ["beneficiary_change"],
  );
  assert.deepEqual(listHolds(firm, firm.hold_until), []);
  const unconfirmed = { ...firm, checks: buildPendingChecks(["BANK_NAME_MATCH"]) };
  assert.deepEqual(
    listHolds(unconfirmed, firm.hold_until).map(({ reason, until }) => [reason, until]),
    [["bank_not_verified", null]],
  );
});

const outcomes = ["pass", "fail", "pending", null] as const;

test("an account may be paid only on the bank's yes about it, in every state and with every check", () => {
  const waiting: readonly FirmState[] = ["suspended", "rejected", "offboarded"];
  const build = (check: FirmCheck["check"], outcome: (typeof outcomes)[number]) =>
    outcome === null ? [] : [{ ...passed(check), outcome }];
  for (const connection_state of firmStates) {
    for (const bankSays of outcomes) {
      for (const flagged of outcomes) {
        for (const account_id of ["acc_1", null]) {
          for (const account_confirmed_at of account_id === null ? [null] : [now, null]) {
            const checks = [
              ...build("BANK_NAME_MATCH", bankSays),
              ...build("FLAGGED_IEC", flagged),
            ];
            const held = { hold_reason: null, hold_until: null };
            const firm = { connection_state, checks, account_id, account_confirmed_at, ...held };
            const isConfirmed = bankSays === "pass" && account_confirmed_at !== null;
            const mustWait =
              waiting.includes(connection_state) ||
              flagged === "fail" ||
              (account_id !== null && !isConfirmed);
            assert.equal(listHolds(firm, now).length > 0, mustWait, JSON.stringify(firm));
          }
        }
      }
    }
  }
});

test("only an authorized firm with a mandate in force may trade", () => {
  const mandate = {
    signatory_name: "R. Mehta",
    reference: "M-1",
    valid_until: "2026-12-31T23:59:59.000+05:30",
  };
  for (const state of firmStates) {
    const refusal = findTradingRefusal({ connection_state: state, mandate }, now);
    assert.equal(refusal === undefined, state === "authorized", state);
  }
  const later = new Date("2027-01-01T00:00:00Z");
  const ended = findTradingRefusal({ connection_state: "authorized", mandate }, later);
  assert.equal(ended?.detail?.["reason"], "mandate_expired");
  assert.equal(
    findTradingRefusal({ connection_state: "authorized", mandate: null }, later),
    undefined,
  );
});
