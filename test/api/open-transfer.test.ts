// A transfer that was begun may be open at customs, where it can still go through. Until customs has said
// what became of it, its money stays in escrow and its credit locked, whoever would end the deal.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { approvalKinds, attesting } from "../../src/approval-kinds.ts";
import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { registryNews } from "../../src/credits/rules.ts";
import { onLost, settlementHooks } from "../../src/hooks.ts";
import { namedOperator, operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { attestSubjects, attestWithApproval, findAttestations } from "../../src/outside/attest.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { setOutage } from "../../src/outside/ask.ts";
import type { transferOutcomes } from "../../src/outside/question-rules.ts";
import { countWaiting } from "../../src/overview/store.ts";
import { failSettlement } from "../../src/settlement/fail-settlements.ts";
import { listSettlementQueue } from "../../src/settlement/read-settlements.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { initiateAsHouse } from "../../src/settlement/tasks.ts";
import { appliers } from "../../src/workers.ts";
import { asOwner } from "../support/database.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  listHoldings,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
  readSettlement,
  type TestDesk,
} from "../support/settlements.ts";
import { dealBetween, openParties, say } from "../support/task-parties.ts";

const environment = "live";

/** The database refuses what the code must not do: without its trigger the code is judged by itself. */
async function startUnguarded(t: TestContext): Promise<Service> {
  const service = await startService(t);
  await asOwner(service.ctx.db, async (owner) => {
    await owner.query("drop trigger answered_by_customs on settlement_legs");
  });
  return service;
}

type LiveDeal = {
  readonly seller: TestDesk;
  readonly buyer: TestDesk;
  readonly scripNo: string;
  readonly settlementId: string;
};

async function deal(service: Service, isPaid = true): Promise<LiveDeal> {
  const seller = await openTestDesk(service, environment);
  const buyer = await openTestDesk(service, environment);
  if (isPaid) await payIn(service, buyer.firmId, buyerPaise, environment);
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo }];
  const settlementId = await makeDeal(service, { environment, buyer, legs });
  return { seller, buyer, scripNo, settlementId };
}

/** The house has initiated the transfer, as its holder's mandate says. */
async function begin({ ctx }: Service, { settlementId }: LiveDeal): Promise<void> {
  const initiated = { settlementId, reference: "ICEGATE-0", settlementHooks };
  await initiateAsHouse(ctx, operator, initiated);
}

async function saysCustoms(
  service: Service,
  { settlementId }: LiveDeal,
  outcome: (typeof transferOutcomes)[number],
): Promise<void> {
  const seen = [{ subjectId: settlementId, answer: { outcome }, reference: "ICEGATE-1" }];
  await attestSubjects(service.ctx, operator, { kind: "credit_transfer", seen, appliers });
}

async function assertUntouched(service: Service, made: LiveDeal, note?: string): Promise<void> {
  const { seller, buyer, scripNo, settlementId } = made;
  const settlement = await readSettlement(service, buyer, settlementId);
  assert.equal(settlement.status, "transfer_initiated", note);
  assert.equal(settlement.sides[0].legs[0].status, "to_accept", note);
  const { available_paise, escrow_paise } = await readBalance(service, buyer, environment);
  assert.deepEqual([available_paise, escrow_paise], [0, buyerPaise], note);
  const held = [{ firm_id: seller.firmId, state: "in_settlement" }];
  assert.deepEqual(await listHoldings(service, scripNo), held, note);
  assert.deepEqual(await listPayouts(service, seller), [], note);
}

test("a deadline that passes while a transfer is pending refunds nobody, and customs' answer settles", async (t) => {
  const service = await startUnguarded(t);
  const made = await deal(service);
  const { seller, buyer, scripNo, settlementId } = made;
  await begin(service, made);
  await service.work();
  assert.equal((await readSettlement(service, buyer, settlementId)).late, false);

  service.clock.advance({ days: 30 });
  await service.work();
  await assertUntouched(service, made);
  for (const side of [seller, buyer]) {
    assert.equal((await readSettlement(service, side, settlementId)).late, true);
  }
  const young = await deal(service);
  await begin(service, young);
  await service.work();
  const queue = await listSettlementQueue(service.ctx, { environment, limit: 10 });
  assert.deepEqual(
    queue.map((row) => [row.settlement_id, row.late, row.waiting_on]),
    [
      [settlementId, true, "buyer"],
      [young.settlementId, false, "buyer"],
    ],
  );
  const now = service.ctx.now();
  const counted = { environment, now, dayEnd: now, most: 10 } as const;
  assert.equal((await countWaiting(service.ctx.db, counted)).settlements_late, 1);

  await saysCustoms(service, made, "transferred");
  await service.work();
  const settled = await readSettlement(service, buyer, settlementId);
  assert.deepEqual([settled.status, settled.late], ["settled", false]);
  assert.equal((await listHoldings(service, scripNo))[0]?.firm_id, buyer.firmId);
  assert.equal((await listPayouts(service, seller)).length, 1);
  await assertLedgerSound(service);
});

/** Whoever may end a deal without having asked customs. */
const paths = {
  "the clock": async (service: Service) => {
    service.clock.advance({ days: 30 });
    await service.workOn(["deadlines"]);
  },
  "the operator": async (service: Service, { settlementId }: LiveDeal) => {
    const failing = { settlementId, reference: undefined, settlementHooks };
    await failSettlement(service.ctx, operator, { ...failing, attesting: { kind: attesting } });
  },
  "money that does not come": async (service: Service, { settlementId }: LiveDeal) => {
    const answer = { arrived: false, reference: null };
    const seen = [{ subjectId: settlementId, answer, reference: "CALL-1" }];
    await attestSubjects(service.ctx, operator, { kind: "deal_funding", seen, appliers });
  },
  "a reversal": async (service: Service, { settlementId }: LiveDeal) => {
    const command = { settlementId, reason: "a mistake" };
    await reverseSettlement(service.ctx, namedOperator("asha"), command);
    await reverseSettlement(service.ctx, namedOperator("ravi"), command);
  },
  "the seller leaves": async ({ send }: Service, { seller }: LiveDeal) => {
    const path = `/v1/firms/${seller.firmId}/offboard`;
    await send("POST", path, { key: seller.key, body: { mode: "drain" } });
  },
  "the buyer leaves": async ({ send }: Service, { buyer }: LiveDeal) => {
    const path = `/v1/firms/${buyer.firmId}/offboard`;
    await send("POST", path, { key: buyer.key, body: { mode: "drain" } });
  },
  "the desk's step of the sandbox": async ({ send }: Service, made: LiveDeal) => {
    const path = `/v1/sandbox/settlements/${made.settlementId}/advance`;
    await send("POST", path, { key: made.seller.key, body: {} });
  },
  ...Object.fromEntries(
    registryNews.map((news) => [
      `news that customs does this: ${news}`,
      async ({ ctx }: Service, { scripNo }: LiveDeal) => {
        const heard = [{ scripNo, news, reason: "notice 7" }];
        await applyRegistryNews(ctx, operator, { environment, news: heard, onLost });
      },
    ]),
  ),
} satisfies Record<string, (service: Service, made: LiveDeal) => Promise<void>>;

/** The state may refuse it; anything else is a fault. */
async function tolerate(taking: Promise<void>): Promise<void> {
  await taking.catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
}

const states = ["pending", "funded", "transfer_initiated", "settled", "failed"] as const;

async function bringTo(service: Service, state: (typeof states)[number]): Promise<LiveDeal> {
  const customs = { environment, port: "registry" } as const;
  if (state === "funded") await setOutage(service.ctx, customs, "maintenance");
  const made = await deal(service, state !== "pending");
  if (state === "funded") await setOutage(service.ctx, customs, undefined);
  if (state === "transfer_initiated") await begin(service, made);
  if (state === "settled") await saysCustoms(service, made, "transferred");
  if (state === "failed") await saysCustoms(service, made, "nothing_pending");
  return made;
}

test("in no state does anybody end a transfer that may be open, or give both sides the same thing", async (t) => {
  for (const [path, take] of Object.entries(paths)) {
    await t.test(path, async (t) => {
      const service = await startUnguarded(t);
      for (const state of states) {
        const made = await bringTo(service, state);
        const { buyer, seller, scripNo, settlementId } = made;
        const { status } = await readSettlement(service, buyer, settlementId);
        assert.equal(status, state);
        await tolerate(take(service, made));
        if (state === "transfer_initiated") await assertUntouched(service, made, path);
        const { posted_paise, escrow_paise } = await readBalance(service, buyer, environment);
        const [holding] = await listHoldings(service, scripNo);
        const hasMoney = Number(posted_paise) > 0 && state !== "pending";
        const hasCredit = holding?.firm_id === buyer.firmId;
        assert.equal(hasMoney && hasCredit, false, `${path} in ${state}: the buyer has both`);
        const paid = await listPayouts(service, seller);
        const keeps = holding?.firm_id === seller.firmId;
        assert.equal(
          paid.some((row) => row.status !== "returned") && keeps,
          false,
          `${path} in ${state}`,
        );
        assert.ok(Number(escrow_paise) <= buyerPaise);
      }
      await assertLedgerSound(service);
    });
  }
});

test("the database ends no live transfer without what customs said, nor against it", async (t) => {
  const service = await startService(t);
  const made = await bringTo(service, "transfer_initiated");
  const end = async (state: "delivered" | "failed") =>
    await service.ctx.db.pool.query(
      `update settlement_legs set state = $2, reason = case $2 when 'failed' then 'timeout' end,
        answered_at = now()
      where settlement_id = $1`,
      [made.settlementId, state],
    );
  for (const state of ["failed", "delivered"] as const) {
    await assert.rejects(end(state), /customs has not said what became of/);
  }
  await assertUntouched(service, made);
  await service.ctx.db.pool.query(
    `update questions set state = 'answered', answer = '{"outcome": "transferred"}',
      as_of = now(), answered_by = 'asha'
    where subject_id = $1`,
    [`${made.settlementId}:0`],
  );
  await assert.rejects(end("failed"), /customs has not said what became of/);
});

test("whether nothing was pending takes a reference, and two people from a crore of face", async (t) => {
  const service = await startService(t);
  const made = await bringTo(service, "transfer_initiated");
  const { settlementId, buyer, seller, scripNo } = made;
  const fail = async (name: string, reference: string | undefined, twoFromPaise?: number) =>
    await failSettlement(service.ctx, namedOperator(name), {
      settlementId,
      reference,
      settlementHooks,
      attesting: { kind: attesting, ...(twoFromPaise && { twoFromPaise }) },
    });
  await assert.rejects(
    fail("asha", undefined),
    (error) => error instanceof Failure && error.detail?.["reason"] === "transfer_open",
  );
  assert.equal((await fail("asha", "ICEGATE-7", 1_000)).outcome, "proposed");
  await assertUntouched(service, made);
  assert.equal((await fail("ravi", "ICEGATE-7", 1_000)).outcome, "failed");
  const ended = await readSettlement(service, buyer, settlementId);
  assert.deepEqual([ended.status, ended.reason], ["failed", "by_operator"]);
  assert.equal((await readBalance(service, buyer, environment)).available_paise, buyerPaise);
  const free = [{ firm_id: seller.firmId, state: "listed" }];
  assert.deepEqual(await listHoldings(service, scripNo), free);
  await assertLedgerSound(service);
});

test("what customs showed before a transfer was begun ends it for nobody", async (t) => {
  const service = await startUnguarded(t);
  const { ctx, clock } = service;
  const made = await dealBetween(service, await openParties(service));
  clock.advance({ days: 3 });
  const observe = (outcome: (typeof transferOutcomes)[number], asOf?: Date) => [
    {
      subjectId: made.settlementId,
      answer: { outcome },
      reference: "ICEGATE-1",
      ...(asOf && { asOf }),
    },
  ];
  const propose = async (outcome: (typeof transferOutcomes)[number]) => {
    const seen = observe(outcome);
    const attestations = await findAttestations(ctx, { kind: "credit_transfer", seen });
    const twoFromPaise = 1_000;
    const proposed = await attestWithApproval(ctx, namedOperator("asha"), {
      attestations,
      kind: attesting,
      twoFromPaise,
    });
    return proposed.outcome === "proposed" ? proposed.approval_id : assert.fail();
  };
  const approve = async (approvalId: string) =>
    await approveProposal(ctx, namedOperator("ravi"), { approvalId, kinds: approvalKinds });

  const absent = await propose("nothing_pending");
  const seenAt = ctx.now();
  clock.advance({ seconds: 60 });
  await say(service, made.seller, made, { kind: "initiate" });
  await assert.rejects(approve(absent), /the facts have changed/);
  await assertUntouched(service, made, "approved after the holder has begun");
  const seen = observe("nothing_pending", seenAt);
  await assert.rejects(
    attestSubjects(ctx, operator, { kind: "credit_transfer", seen, appliers }),
    (error) => error instanceof Failure && error.detail?.["reason"] === "begun_since",
  );
  await assertUntouched(service, made, "an earlier report");

  const transferred = await propose("transferred");
  await say(service, made.buyer, made, { kind: "accept" });
  await approve(transferred);
  const { status } = await readSettlement(service, made.buyer, made.settlementId);
  assert.equal(status, "settled", "what was transferred stays so");
  await assertLedgerSound(service);
});

test("a late deal of which customs shows nothing pending ended by its deadline", async (t) => {
  const service = await startService(t);
  const made = await bringTo(service, "transfer_initiated");
  service.clock.advance({ days: 30 });
  await service.work();
  await saysCustoms(service, made, "nothing_pending");
  const { status, reason, late } = await readSettlement(service, made.buyer, made.settlementId);
  assert.deepEqual([status, reason, late], ["failed", "timeout", false]);
  await assertLedgerSound(service);
});

test("a customs outage keeps a funded deal, and its deadline ends it while nothing was begun", async (t) => {
  const service = await startService(t);
  await setOutage(service.ctx, { environment, port: "registry" }, "maintenance");
  const made = await deal(service);
  service.clock.advance({ days: 30 });
  await service.work();
  assert.equal((await readSettlement(service, made.buyer, made.settlementId)).status, "funded");
  await setOutage(service.ctx, { environment, port: "registry" }, undefined);
  await service.workOn(["deadlines"]);
  const { status, reason } = await readSettlement(service, made.buyer, made.settlementId);
  assert.deepEqual([status, reason], ["failed", "timeout"]);
});
