import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "./failure.ts";
import { advance, allowedActions, type Lifecycle, readSteps, writeStep } from "./lifecycle.ts";
import { istTimestamp } from "./time.ts";

type LampState = "off" | "on" | "broken";

const lamp = {
  noun: "lamp",
  initial: ["off"],
  states: ["off", "on", "broken"],
  moves: {
    light: { from: ["off"], to: "on" },
    quench: { from: ["on"], to: "off" },
    smash: { from: ["off", "on"], to: "broken" },
    burn_out: { from: ["on"], to: "broken", by: "clock" },
  },
} as const satisfies Lifecycle<LampState>;

test("an action leads to the state of the table, and to no other", () => {
  for (const state of lamp.states) {
    for (const [action, move] of Object.entries(lamp.moves)) {
      const go = () => advance(lamp, state, action as keyof typeof lamp.moves);
      if ((move.from as readonly string[]).includes(state)) assert.equal(go(), move.to);
      else assert.throws(go, Failure, `${state} ${action}`);
    }
  }
});

test("a refusal is a conflict that says the state and what it allows", () => {
  assert.throws(
    () => advance(lamp, "on", "light"),
    (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, "conflict");
      assert.equal(error.form, "trading");
      assert.deepEqual(error.detail, {
        reason: "wrong_state",
        state: "on",
        allowed_actions: ["quench", "smash"],
      });
      return true;
    },
  );
});

test("the allowed actions are the caller's own moves only", () => {
  assert.deepEqual(allowedActions(lamp, "off"), ["light", "smash"]);
  assert.deepEqual(allowedActions(lamp, "on"), ["quench", "smash"]);
  assert.deepEqual(allowedActions(lamp, "broken"), []);
});

const instants = fc.date({
  min: new Date("1971-01-01"),
  max: new Date("2099-01-01"),
  noInvalidDate: true,
});
const steps = fc.array(
  fc.record({
    status: fc.constantFrom("pending", "transfer_initiated", "paid"),
    now: instants,
    reason: fc.oneof(fc.constant(null), fc.string(), fc.constant("two words\nand a line")),
  }),
);

test("a history is read as it was written, whatever its reasons say", () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const stored = taken.map(({ status, now, reason }) => writeStep(status, now, reason));
      const shown = taken.map(({ status, now, reason }) => {
        return { status, at: istTimestamp(now), reason };
      });
      const throughJson = JSON.parse(JSON.stringify(stored)) as string[];
      assert.deepEqual(readSteps(throughJson), shown);
    }),
  );
});

test("steps that were stored as they are shown are read beside those that are texts", () => {
  const former = { status: "pending", at: "2026-11-15T14:45:00.000+05:30", reason: null } as const;
  const now = new Date("2026-11-15T09:15:01.000Z");
  assert.deepEqual(readSteps([former, writeStep("failed", now, "by_operator")]), [
    former,
    { status: "failed", at: "2026-11-15T14:45:01.000+05:30", reason: "by_operator" },
  ]);
});
