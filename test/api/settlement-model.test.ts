// Random deals with random ends, played through the workers of the service: whatever happens to the
// legs, the books hold, nothing is paid twice and every credit has one owner.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { applyRegistryNews } from "../../src/credits/apply-registry-news.ts";
import { operator, operatorNamed } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { ownersOf } from "../../src/ledger/read-books.ts";
import { accountName } from "../../src/ledger/rules.ts";
import { resendPayout } from "../../src/payouts/resend-payout.ts";
import { failSettlement } from "../../src/settlement/fail-settlements.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { onLost, settling } from "../../src/settling.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  balanceOf,
  buyerPaise,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  settlementOf,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";

const runs = 12;
const seed = 20_261_115;

/** What customs makes of a credit, by the end of its number. */
const endings = ["0001", "0001", "0001", "0407", "0408", "0409"] as const;

const deal = fc.record({
  kind: fc.constant("deal" as const),
  toHouse: fc.boolean(),
  legs: fc.array(fc.record({ ofHouse: fc.boolean(), ending: fc.constantFrom(...endings) }), {
    minLength: 1,
    maxLength: 4,
  }),
});
const step = fc.oneof(
  { weight: 4, arbitrary: deal },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      seconds: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pay_in" as const), shares: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reverse" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("resend" as const), which: fc.nat() }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type World = {
  readonly seller: TestDesk;
  readonly buyer: TestDesk;
  readonly made: string[];
  readonly scripNos: string[];
  /** What was paid in ahead of deals. */
  paidIn: number;
};

async function play(service: Service, world: World, action: Step): Promise<void> {
  const { seller, buyer, made, scripNos } = world;
  switch (action.kind) {
    case "deal": {
      const legs: { seller: TestParty; scripNo: string }[] = [];
      for (const { ofHouse, ending } of action.legs) {
        const from = ofHouse && !action.toHouse ? house() : seller;
        legs.push({ seller: from, scripNo: await addCredit(service, from, ending) });
      }
      scripNos.push(...legs.map(({ scripNo }) => scripNo));
      made.push(await makeDeal(service, { buyer: action.toHouse ? house() : buyer, legs }));
      return;
    }
    case "wait":
      return await letSettle(service, action.seconds);
    case "pay_in":
      if (action.shares === 0) return;
      world.paidIn += action.shares * buyerPaise;
      return await payIn(service, buyer.firmId, action.shares * buyerPaise);
    case "fail": {
      const settlementId = made[action.which % made.length];
      if (settlementId === undefined) return;
      return await tolerated(failSettlement(service.ctx, operator, { settlementId, settling }));
    }
    case "cancel": {
      const scripNo = scripNos[action.which % scripNos.length];
      if (scripNo === undefined) return;
      const news = [{ scripNo, news: "cancel" as const, reason: "notice" }];
      await applyRegistryNews(service.ctx, operator, { environment: "sandbox", news, onLost });
      return;
    }
    case "reverse": {
      const settlementId = made[action.which % made.length];
      if (settlementId === undefined) return;
      for (const name of ["asha", "ravi"]) {
        const command = { settlementId, reason: "model" };
        await tolerated(reverseSettlement(service.ctx, operatorNamed(name), command));
      }
      return;
    }
    case "resend": {
      const { rows } = await service.ctx.db.pool.query<{ payout_id: string }>(
        "select payout_id from payouts where state = 'returned' and desk_id = $1 order by payout_id",
        [seller.deskId],
      );
      const payout = rows[action.which % Math.max(rows.length, 1)];
      if (payout) await tolerated(resendPayout(service.ctx, operator, payout.payout_id));
    }
  }
}

/** The state of the moment may refuse; anything else is a fault. */
async function tolerated(acting: Promise<unknown>): Promise<void> {
  await acting.catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
}

/** What must hold of a settlement whatever happened to it. */
async function assertSettled(service: Service, world: World, counts: Map<string, number>) {
  let owedToHouse = 0;
  for (const settlementId of world.made) {
    const { body, status } = await service.send("GET", `/v1/settlements/${settlementId}`, {
      key: world.buyer.key,
    });
    const settlement =
      status === 200 ? body : await settlementOf(service, world.seller, settlementId);
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
  const buyer = await balanceOf(service, world.buyer);
  assert.equal(buyer.escrow_paise + buyer.pending_out_paise, 0, "nothing is kept back at the end");
  const { rows } = await service.ctx.db.pool.query<{ paid: number }>(
    "select coalesce(sum(paise), 0)::float8 as paid from deposits where firm_id = $1",
    [world.buyer.firmId],
  );
  assert.equal(
    buyer.posted_paise + owedToHouse,
    world.paidIn + (rows[0]?.paid ?? 0),
    "what was paid in was spent on what was delivered, or is still there",
  );
}

/** Whoever holds a credit in the books holds it on its desk, and nobody else does. */
async function assertOwners(service: Service, world: World): Promise<void> {
  const owners = await ownersOf(service.ctx.db, "sandbox", world.scripNos);
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

test("whatever becomes of the legs, the books hold and every paisa and credit has one place", async (t) => {
  const service = await startService(t);
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const world: World = {
        seller: await openTestDesk(service),
        buyer: await openTestDesk(service),
        made: [],
        scripNos: [],
        paidIn: 0,
      };
      for (const action of steps) {
        await play(service, world, action);
        await assertLedgerSound(service);
      }
      // Until everybody is late who will ever be.
      for (let wait = 0; wait < 4; wait++) {
        service.clock.advance({ seconds: 61 });
        await letSettle(service, 2);
      }
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
