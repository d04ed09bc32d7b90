import assert from "node:assert/strict";
import { test } from "node:test";

import { Failure } from "./failure.ts";
import { advance, allowedActions, type Lifecycle } from "./lifecycle.ts";

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
