import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { environments } from "../kernel/caller.ts";
import { Receivers } from "./receivers.ts";
import { type OwnedReceiver, senderShares, toRoom } from "./share-rules.ts";

const { all, sandbox, desk } = senderShares;

const receiver = (id: string, deskId = "frm_a", isLive = false): OwnedReceiver => ({
  webhook_id: `whk_${id}`,
  desk_id: deskId,
  environment: isLive ? "live" : "sandbox",
});

/** Begins as much as the receiver may get. */
function fill(receivers: Receivers, to: OwnedReceiver) {
  return Array.from({ length: receivers.roomFor(to) }, () => receivers.begin(to));
}

function breakDown(receivers: Receivers, to: OwnedReceiver): void {
  const failing = Array.from({ length: 5 }, () => receivers.begin(to));
  for (const request of failing) request.end(false);
}

test("a room is never below zero, whatever it was computed from", () => {
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }));
  fc.assert(fc.property(number, (count) => toRoom(count) >= 0));
  assert.deepEqual([toRoom(-1), toRoom(0.9), toRoom(7)], [0, 0, 7]);
});

test("after a few failures a receiver gets one delivery at a time until it answers", () => {
  const receivers = new Receivers();
  const one = receiver("a");
  const start = receivers.roomFor(one);
  assert.ok(start > 1);
  breakDown(receivers, one);
  assert.equal(receivers.roomFor(one), 1);
  const request = receivers.begin(one);
  assert.equal(receivers.roomFor(one), 0);
  assert.deepEqual(receivers.full().webhookIds, ["whk_a"]);
  request.end(true);
  assert.equal(receivers.roomFor(one), start);
  assert.equal(receivers.underWay, 0);
});

test("answers that take too long open the breaker like failures, before and after they are there", () => {
  const receivers = new Receivers();
  const one = receiver("a");
  const requests = Array.from({ length: 6 }, () => receivers.begin(one));
  for (const request of requests.slice(0, 5)) request.lag();
  for (const request of requests) request.lag();
  assert.equal(receivers.roomFor(one), 0);
  for (const request of requests) request.end(true);
  assert.equal(receivers.roomFor(one), 1, "what was said late does not close it");
  const [quick] = fill(receivers, one);
  quick?.end(true);
  quick?.lag();
  assert.equal(receivers.roomFor(one), 32, "what is answered in time does");
});

test("open receivers have a small part of each share", () => {
  const receivers = new Receivers();
  const open = Array.from({ length: 400 }, (_, at) =>
    receiver(`${at}`, `frm_${at % 8}`, at % 2 === 0),
  );
  for (const one of open) breakDown(receivers, one);
  const begun = open.flatMap((one) => fill(receivers, one).map(() => one));
  const count = (is: (one: OwnedReceiver) => boolean) => begun.filter(is).length;
  for (let at = 0; at < 8; at++) {
    assert.ok(count(({ desk_id }) => desk_id === `frm_${at}`) <= desk.open);
  }
  assert.ok(count(({ environment }) => environment === "sandbox") <= sandbox.open);
  assert.equal(receivers.underWay, all.open);
  assert.equal(receivers.roomFor(receiver("healthy", "frm_0")), 32);
});

test("receivers that hang leave room for the others of their desk", () => {
  const receivers = new Receivers();
  for (let at = 0; at < 10; at++) fill(receivers, receiver(`${at}`));
  assert.ok(receivers.roomFor(receiver("good")) >= 16);
  for (let at = 10; at < 16; at++) fill(receivers, receiver(`${at}`));
  assert.ok(receivers.roomFor(receiver("good")) > 0);
});

test("a desk has no more than its share, however many receivers it has", () => {
  for (const isLive of [false, true]) {
    const receivers = new Receivers();
    for (let at = 0; at < 100; at++) fill(receivers, receiver(`${at}`, "frm_a", isLive));
    assert.equal(receivers.underWay, desk.underWay);
    assert.deepEqual(receivers.full().deskIds, ["frm_a"]);
    assert.equal(receivers.roomFor(receiver("other", "frm_b", isLive)), 32);
  }
});

test("a claim that is over has taken nothing", async () => {
  const receivers = new Receivers();
  const one = receiver("a");
  await receivers.claim(async (claim) => {
    claim.take(one, 20);
    assert.equal(claim.roomFor(one), 0);
    assert.equal(receivers.underWay, 20);
    claim.take(receiver("b"), 3)();
    assert.equal(receivers.underWay, 20);
  });
  await assert.rejects(
    receivers.claim(async (claim) => {
      claim.take(one, 20);
      throw new Error("the database is away");
    }),
  );
  assert.equal(receivers.underWay, 0);
  assert.equal(receivers.roomFor(one), 32);
  assert.equal(receivers.roomIn("sandbox"), sandbox.fresh);
});

/** What happens to a receiver: it is sent to, or the oldest of what it has under way goes on. */
type Step = { readonly at: number; readonly does: "fill" | "age" | "lag" | "succeed" | "fail" };

const step = fc.record({
  at: fc.nat(59),
  does: fc.constantFrom("fill", "fill", "age", "lag", "succeed", "fail"),
}) satisfies fc.Arbitrary<Step>;

test("whatever receivers do, no desk has more than its share, and live always finds its own", () => {
  // Few desks with many receivers: 0 and 1 are of live, the others of the sandbox.
  const receiverAt = (at: number) => receiver(`${at}`, `frm_${at % 6}`, at % 6 < 2);
  const victim = receiver("victim", "frm_victim", true);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.boolean(), (steps, endsAll) => {
      const receivers = new Receivers();
      const attempts: {
        of: OwnedReceiver;
        request: ReturnType<Receivers["begin"]>;
        age: () => void;
      }[] = [];
      const count = (is: (of: OwnedReceiver) => boolean) =>
        attempts.filter(({ of }) => is(of)).length;
      for (const { at, does } of steps) {
        const of = receiverAt(at);
        const index = attempts.findIndex((attempt) => attempt.of.webhook_id === of.webhook_id);
        const oldest = attempts[index];
        if (does === "fill") {
          for (let left: number = receivers.roomFor(of); left > 0; left--) {
            attempts.push({ of, request: receivers.begin(of), age: receivers.countFresh(of, 1) });
          }
        } else if (does === "age") attempts.forEach((attempt) => attempt.age());
        else if (does === "lag") oldest?.request.lag();
        else if (oldest) {
          oldest.request.end(does === "succeed");
          oldest.age();
          attempts.splice(index, 1);
        }
        for (let number = 0; number < 6; number++) {
          assert.ok(count(({ desk_id }) => desk_id === `frm_${number}`) <= desk.underWay);
        }
        const ofSandbox = count(({ environment }) => environment === "sandbox");
        assert.ok(ofSandbox <= sandbox.underWay);
        assert.ok(attempts.length <= all.underWay);
        assert.equal(receivers.underWay, attempts.length);
        for (const environment of environments) assert.ok(receivers.roomIn(environment) >= 0);
        // Two desks of live have at most half of everything, so a third finds its blocks.
        const liveAlone = all.underWay - sandbox.underWay;
        const ofLive = attempts.length - ofSandbox;
        if (ofLive <= liveAlone - 32) {
          attempts.forEach((attempt) => attempt.age());
          assert.equal(receivers.roomFor(victim), 32);
        }
      }
      if (!endsAll) return;
      for (const { request, age } of attempts) {
        request.end(true);
        age();
      }
      assert.equal(receivers.underWay, 0);
      assert.equal(receivers.roomIn("live"), all.fresh);
    }),
    { numRuns: 200 },
  );
});

test("what the sandbox has fresh leaves live its own part", () => {
  const receivers = new Receivers();
  for (let at = 0; at < 100; at++) {
    const of = receiver(`${at}`, `frm_${at % 5}`);
    for (let left: number = receivers.roomFor(of); left > 0; left--) {
      receivers.begin(of);
      receivers.countFresh(of, 1);
    }
  }
  assert.equal(receivers.roomIn("sandbox"), 0);
  assert.equal(receivers.roomIn("live"), all.fresh - sandbox.fresh);
  assert.equal(receivers.roomFor(receiver("victim", "frm_victim", true)), 32);
});
