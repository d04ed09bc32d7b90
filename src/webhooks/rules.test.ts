import assert from "node:assert/strict";
import { test } from "node:test";

import { advance, allowedActions } from "../kernel/lifecycle.ts";
import { dayMs } from "../kernel/time.ts";
import {
  buildDeliveryId,
  decideOnFailing,
  type SubscribedEvent,
  findUrlProblem,
  isWanted,
  isWarningDue,
  webhookLifecycle,
} from "./rules.ts";

const now = new Date("2026-11-15T09:15:00Z");
const head: SubscribedEvent = {
  event_id: "evt_1",
  sequence: 7,
  event: "credit.listed",
  firm_id: "frm_a",
  entity_type: "credit",
  entity_id: "crd_1",
  entity_version: 2,
};
const every = { webhook_id: "whk_1", firm_id: null, events: ["*"] };

test("a subscription moves only as the table says", () => {
  const allowed = {
    fail: ["active"],
    recover: ["failing"],
    disable: ["active", "failing"],
    enable: ["disabled"],
    pause: ["active", "failing"],
    resume: ["paused"],
  } as const;
  for (const state of webhookLifecycle.states) {
    for (const [action, from] of Object.entries(allowed)) {
      const move = () => advance(webhookLifecycle, state, action as keyof typeof allowed);
      if ((from as readonly string[]).includes(state)) move();
      else assert.throws(move, /does not allow/);
    }
    const own = { active: ["pause"], failing: ["pause"], disabled: ["enable"], paused: ["resume"] };
    const actions = own[state];
    assert.deepEqual(allowedActions(webhookLifecycle, state), actions);
  }
});

test("a subscription gets its events of its firms and its own pings, and no events about itself", () => {
  assert.equal(isWanted(every, head), true);
  assert.equal(isWanted({ ...every, events: ["credit.listed"] }, head), true);
  assert.equal(isWanted({ ...every, events: ["credit.expired"] }, head), false);
  assert.equal(isWanted({ ...every, firm_id: "frm_a" }, head), true);
  assert.equal(isWanted({ ...every, firm_id: "frm_b" }, head), false);
  const ping = { ...head, event: "webhook.ping", entity_type: "webhook", entity_id: "whk_1" };
  assert.equal(isWanted({ ...every, events: ["credit.listed"], firm_id: "frm_b" }, ping), true);
  assert.equal(isWanted({ ...every, webhook_id: "whk_2" }, ping), false);
  const failing = { ...ping, event: "webhook.failing" };
  assert.equal(isWanted(every, failing), false);
  assert.equal(isWanted({ ...every, webhook_id: "whk_2" }, failing), true);
});

test("a delivery's id depends on subscription and event only", () => {
  const id = buildDeliveryId("whk_1", head);
  assert.match(id, /^dlv_[0-9a-f]{26}$/);
  assert.equal(buildDeliveryId("whk_1", { ...head }), id);
  const others = [
    buildDeliveryId("whk_2", head),
    buildDeliveryId("whk_1", { ...head, event_id: "evt_2" }),
    buildDeliveryId("whk_1", { ...head, event: "credit.expired" }),
    buildDeliveryId("whk_1", { ...head, entity_id: "crd_2" }),
    buildDeliveryId("whk_1", { ...head, entity_version: 3 }),
  ];
  assert.equal(new Set([id, ...others]).size, 6);
});

test("a failing receiver is reported after one day and after four, and disabled after five", () => {
  const verdict = (days: number, warnings: number, state: "active" | "failing" | "disabled") =>
    decideOnFailing({
      state,
      warnings,
      failingSince: new Date(now.getTime() - days * dayMs),
      now,
    });
  assert.equal(verdict(0.99, 0, "active"), "nothing");
  assert.equal(verdict(1, 0, "active"), "warn");
  assert.equal(verdict(1, 1, "failing"), "nothing");
  assert.equal(verdict(3.99, 1, "failing"), "nothing");
  assert.equal(verdict(4, 1, "failing"), "warn");
  assert.equal(verdict(4, 2, "failing"), "nothing");
  assert.equal(verdict(5, 2, "failing"), "disable");
  assert.equal(verdict(5, 0, "active"), "disable");
  assert.equal(verdict(50, 0, "disabled"), "nothing");
  for (const days of [0, 0.5, 0.99, 1, 4, 5]) {
    const since = new Date(now.getTime() - days * dayMs);
    assert.equal(isWarningDue(since, now), verdict(days, 0, "active") !== "nothing");
  }
});

test("a receiver stands on no port that a browser would not fetch from", async () => {
  // The list of Node's own `fetch`, which goes by the standard; 0 is in the standard's alone.
  const file = new URL("../../node_modules/undici/lib/web/fetch/constants.js", import.meta.url);
  const { default: constants } = (await import(file.href)) as {
    readonly default: { readonly badPortsSet: ReadonlySet<string> };
  };
  const anywhere = { environment: "sandbox", permitsHost: () => true } as const;
  for (let port = 1; port <= 65_535; port++) {
    const url = `${port % 2 === 0 ? "http" : "https"}://erp.example:${port}/`;
    const isBlocked = constants.badPortsSet.has(String(port));
    const { path, problem = "" } = findUrlProblem(url, anywhere) ?? {};
    assert.equal(path, isBlocked ? "url" : undefined, url);
    assert.equal(problem.includes(` port ${port} (`), isBlocked, problem);
  }
  assert.match(findUrlProblem("http://erp.example:0/", anywhere)?.problem ?? "", / port 0 /);
});
