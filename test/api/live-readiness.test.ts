// What is missing before the first live day, by the operators' API and by `doctor --live`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { commandLine } from "../support/cli.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { openLiveMarket } from "../support/public.ts";
import { startService } from "../support/service.ts";

type Step = { step: string; done: boolean; needed: boolean; found: string; command: string };

test("what a live deal needs is missing until it is there", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const refused = await run("doctor", "--live", "--json");
  assert.equal(refused.code, 1);
  const wrong = (JSON.parse(refused.stdout) as { check: string; ok: boolean; advice: string }[])
    .filter(({ ok, check }) => !ok && check.startsWith("live "))
    .map(({ check, advice }) => [check, advice]);
  assert.deepEqual(wrong, [
    ["live people", "npx scripdesk operators add --name NAME --role admin"],
    ["live house", "npx scripdesk house set --env live"],
    ["live rate card", "npx scripdesk rates publish --env live --scheme RODTEP --preview"],
    ["live key", "npx scripdesk keys issue --firm NAME --env live"],
  ]);

  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await person.signIn()).token);
  const read = async () =>
    (await ops.send("GET", "/ops/live-readiness", { headers, expect: 200 })).body as {
      ready: boolean;
      steps: Step[];
    };
  const before = await read();
  assert.equal(before.ready, false);
  const [people] = before.steps;
  assert.deepEqual([people?.done, people?.needed], [false, false], "one admin may begin");

  await addLiveHouse(service);
  await openLiveMarket(service);
  await service.issue({ environment: "live" });
  await addPerson(service, { name: "ravi", role: "admin", by: [person] });
  const after = await read();
  assert.equal(after.ready, true);
  const done = after.steps.filter((one) => one.done).map(({ step }) => step);
  assert.deepEqual(done, ["people", "house", "rate_card", "key"]);
  const live = JSON.parse((await run("doctor", "--live", "--json")).stdout) as {
    ok: boolean;
    check: string;
  }[];
  assert.deepEqual(
    live.filter(({ ok, check }) => !ok && check.startsWith("live ")),
    [],
  );
});
