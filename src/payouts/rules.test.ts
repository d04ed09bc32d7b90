import assert from "node:assert/strict";
import { test } from "node:test";

import { simulatePayout, makeSimulatedUtr } from "../outside/bank-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import { utrForm } from "../kernel/ids.ts";
import {
  resolveAccount,
  findHold,
  type Payee,
  type PayoutAction,
  payoutLifecycle,
  payoutStates,
  chooseRail,
  rails,
} from "./rules.ts";

const actions = Object.keys(payoutLifecycle.moves) as PayoutAction[];

const edges: readonly [string, PayoutAction, string][] = [
  ["scheduled", "hold", "held"],
  ["held", "release", "scheduled"],
  ["scheduled", "instruct", "instructed"],
  ["instructed", "void", "scheduled"],
  ["instructed", "confirm", "paid"],
  ["instructed", "return", "returned"],
  ["paid", "bounce", "returned"],
  ["scheduled", "send", "sent"],
  ["sent", "confirm", "paid"],
  ["sent", "return", "returned"],
  ["scheduled", "recall", "returned"],
  ["held", "recall", "returned"],
];

test("a payout has twelve moves and no other, and none by its desk", () => {
  for (const state of payoutStates) {
    assert.deepEqual(allowedActions(payoutLifecycle, state), []);
    for (const action of actions) {
      const edge = edges.find(([from, by]) => from === state && by === action);
      const go = () => advance(payoutLifecycle, state, action);
      if (edge) assert.equal(go(), edge[2]);
      else assert.throws(go, Failure);
    }
  }
});

test("the amount chooses the rail", () => {
  const limits = { rtgs_from_paise: 20_000_000, imps_to_paise: 5_000_000, citation: "RBI" };
  assert.deepEqual(
    [1, 5_000_000, 5_000_001, 19_999_999, 20_000_000, 9_000_000_000].map((paise) =>
      chooseRail(paise, limits),
    ),
    ["IMPS", "IMPS", "NEFT", "NEFT", "RTGS", "RTGS"],
  );
});

const paid: Payee = {
  account: { accountId: "acc_1", ifsc: "HDFC0000001", last4: "5678" },
  holds: [],
};

test("the firm's hold comes before a missing account, and that before broken books", () => {
  const until = new Date("2026-11-16T10:00:00+05:30");
  const changed: Payee = {
    account: null,
    holds: [{ on: "payouts", reason: "beneficiary_change", until }],
  };
  const broken = { environment: "live", ledgerSound: false } as const;
  assert.deepEqual(findHold(changed, broken), { reason: "beneficiary_change", until });
  assert.deepEqual(findHold({ ...changed, holds: [] }, broken), {
    reason: "no_bank_account",
    until: null,
  });
  assert.deepEqual(findHold(paid, broken), { reason: "ledger_broken", until: null });
  assert.equal(findHold(paid, { environment: "live", ledgerSound: true }), undefined);
});

test("a sandbox firm without an account is paid all the same", () => {
  const none: Payee = { account: null, holds: [] };
  assert.equal(findHold(none, { environment: "sandbox", ledgerSound: true }), undefined);
  assert.equal(resolveAccount(none, "sandbox")?.last4, "0001");
  assert.equal(resolveAccount(none, "live"), null);
  assert.deepEqual(resolveAccount(paid, "sandbox"), paid.account);
});

test("the simulated bank gives every payment a UTR of its own", () => {
  const named = new Set<string>();
  for (const rail of rails) {
    for (let payment = 0; payment < 100; payment++) {
      const utr = makeSimulatedUtr(rail, `pay_${payment}`);
      assert.match(utr, utrForm);
      named.add(utr);
    }
  }
  assert.equal(named.size, 300);
});

test("an account ending 0000 is closed, and any other gets its money", () => {
  const facts = {
    rail: "NEFT",
    utr: "UTR000000001",
    paise: 1,
    ifsc: "HDFC0000001",
    scenario: null,
  };
  assert.equal(simulatePayout({ ...facts, last4: "0000" }).outcome, "returned");
  assert.equal(simulatePayout({ ...facts, last4: "0001" }).outcome, "paid");
});
