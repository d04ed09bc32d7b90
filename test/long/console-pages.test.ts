// Every page of the console in a real browser: empty and full, light and dark, on a laptop and on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, chromiumMissing } from "../support/chromium.ts";
import { judgePages, listPages, looks } from "../support/console-pages.ts";
import { signInToConsole } from "../support/console.ts";
import { furnishConsole } from "../support/furnished-console.ts";
import { startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const browse = browser(fileScope());

test("every page shows what there is, and axe finds nothing serious", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service, { twoOperatorsFromPaise: 25_000_000 });
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const details = await furnishConsole(t, service, ops, person);
  const console = await signInToConsole(t, { browse, ops, person });
  const of = [looks.light, looks.dark, looks.phone];
  const faults = await judgePages(console, [...listPages, ...details], { of, isFull: true });
  assert.deepEqual(faults, []);
  assert.deepEqual(console.complaints(), []);
});

test("every page says so when there is nothing", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const console = await signInToConsole(t, { browse, ops, person });
  const of = [looks.light, looks.dark, looks.phone];
  assert.deepEqual(await judgePages(console, listPages, { of, isFull: false }), []);
  assert.deepEqual(console.complaints(), []);
});
