// The short form of `npm run faults -- kill`: a few kills, and a control that must lose.

import assert from "node:assert/strict";
import { test } from "node:test";

import { killUnderLoad, openSystem } from "../faults/kill.ts";

/** Where little is written at once, a kill can find nothing kept that was not answered. */
const runsMax = 3;
/** Or it comes just after PostgreSQL flushed by itself. */
const killsMax = 5;

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));

test("kill -9 under order load", async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const system = await openSystem(t);

  await t.test("loses and duplicates no acknowledged order", async () => {
    let replays = 0;
    for (let run = 0; run < runsMax && replays === 0; run++) {
      const settings = { count: 2, seed: seed + run };
      const { breaches, ...figures } = await killUnderLoad(t, system, settings);
      t.diagnostic(JSON.stringify(figures));
      assert.deepEqual(breaches, []);
      assert.ok(figures.ledgerIsSound);
      assert.deepEqual(figures.kills, { service: 1, postgres: 1 });
      assert.ok(figures.acked > 0 && figures.ambiguous > 0);
      ({ replays } = figures);
    }
    assert.ok(replays > 0, "of what nobody knew was kept, some was asked for again");
  });

  await t.test("control: loses orders where commits are not flushed", async () => {
    const defect = "commits are not flushed";
    const settings = { count: 1, victims: ["postgres"], defect } as const;
    let lost = 0;
    for (let kill = 0; kill < killsMax && lost === 0; kill++) {
      ({ lost } = await killUnderLoad(t, system, { ...settings, seed: seed + kill }));
    }
    t.diagnostic(`${lost} lost`);
    assert.ok(lost > 0);
  });
});
