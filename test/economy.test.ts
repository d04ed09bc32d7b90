// The economy in short: `npm run faults -- economy` is the long form.

import assert from "node:assert/strict";
import { test } from "node:test";

import { economyOptions, runEconomy } from "./faults/economy.ts";
import { assertLedgerSound } from "./support/ledger.ts";
import { startService } from "./support/service.ts";

const steps = 180;
const seed = 14;

for (const cardsMove of [false, true]) {
  test(`colluding desks gain nothing from the house while cards ${cardsMove ? "move" : "stand"}`, async (t) => {
    const service = await startService(t, economyOptions);
    const report = await runEconomy(service, { steps, seed, cardsMove });
    t.diagnostic(JSON.stringify(report, printable));
    assert.deepEqual(report.breaches, []);
    assert.deepEqual(report.faults, []);
    assert.ok(report.deals > 20, "they dealt");
    assert.ok(report.clientsLostPaise > 0n, "the house earned");
    await assertLedgerSound(service);
  });
}

test("control: a quote that binds only the scrip number lets desks gain", async (t) => {
  const service = await startService(t, economyOptions);
  const settings = { steps, seed, cardsMove: false, bindsNumbersOnly: true };
  const { breaches } = await runEconomy(service, settings);
  assert.ok(breaches.some((breach) => breach.includes("clients gained")));
});

function printable(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
