import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { plainCalendar } from "../kernel/working-days.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  computeDueAt,
  findLegDueAt,
  findLegEndsAt,
  isAtCustoms,
  isOpen,
  isOpenLeg,
  legLifecycle,
  type LegState,
  legStates,
  listMoves,
  settlementLifecycle,
  settlementStates,
  steps,
  failureReasons,
  findAwaitedParty,
  findFault,
  isUnpaid,
  type LegOutcome,
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

test("a leg has these moves and no other", () => {
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
      "pending fund to_initiate",
      "pending fail failed",
      "to_initiate initiate to_accept",
      "to_initiate fail failed",
      "to_accept accept transferring",
      "to_accept miss missing",
      "to_accept deliver delivered",
      "to_accept refuse failed",
      "missing initiate to_accept",
      "missing accept transferring",
      "missing deliver delivered",
      "missing refuse failed",
      "transferring deliver delivered",
      "transferring refuse failed",
    ]),
  );
});

test("nothing but customs ends a leg that may be at customs, and nothing else is ended by customs", () => {
  for (const state of legStates) {
    const ends = (["fail", "refuse", "deliver"] as const).filter((action) =>
      (legLifecycle.moves[action].from as readonly LegState[]).includes(state),
    );
    if (isAtCustoms(state)) assert.deepEqual(ends, ["refuse", "deliver"], state);
    else assert.deepEqual(ends, isOpenLeg(state) ? ["fail"] : [], state);
  }
});

test("no caller moves a settlement", () => {
  for (const state of settlementStates) {
    assert.deepEqual(allowedActions(settlementLifecycle, state), []);
  }
});

test("an open settlement names whom it waits for: of its leg that has come least far", () => {
  const legs = fc.array(fc.constantFrom(...legStates), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.constantFrom(...settlementStates), legs, (state, states) => {
      const awaited = findAwaitedParty(
        state,
        states.map((leg) => ({ state: leg })),
      );
      const has = (...some: LegState[]) => some.some((leg) => states.includes(leg));
      if (state === "pending") assert.equal(awaited, "buyer");
      else if (state === "transfer_confirmed") assert.equal(awaited, "bank");
      else if (!isOpen(state)) assert.equal(awaited, "none");
      else if (has("pending", "to_initiate", "missing")) assert.equal(awaited, "seller");
      else if (has("to_accept")) assert.equal(awaited, "buyer");
      else assert.equal(awaited, has("transferring") ? "customs" : "none");
    }),
  );
});

test("live deadlines count working days to the close of the desk, the sandbox's count seconds", () => {
  const monday = new Date("2026-11-30T17:30:00+05:30");
  const tuesday = new Date("2026-12-01T17:30:00+05:30");
  const live = steps.map((step) => computeDueAt(step, "live", friday, plainCalendar));
  assert.deepEqual(live, [monday, monday, tuesday, tuesday]);
  const sandbox = steps.map((step) => computeDueAt(step, "sandbox", friday, plainCalendar));
  assert.deepEqual(
    sandbox.map((due) => (due.getTime() - friday.getTime()) / 1_000),
    [60, 60, 30, 30],
  );
});

test("in live the clock ends a leg only while nothing may be open at customs", () => {
  const due = friday;
  for (const environment of ["live", "sandbox"] as const) {
    for (const state of legStates) {
      const leg = { state, environment, scenario: null };
      const dues = { initiate_due_at: due, accept_due_at: due, customs_due_at: due };
      const endsAt = findLegEndsAt({ ...leg, ...dues });
      const mayEnd = environment === "live" ? state === "to_initiate" : isOpenLeg(state);
      assert.equal(endsAt !== null, mayEnd && state !== "pending", `${environment} ${state}`);
      assert.equal(
        findLegDueAt({ ...leg, ...dues }) !== null,
        isOpenLeg(state) && state !== "pending",
      );
    }
  }
});

test("a settlement is initiated with its last leg, settles with a delivered one and fails without", () => {
  const legs = fc.array(fc.constantFrom(...legStates), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom("funded", "transfer_initiated"), legs, (from, states) => {
      const moves = listMoves(
        from,
        states.map((state) => ({ state })),
      );
      const first = from === "funded" ? ["initiate"] : [];
      const open = states.filter((state) => isOpenLeg(state));
      if (open.some((state) => !isAtCustoms(state))) assert.deepEqual(moves, []);
      else if (open.length > 0) assert.deepEqual(moves, first);
      else if (states.includes("delivered"))
        assert.deepEqual(moves, [...first, "confirm", "settle"]);
      else assert.deepEqual(moves, ["fail"]);
    }),
  );
});

test("in no state does anybody pay whom nothing but a claim, the clock, an outage or the house makes late", () => {
  const dueAt = friday.getTime();
  const hours = fc.constantFrom(null, -30, -1, 1, 30);
  const at = (hour: number | null) => (hour === null ? null : new Date(dueAt + hour * 3_600_000));
  const claims = fc.record({ initiated: hours, accepted: hours, missing: hours });
  const outcomes: LegOutcome[] = [
    { move: "deliver", reason: null },
    ...failureReasons.flatMap((reason): LegOutcome[] => [
      { move: "refuse", reason, absentAt: friday },
      { move: "refuse", reason },
    ]),
  ];
  const judged = { sell: 0, buy: 0, nobody: 0 };
  const seen = fc.tuple(hours, fc.nat({ max: 40 }));
  fc.assert(
    fc.property(
      fc.constantFrom(...legStates),
      fc.constantFrom(...outcomes),
      claims,
      claims,
      seen,
      fc.constantFrom("firm", "house"),
      fc.boolean(),
      hours,
      (state, outcome, said, otherwise, [since, span], initiate_by, isBuyerHouse, lookedAt) => {
        const pending_from = at(since);
        const leg = {
          state,
          environment: "live" as const,
          scenario: null,
          initiate_by,
          initiate_due_at: friday,
          accept_due_at: at(20),
          customs_due_at: at(40),
          pending_from,
          pending_until: pending_from && new Date(pending_from.getTime() + span * 3_600_000),
        };
        const toClaims = (some: typeof said) => ({
          initiated_at: at(some.initiated),
          accepted_at: at(some.accepted),
          missing_at: at(some.missing),
        });
        const now = at(lookedAt ?? 50) ?? friday;
        const seenNow = "absentAt" in outcome ? { ...outcome, absentAt: now } : outcome;
        const who = { isBuyerHouse };
        const fault = findFault({ ...leg, ...toClaims(said) }, seenNow, who);
        assert.equal(findFault({ ...leg, ...toClaims(otherwise) }, seenNow, who), fault, "claims");
        if (fault === "sell") {
          assert.equal(initiate_by, "firm");
          const isLate = pending_from !== null && pending_from > friday;
          const wasGone = pending_from === null && "absentAt" in outcome && now > friday;
          assert.ok(isLate || wasGone);
        }
        if (fault === "buy") {
          assert.ok(!isBuyerHouse && leg.pending_until && leg.accept_due_at);
          assert.ok(leg.pending_until > leg.accept_due_at);
        }
        const isOfCredit = outcome.reason !== null && outcome.reason !== "timeout";
        if (isOfCredit && !("absentAt" in outcome)) assert.equal(fault, null);
        judged[fault ?? "nobody"] += 1;
      },
    ),
    { numRuns: 3_000 },
  );
  for (const [side, count] of Object.entries(judged)) assert.ok(count > 30, `${side} ${count}`);
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
