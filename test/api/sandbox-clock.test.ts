import assert from "node:assert/strict";
import { test } from "node:test";

import { crore, propose } from "../support/crosses.ts";
import { mintChild } from "../support/keys.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  readSettlement,
  type TestDesk,
} from "../support/settlements.ts";

const hour = 3_600;
const day = 24 * hour;

test("a sandbox desk's clock", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const other = await openTestDesk(service);

  async function advance(advance_s: unknown, expect = 200, { key = desk.key, headers = {} } = {}) {
    const body = { advance_s };
    return (await service.send("POST", "/v1/sandbox/clock", { key, body, expect, headers })).body;
  }

  async function quote({ key, ...firm }: TestDesk) {
    const scrip_no = await addCredit(service, firm);
    const body = { side: "sell", scrip_no };
    return (await service.send("POST", "/v1/quote", { key, body, expect: 200 })).body;
  }

  async function order({ key, firmId }: TestDesk, body: object, expect: number) {
    const asked = { firm_id: firmId, ...body };
    return (await service.send("POST", "/v1/orders", { key, body: asked, expect })).body;
  }

  await t.test("a quote expires by the clock of its desk, and no other desk's", async () => {
    const own = await quote(desk);
    const others = await quote(other);
    assert.equal((await advance(119)).brought_nearer.quotes, 1);
    assert.equal((await advance(2)).brought_nearer.quotes, 1);
    const refused = await order(desk, { quote_ref: own.quote_ref, firm_id: undefined }, 409);
    assert.equal(refused.detail.reason, "quote_expired");
    await order(other, { quote_ref: others.quote_ref, firm_id: undefined }, 201);
  });

  await t.test("a resting order expires by the desk's clock", async () => {
    const expires_at = new Date(service.clock.now().getTime() + 2 * day * 1_000).toISOString();
    const terms = { side: "sell", limit_bps: 9_999, time_in_force: "GTD", expires_at };
    const placed = await Promise.all(
      [desk, other].map(async (one) => {
        return await order(one, { ...terms, scrip_no: await addCredit(service, one) }, 201);
      }),
    );
    await advance(2 * day);
    await service.work();
    const states = await Promise.all(
      [desk, other].map(async ({ key }, at) => {
        const path = `/v1/orders/${placed[at].order_id}`;
        return (await service.send("GET", path, { key, expect: 200 })).body.status;
      }),
    );
    assert.deepEqual(states, ["expired", "open"]);
  });

  await t.test(
    "an unanswered settlement reaches its deadline; one with another desk keeps its own time",
    async () => {
      const silent = await addCredit(service, desk, "0408");
      const settlementId = await makeDeal(service, {
        buyer: house(),
        legs: [{ seller: desk, scripNo: silent }],
      });
      const between = await makeDeal(service, {
        buyer: other,
        legs: [{ seller: desk, scripNo: await addCredit(service, desk, "0408") }],
      });
      await letSettle(service, 2);
      const due = (await readSettlement(service, desk, between)).due_at;
      assert.equal((await advance(60)).brought_nearer.settlements, 1);
      await service.work();
      const { status, reason } = await readSettlement(service, desk, settlementId);
      assert.deepEqual([status, reason], ["failed", "timeout"]);
      assert.equal((await readSettlement(service, desk, between)).due_at, due);
    },
  );

  await t.test(
    "a credit ages with every midnight that passes, whatever the steps, and expires",
    async () => {
      const ageing = await openTestDesk(service);
      const scripNo = await addCredit(service, ageing);
      const read = async () => {
        const path = `/v1/credits/${scripNo}`;
        return (await service.send("GET", path, { key: ageing.key, expect: 200 })).body;
      };
      const first = await read();
      // It is a quarter to three in the afternoon: the first step passes midnight, the second not.
      assert.equal((await advance(10 * hour, 200, ageing)).brought_nearer.credits, 1);
      assert.equal((await read()).days_left, first.days_left - 1);
      assert.equal((await advance(10 * hour, 200, ageing)).brought_nearer.credits, 0);
      assert.equal((await advance(4 * hour, 200, ageing)).ahead_s, day);
      assert.equal((await read()).days_left, first.days_left - 1);
      await advance(first.days_left * day, 200, ageing);
      await service.work();
      assert.equal((await read()).status, "expired");
    },
  );

  await t.test("an unanswered proposal expires", async () => {
    const proposer = await dealer(service, [{ facePaise: crore }]);
    const body = {
      kind: "block",
      side: "sell",
      firm_id: proposer.firmId,
      counterparty_iec: "AAACZ9876Z",
      scrip_nos: [proposer.scripNo],
    };
    const { cross_id } = await propose(proposer, body);
    assert.equal((await advance(day, 200, proposer)).brought_nearer.crosses, 1);
    await service.work();
    const path = `/v1/cross/${cross_id}`;
    const { body: cross } = await service.send("GET", path, { key: proposer.key, expect: 200 });
    assert.equal(cross.status, "expired");
  });

  await t.test("a hold on payouts ends by the desk's clock", async () => {
    const path = `/v1/firms/${desk.firmId}`;
    const bank = { account_no: "123456789012", ifsc: "HDFC0000001", name: "Another Name" };
    await service.send("PATCH", path, { key: desk.key, body: { bank }, expect: 200 });
    const holds = async () => {
      const { body } = await service.send("GET", path, { key: desk.key, expect: 200 });
      return body.holds.filter(({ until }: { until: string | null }) => until !== null).length;
    };
    assert.equal(await holds(), 1);
    assert.equal((await advance(day)).brought_nearer.holds, 1);
    assert.equal(await holds(), 0);
  });

  await t.test(
    "the clock shows its time, a dry run does not move it, and a reset restores it",
    async () => {
      const alone = await openTestDesk(service);
      const dry = { key: alone.key, headers: { "x-dry-run": "1" } };
      assert.equal((await advance(hour, 200, dry)).ahead_s, hour);
      const clock = await advance(hour, 200, alone);
      assert.equal(clock.ahead_s, hour);
      const ahead = Date.parse(clock.clock) - service.clock.now().getTime();
      assert.equal(ahead, hour * 1_000);
      await service.send("POST", "/v1/sandbox/reset", { key: alone.key, expect: 200 });
      assert.equal((await advance(1, 200, alone)).ahead_s, 1);
    },
  );

  await t.test("the clock moves forward only, for whole sandbox desks", async () => {
    for (const wrong of [0, -1, 1.5, 63_158_401, "1", null]) await advance(wrong, 422);
    await advance(1, 404, await openTestDesk(service, "live"));
    const minted = { kind: "sub_account", firm_id: desk.firmId };
    const { api_key: key } = await mintChild(service, desk.key, minted);
    await advance(1, 403, { key });
  });
});
