// Random deals with random ends, played through the workers of the service: whatever happens to the
// legs, the books hold, nothing is paid twice and every credit has one owner.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { addPaise } from "../../src/kernel/money.ts";
import { readOwners } from "../../src/ledger/read-books.ts";
import { accountName } from "../../src/ledger/rules.ts";
import {
  dealStep,
  type DealWorld,
  openWorld,
  playStep,
  waitForAll,
} from "../support/deal-world.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { readRuns } from "../support/random.ts";
import { type Service, startService } from "../support/service.ts";
import { house, readBalance, readSettlement } from "../support/settlements.ts";

const runs = readRuns(4);
const seed = 20_261_115;

/** What must hold of a settlement whatever happened to it. */
async function assertSettled(service: Service, world: DealWorld, counts: Map<string, number>) {
  let owedToHouse = 0;
  for (const settlementId of world.made) {
    const { body, status } = await service.send("GET", `/v1/settlements/${settlementId}`, {
      key: world.buyer.key,
    });
    const settlement =
      status === 200 ? body : await readSettlement(service, world.seller, settlementId);
    counts.set(settlement.status, (counts.get(settlement.status) ?? 0) + 1);
    assert.ok(["settled", "failed", "reversed"].includes(settlement.status), settlement.status);
    for (const side of settlement.sides) {
      assert.equal(side.settled_paise + side.undelivered_paise, side.all_in_paise);
      const delivered = side.legs.some((leg: { status: string }) => leg.status === "delivered");
      assert.equal(delivered, settlement.status !== "failed");
    }
    if (status === 200 && settlement.status === "settled") {
      owedToHouse += settlement.sides
        .filter(({ side }: { side: string }) => side === "buy")
        .reduce((sum: number, side: { settled_paise: number }) => sum + side.settled_paise, 0);
    }
  }
  const buyer = await readBalance(service, world.buyer);
  assert.deepEqual(
    [buyer.escrow_paise, buyer.pending_out_paise],
    [0, 0],
    "nothing is kept back at the end",
  );
  const { rows } = await service.ctx.db.pool.query<{ paid: number }>(
    "select coalesce(sum(paise), 0)::float8 as paid from deposits where firm_id = $1",
    [world.buyer.firmId],
  );
  assert.equal(
    addPaise(buyer.posted_paise, owedToHouse),
    world.paidIn + (rows[0]?.paid ?? 0),
    "what was paid in was spent on what was delivered, or is still there",
  );
}

/** Whoever holds a credit in the books holds it on its desk, and nobody else does. */
async function assertOwners(service: Service, world: DealWorld): Promise<void> {
  const owners = await readOwners(service.ctx.db, "sandbox", world.scripNos);
  const { rows } = await service.ctx.db.pool.query<{ scrip_no: string; firm_id: string }>(
    `select scrip_no, firm_id from credits
    where scrip_no = any($1) and state in ('listed', 'suspended')`,
    [world.scripNos],
  );
  for (const { scrip_no, firm_id } of rows) {
    const known = owners.get(scrip_no);
    assert.equal(known?.pending, false);
    const owner = accountName(known?.owner ?? { kind: "external_customs" });
    // A credit that never changed hands is still where customs has it.
    if (owner === "external_customs") continue;
    const holder = firm_id === house().firmId ? "house_credits" : `firm_credits:${firm_id}`;
    assert.equal(owner, holder);
  }
}

test("for any outcome of the legs the books balance, and every paisa and credit is in one place", async (t) => {
  const service = await startService(t);
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(dealStep, { minLength: 4, maxLength: 12 }), async (steps) => {
      const world = await openWorld(service);
      for (const action of steps) {
        await playStep(service, world, action);
        await assertLedgerSound(service);
      }
      await waitForAll(service);
      await assertLedgerSound(service);
      await assertSettled(service, world, counts);
      await assertOwners(service, world);
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
  for (const status of ["settled", "failed", "reversed"]) {
    assert.ok((counts.get(status) ?? 0) > 0, `no settlement ended ${status}`);
  }
});
