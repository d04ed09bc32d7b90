import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { listIdentityChecks } from "../outside/inquiry-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  findAccountNoProblem,
  findCinProblem,
  findEmailProblem,
  type FirmCheck,
  firmLifecycle,
  firmStates,
  type FirmState,
  computeGstinCheckCharacter,
  findGstinProblem,
  findIecProblem,
  findIfscProblem,
  toInternationalPhone,
  mergeChecks,
  findPanProblem,
  buildPendingChecks,
  findTradingRefusal,
  makeSyntheticPan,
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

test("a PAN has its form and the kind of its holder", () => {
  for (const pan of ["AAPFU0939F", "AAGCB7383J"]) assert.equal(findPanProblem(pan), undefined);
  for (const pan of ["AAPXU0939F", "AAPFU939F", "aapfu0939f", "AAPFU0939F1", "", "AAPFU0939\n"]) {
    assert.ok(findPanProblem(pan), pan);
  }
});

test("an IEC is the firm's own PAN, or ten digits", () => {
  assert.equal(findIecProblem("AAGCB7383J", "AAGCB7383J"), undefined);
  assert.equal(findIecProblem("0388012345", "AAGCB7383J"), undefined);
  assert.ok(findIecProblem("AAPFU0939F", "AAGCB7383J")?.includes("equal the PAN"));
  assert.ok(findIecProblem("038801234", "AAGCB7383J"));
});

test("the known GSTINs pass with their PAN and fail with another", () => {
  assert.equal(findGstinProblem("27AAPFU0939F1ZV", "AAPFU0939F"), undefined);
  assert.equal(findGstinProblem("29AAGCB7383J1Z4", "AAGCB7383J"), undefined);
  assert.ok(findGstinProblem("29AAGCB7383J1Z4", "AAPFU0939F")?.includes("3 to 12"));
  assert.ok(findGstinProblem("29AAGCB7383J1Z5", "AAGCB7383J")?.includes("check character"));
  assert.ok(findGstinProblem("29AAGCB7383J0Z4", "AAGCB7383J"));
});

const gstinBody = fc
  .tuple(
    fc.integer({ min: 1, max: 38 }),
    fc.string(),
    fc.constantFrom(..."123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("")),
  )
  .map(
    ([state, seed, entity]) =>
      `${String(state).padStart(2, "0")}${makeSyntheticPan(seed)}${entity}Z`,
  );
const digits36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");

test("exactly one of the 36 check characters fits a GSTIN", () => {
  fc.assert(
    fc.property(gstinBody, (body) => {
      const fitting = digits36.filter(
        (last) => findGstinProblem(`${body}${last}`, null) === undefined,
      );
      assert.deepEqual(fitting, [computeGstinCheckCharacter(body)]);
    }),
  );
});

test("a GSTIN with one mistyped character of its PAN is refused", () => {
  fc.assert(
    fc.property(
      gstinBody,
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ min: 1, max: 35 }),
      (body, at, by) => {
        const known = body.charAt(at);
        const typed = digits36[(digits36.indexOf(known) + by) % 36] ?? "";
        const mistyped = `${body.slice(0, at)}${typed}${body.slice(at + 1)}`;
        assert.notEqual(computeGstinCheckCharacter(mistyped), computeGstinCheckCharacter(body));
      },
    ),
  );
});

test("a CIN belongs to a company", () => {
  assert.equal(findCinProblem("U51909KA2015PTC082321", "AAGCB7383J"), undefined);
  assert.ok(findCinProblem("U51909KA2015PTC082321", "AAPFU0939F")?.includes("companies only"));
  assert.ok(findCinProblem("X51909KA2015PTC082321", "AAGCB7383J"));
});

test("bank details, email and phone are checked by form", () => {
  assert.equal(findIfscProblem("HDFC0000001"), undefined);
  assert.ok(findIfscProblem("HDFC1000001"));
  for (const number of ["123456789", "123456789012345678"]) {
    assert.equal(findAccountNoProblem(number), undefined);
  }
  for (const number of ["12345678", "1234567890123456789", "12345678X"]) {
    assert.ok(findAccountNoProblem(number), number);
  }
  assert.equal(findEmailProblem("accounts@acme.example"), undefined);
  for (const email of ["acme", "a@b", "a b@c.in", "a@b..in", "@c.in"])
    assert.ok(findEmailProblem(email));
  assert.equal(toInternationalPhone("98200 12345"), "+919820012345");
  assert.equal(toInternationalPhone("022-2345-6789"), "+912223456789");
  assert.equal(toInternationalPhone("+44 20 7946 0000"), "+442079460000");
  for (const phone of ["12345", "1234567890", "+0123456789", "call me"]) {
    assert.equal(toInternationalPhone(phone), undefined, phone);
  }
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
