// Random deals with random ends: what happens in a world of a selling and a buying desk, step by step.

import fc from "fast-check";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { type Fee, noFee } from "../../src/kernel/money.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { resendPayout } from "../../src/payouts/send-payout.ts";
import { failSettlement } from "../../src/settlement/fail-settlements.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { attesting } from "../../src/approval-kinds.ts";
import { onLost, settlementHooks } from "../../src/hooks.ts";
import { payIn } from "./ledger.ts";
import type { Service } from "./service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  type TestDeal,
  type TestDesk,
} from "./settlements.ts";

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
/** Something that happens to the world. */
export const dealStep = fc.oneof(
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

export type DealStep = typeof dealStep extends fc.Arbitrary<infer Value> ? Value : never;

export type DealWorld = {
  readonly seller: TestDesk;
  readonly buyer: TestDesk;
  readonly made: string[];
  readonly scripNos: string[];
  /** What each client side of a leg is charged. */
  readonly fee: Fee;
  /** What was paid in ahead of deals. */
  paidIn: number;
};

export async function playStep(
  service: Service,
  world: DealWorld,
  action: DealStep,
): Promise<void> {
  const { seller, buyer, made, scripNos } = world;
  switch (action.kind) {
    case "deal": {
      const legs: TestDeal["legs"][number][] = [];
      for (const { ofHouse, ending } of action.legs) {
        const from = ofHouse && !action.toHouse ? house() : seller;
        const fees = {
          seller: from === seller ? world.fee : noFee,
          buyer: action.toHouse ? noFee : world.fee,
        };
        legs.push({ seller: from, scripNo: await addCredit(service, from, ending), fees });
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
      return await tolerated(
        failSettlement(service.ctx, operator, {
          settlementId,
          reference: "ICEGATE-9",
          settlementHooks,
          attesting: { kind: attesting },
        }),
      );
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
        await tolerated(reverseSettlement(service.ctx, namedOperator(name), command));
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

export async function openWorld(service: Service, fee = noFee): Promise<DealWorld> {
  return {
    fee,
    seller: await openTestDesk(service),
    buyer: await openTestDesk(service),
    made: [],
    scripNos: [],
    paidIn: 0,
  };
}

/** Until everybody is late who will ever be. */
export async function waitForAll(service: Service): Promise<void> {
  for (let wait = 0; wait < 4; wait++) {
    service.clock.advance({ seconds: 61 });
    await letSettle(service, 2);
  }
}
