// The economy with the bank in short: `npm run faults -- economy` is the long form.

import assert from "node:assert/strict";
import { test } from "node:test";

import { economyOptions } from "./faults/economy.ts";
import { findRareKinds, runBankEconomy } from "./faults/bank-economy.ts";
import { startService } from "./support/service.ts";

const steps = 300;
const seed = 37;
const controlSteps = 2_000;

test("money stays with whom the bank's own record says, whatever colluding desks do", async (t) => {
  const service = await startService(t, economyOptions);
  const report = await runBankEconomy(service, { steps, seed });
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.losses, []);
  assert.deepEqual(report.faults, []);
  assert.deepEqual(findRareKinds(report), [], "each kind is at least one step of a hundred");
});

test("control: lines matched by any part of their text and unconfirmed names lose money", async (t) => {
  const service = await startService(t, economyOptions);
  const settings = { steps: controlSteps, seed, matchesAsBefore: true, stopsAtLoss: true };
  const { losses } = await runBankEconomy(service, settings);
  t.diagnostic(JSON.stringify(losses));
  assert.ok(losses[0] && losses[0].step <= controlSteps);
});
