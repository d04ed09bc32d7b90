import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { advance, allowedActions } from "../kernel/lifecycle.ts";
import {
  classify,
  cleanAnswer,
  deliveryLifecycle,
  nextDueAt,
  type PostResult,
} from "./delivery-rules.ts";

const now = new Date("2026-11-15T09:15:00Z");
const answered = (status: number, retryAfter?: string): PostResult => ({
  kind: "answered",
  status,
  retryAfter,
});

test("a delivery moves only as the table says", () => {
  const allowed = { deliver: ["pending"], give_up: ["pending"], replay: ["dead"] } as const;
  for (const state of deliveryLifecycle.states) {
    for (const [action, from] of Object.entries(allowed)) {
      const move = () => advance(deliveryLifecycle, state, action as keyof typeof allowed);
      if ((from as readonly string[]).includes(state)) move();
      else assert.throws(move, /does not allow/);
    }
    assert.deepEqual(allowedActions(deliveryLifecycle, state), state === "dead" ? ["replay"] : []);
  }
});

test("every status and every fault is transient or permanent", () => {
  for (let status = 100; status < 1_000; status++) {
    const { outcome } = classify(answered(status));
    if (status >= 200 && status < 300) assert.equal(outcome, "delivered");
    else if (status >= 400 && status < 500 && status !== 429) assert.equal(outcome, "permanent");
    else assert.equal(outcome, "transient", String(status));
  }
  for (const fault of ["timeout", "network", "tls"] as const) {
    assert.equal(classify({ kind: "failed", fault }).outcome, "transient");
  }
  assert.equal(classify({ kind: "failed", fault: "address_blocked" }).outcome, "permanent");
});

test("each delay is the schedule's plus at most a tenth, and the schedule's length bounds the attempts", () => {
  const schedule = fc.array(fc.nat({ max: 86_400 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      schedule,
      fc.nat({ max: 12 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (scheduleS, tries, chance) => {
        const due = nextDueAt(answered(500), { tries, scheduleS, now, chance });
        const delayS = scheduleS[tries];
        if (delayS === undefined) assert.equal(due, undefined);
        else {
          const waitMs = due!.getTime() - now.getTime();
          assert.ok(waitMs >= delayS * 1_000 && waitMs <= delayS * 1_100);
        }
      },
    ),
  );
});

test("Retry-After lengthens the delay on 429 and 503, up to a day, and never shortens it", () => {
  const waitS = (heard: PostResult) =>
    (nextDueAt(heard, { tries: 1, scheduleS: [0, 60], now, chance: 0 })!.getTime() -
      now.getTime()) /
    1_000;
  assert.equal(waitS(answered(429, "90")), 90);
  assert.equal(waitS(answered(503, "90")), 90);
  assert.equal(waitS(answered(503, "Sun, 15 Nov 2026 09:17:00 GMT")), 120);
  assert.equal(waitS(answered(429, "1")), 60);
  assert.equal(waitS(answered(429, "Sun, 15 Nov 2025 09:17:00 GMT")), 60);
  assert.equal(waitS(answered(429, "999999999")), 86_400);
  for (const text of ["", "soon", "-5", "1e9", "٣"]) assert.equal(waitS(answered(429, text)), 60);
  assert.equal(waitS(answered(500, "90")), 60);
});

test("any bytes of an answer become text that the database takes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 512 }), (bytes) => {
      const text = cleanAnswer(Buffer.from(bytes));
      assert.doesNotMatch(text, /\p{Cc}/u);
      assert.equal(text.isWellFormed(), true);
    }),
  );
  assert.equal(cleanAnswer(Buffer.from("ok ₹\u0000\n")), "ok ₹");
});
