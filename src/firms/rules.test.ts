import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { identityChecks } from "../outside/inquiry-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  accountNoProblem,
  cinProblem,
  emailProblem,
  type FirmCheck,
  firmLifecycle,
  firmStates,
  type FirmState,
  gstinCheckCharacter,
  gstinProblem,
  holdsOf,
  iecProblem,
  ifscProblem,
  internationalPhone,
  mergeChecks,
  panProblem,
  pendingChecks,
  refusalToTrade,
  syntheticPan,
  verdictOf,
} from "./rules.ts";

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

test("the table has no move that is not published here", () => {
  assert.deepEqual(Object.keys(firmLifecycle.moves).toSorted(), Object.keys(published).toSorted());
});

test("what the registry, the clock and the operator do is never an allowed action", () => {
  for (const state of firmStates) {
    const actions = allowedActions(firmLifecycle, state);
    for (const action of ["vouch", "require_action", "reject", "confirm", "finish"]) {
      assert.ok(!actions.includes(action), `${state} allows ${action}`);
    }
  }
  assert.deepEqual(allowedActions(firmLifecycle, "offboarded"), []);
});

test("a PAN has its form and the kind of its holder", () => {
  for (const pan of ["AAPFU0939F", "AAGCB7383J"]) assert.equal(panProblem(pan), undefined);
  for (const pan of ["AAPXU0939F", "AAPFU939F", "aapfu0939f", "AAPFU0939F1", "", "AAPFU0939\n"]) {
    assert.ok(panProblem(pan), pan);
  }
});

test("an IEC is the firm's own PAN, or ten digits", () => {
  assert.equal(iecProblem("AAGCB7383J", "AAGCB7383J"), undefined);
  assert.equal(iecProblem("0388012345", "AAGCB7383J"), undefined);
  assert.ok(iecProblem("AAPFU0939F", "AAGCB7383J")?.includes("equal the PAN"));
  assert.ok(iecProblem("038801234", "AAGCB7383J"));
});

test("the known GSTINs pass with their PAN and fail with another", () => {
  assert.equal(gstinProblem("27AAPFU0939F1ZV", "AAPFU0939F"), undefined);
  assert.equal(gstinProblem("29AAGCB7383J1Z4", "AAGCB7383J"), undefined);
  assert.ok(gstinProblem("29AAGCB7383J1Z4", "AAPFU0939F")?.includes("3 to 12"));
  assert.ok(gstinProblem("29AAGCB7383J1Z5", "AAGCB7383J")?.includes("check character"));
  assert.ok(gstinProblem("29AAGCB7383J0Z4", "AAGCB7383J"));
});

const gstinBody = fc
  .tuple(
    fc.integer({ min: 1, max: 38 }),
    fc.string(),
    fc.constantFrom(..."123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("")),
  )
  .map(
    ([state, seed, entity]) => `${String(state).padStart(2, "0")}${syntheticPan(seed)}${entity}Z`,
  );
const digits36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");

test("exactly one of the 36 check characters fits a GSTIN", () => {
  fc.assert(
    fc.property(gstinBody, (body) => {
      const fitting = digits36.filter((last) => gstinProblem(`${body}${last}`, null) === undefined);
      assert.deepEqual(fitting, [gstinCheckCharacter(body)]);
    }),
  );
});

test("one mistyped digit or letter of a PAN in a GSTIN is noticed", () => {
  fc.assert(
    fc.property(
      gstinBody,
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ min: 1, max: 35 }),
      (body, at, by) => {
        const known = body.charAt(at);
        const typed = digits36[(digits36.indexOf(known) + by) % 36] ?? "";
        const mistyped = `${body.slice(0, at)}${typed}${body.slice(at + 1)}`;
        assert.notEqual(gstinCheckCharacter(mistyped), gstinCheckCharacter(body));
      },
    ),
  );
});

test("a CIN belongs to a company", () => {
  assert.equal(cinProblem("U51909KA2015PTC082321", "AAGCB7383J"), undefined);
  assert.ok(cinProblem("U51909KA2015PTC082321", "AAPFU0939F")?.includes("companies only"));
  assert.ok(cinProblem("X51909KA2015PTC082321", "AAGCB7383J"));
});

test("bank details, email and phone are checked by form", () => {
  assert.equal(ifscProblem("HDFC0000001"), undefined);
  assert.ok(ifscProblem("HDFC1000001"));
  for (const number of ["123456789", "123456789012345678"]) {
    assert.equal(accountNoProblem(number), undefined);
  }
  for (const number of ["12345678", "1234567890123456789", "12345678X"]) {
    assert.ok(accountNoProblem(number), number);
  }
  assert.equal(emailProblem("accounts@acme.example"), undefined);
  for (const email of ["acme", "a@b", "a b@c.in", "a@b..in", "@c.in"])
    assert.ok(emailProblem(email));
  assert.equal(internationalPhone("98200 12345"), "+919820012345");
  assert.equal(internationalPhone("022-2345-6789"), "+912223456789");
  assert.equal(internationalPhone("+44 20 7946 0000"), "+442079460000");
  for (const phone of ["12345", "1234567890", "+0123456789", "call me"]) {
    assert.equal(internationalPhone(phone), undefined, phone);
  }
});

const passed = (check: FirmCheck["check"]): FirmCheck => ({
  check,
  outcome: "pass",
  cure: null,
  as_of: "2026-11-15T14:45:00.000+05:30",
});

test("verification waits for every answer, and a flagged code outweighs everything", () => {
  const asked = pendingChecks(identityChecks({ gstin: null }));
  assert.deepEqual(
    asked.map(({ check }) => check),
    ["IEC_ACTIVE", "PAN_MATCH", "FLAGGED_IEC"],
  );
  assert.equal(verdictOf(asked), "pending");
  const all = asked.map(({ check }) => passed(check));
  assert.equal(verdictOf(all), "confirm");
  const panFails = mergeChecks(all, [{ ...passed("PAN_MATCH"), outcome: "fail" }]);
  assert.equal(verdictOf(panFails), "require_action");
  const flagged = mergeChecks(panFails, [{ ...passed("FLAGGED_IEC"), outcome: "fail" }]);
  assert.equal(verdictOf(flagged), "reject");
  assert.equal(verdictOf(mergeChecks(flagged, pendingChecks(["BANK_NAME_MATCH"]))), "pending");
});

test("a hold ends by itself, and an account that the bank did not confirm is not paid", () => {
  const firm = {
    connection_state: "authorized" as FirmState,
    checks: [passed("BANK_NAME_MATCH")],
    hold_reason: "beneficiary_change",
    hold_until: new Date(now.getTime() + 1),
  };
  assert.deepEqual(
    holdsOf(firm, now).map(({ reason }) => reason),
    ["beneficiary_change"],
  );
  assert.deepEqual(holdsOf(firm, firm.hold_until), []);
  const unconfirmed = { ...firm, checks: pendingChecks(["BANK_NAME_MATCH"]) };
  assert.deepEqual(
    holdsOf(unconfirmed, firm.hold_until).map(({ reason, until }) => [reason, until]),
    [["bank_not_verified", null]],
  );
});

test("only an authorized firm with a mandate in force may trade", () => {
  const mandate = {
    signatory_name: "R. Mehta",
    reference: "M-1",
    valid_until: "2026-12-31T23:59:59.000+05:30",
  };
  for (const state of firmStates) {
    const refusal = refusalToTrade({ connection_state: state, mandate }, now);
    assert.equal(refusal === undefined, state === "authorized", state);
  }
  const later = new Date("2027-01-01T00:00:00Z");
  const ended = refusalToTrade({ connection_state: "authorized", mandate }, later);
  assert.equal(ended?.detail?.["reason"], "mandate_expired");
  assert.equal(refusalToTrade({ connection_state: "authorized", mandate: null }, later), undefined);
});
