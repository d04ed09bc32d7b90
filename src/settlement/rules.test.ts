import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { plainCalendar } from "../kernel/working-days.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  computeDueAt,
  isOpen,
  legLifecycle,
  type LegState,
  legStates,
  listMoves,
  openStates,
  settlementLifecycle,
  settlementStates,
  failureReasons,
  findAwaitedParty,
  isUnpaid,
} from "./rules.ts";

type Action = keyof typeof settlementLifecycle.moves;

const actions = Object.keys(settlementLifecycle.moves) as Action[];
/** A Friday morning; the fourth Saturday follows it. */
const friday = new Date("2026-11-27T10:00:00+05:30");

/** Written out, so that the table cannot change without being meant. */
const edges: readonly [string, Action, string][] = [
  ["pending", "fund", "funded"],
  ["funded", "initiate", "transfer_initiated"],
  ["transfer_initiated", "confirm", "transfer_confirmed"],
  ["transfer_confirmed", "settle", "settled"],
  ["pending", "fail", "failed"],
  ["funded", "fail", "failed"],
  ["transfer_initiated", "fail", "failed"],
  ["settled", "reverse", "reversed"],
];

test("a settlement has eight moves and no other", () => {
  let refused = 0;
  for (const state of settlementStates) {
    for (const action of actions) {
      const edge = edges.find(([from, by]) => from === state && by === action);
      const go = () => advance(settlementLifecycle, state, action);
      if (edge) {
        assert.equal(go(), edge[2]);
        continue;
      }
      refused += 1;
      assert.throws(go, (error) => error instanceof Failure && error.code === "conflict");
    }
  }
  assert.equal(refused, settlementStates.length * actions.length - edges.length);
});

test("a leg has four moves and no other", () => {
  const legal = new Set(
    legStates.flatMap((state) =>
      (Object.keys(legLifecycle.moves) as (keyof typeof legLifecycle.moves)[]).flatMap((action) => {
        try {
          return [`${state} ${action} ${advance(legLifecycle, state, action)}`];
        } catch (error) {
          assert.ok(error instanceof Failure);
          return [];
        }
      }),
    ),
  );
  assert.deepEqual(
    legal,
    new Set([
      "pending begin transferring",
      "pending fail failed",
      "transferring deliver delivered",
      "transferring refuse failed",
    ]),
  );
});

test("no caller moves a settlement", () => {
  for (const state of settlementStates) {
    assert.deepEqual(allowedActions(settlementLifecycle, state), []);
  }
});

test("an open settlement names whom it waits for and until when, and an ended one does not", () => {
  for (const environment of ["live", "sandbox"] as const) {
    for (const state of settlementStates) {
      const dueAt = computeDueAt(state, environment, friday, plainCalendar);
      assert.equal(dueAt !== null, isOpen(state), state);
      if (dueAt) assert.ok(dueAt > friday);
      if (isOpen(state)) assert.notEqual(findAwaitedParty(state), "none");
    }
  }
  assert.deepEqual(
    openStates.map((state) => findAwaitedParty(state)),
    ["buyer", "seller", "customs"],
  );
});

test("live deadlines count working days to the close of the desk, the sandbox's count seconds", () => {
  const monday = new Date("2026-11-30T17:30:00+05:30");
  const tuesday = new Date("2026-12-01T17:30:00+05:30");
  assert.deepEqual(computeDueAt("pending", "live", friday, plainCalendar), monday);
  assert.deepEqual(computeDueAt("transfer_initiated", "live", friday, plainCalendar), tuesday);
  assert.deepEqual(
    computeDueAt("transfer_initiated", "sandbox", friday, plainCalendar),
    new Date(friday.getTime() + 30_000),
  );
});

test("a settlement waits for open legs, settles with a delivered one and fails without", () => {
  const legs = fc.array(fc.constantFrom(...legStates), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(legs, (states: LegState[]) => {
      const moves = listMoves(states.map((state) => ({ state })));
      const isWaiting = states.includes("pending") || states.includes("transferring");
      if (isWaiting) assert.deepEqual(moves, []);
      else if (states.includes("delivered")) assert.deepEqual(moves, ["confirm", "settle"]);
      else assert.deepEqual(moves, ["fail"]);
    }),
  );
});

test("a deal is unpaid when it ends while it waits for money, for want of it alone", () => {
  const counted = settlementStates.flatMap((state) =>
    failureReasons.flatMap((reason) => {
      const ends = (origin_kind: "order" | "cross") =>
        isUnpaid({ state, origin_kind }, [{ reason: null }, { reason }]);
      assert.equal(ends("cross"), false, "its seller has chosen the buyer");
      return ends("order") ? [`${state} ${reason}`] : [];
    }),
  );
  assert.deepEqual(counted, ["pending timeout", "pending not_funded"]);
});
