// What becomes of the money and the credits of crosses, whichever way they end.

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { setOutage } from "../../src/outside/ask.ts";
import { operator } from "../../src/kernel/actor.ts";
import { istTimestamp } from "../../src/kernel/time.ts";
import { addWorkingDays } from "../../src/kernel/working-days.ts";
import { readCalendar } from "../../src/outside/calendar.ts";
import { onLost } from "../../src/hooks.ts";
import { commandLine } from "../support/cli.ts";
import {
  act,
  assertCrossesSound,
  crore,
  crores,
  crossThatIs,
  listCrossEvents,
  propose,
  quoteFor,
  read,
  sums,
  terms,
  traders,
} from "../support/crosses.ts";
import { putCard } from "../support/dealing-house.ts";
import { payIn } from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";
import { letSettle, listPayouts, readBalance, readSettlement } from "../support/settlements.ts";

test("funding holds a sufficient balance, and the sandbox's bank pays a shortfall, each once", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(2));
  const { seller, buyer } = parties;
  await payIn(service, buyer.firmId, sums.buyer + 1_000);
  const first = await crossThatIs(parties, "agreed");
  const funded = await act(buyer, first, "fund");
  assert.equal(funded.payment_ref, "PAY-1");
  assert.equal((await readBalance(service, buyer)).available_paise, 1_000);
  const again = await act(buyer, first, "fund");
  assert.deepEqual(again, funded, "the same payment again changes nothing");
  await act(buyer, first, "fund", { expect: 409, body: { payment_ref: "PAY-2" } });
  const second = await crossThatIs(parties, "agreed", { scrip_nos: [seller.scripNos[1]] });
  await act(buyer, second, "fund");
  const { posted_paise, available_paise, escrow_paise } = await readBalance(service, buyer);
  assert.equal(available_paise, 0);
  assert.equal(escrow_paise, 2 * sums.buyer);
  assert.equal(posted_paise, 2 * sums.buyer);
  await act(buyer, second, "fund", { expect: 422, body: { payment_ref: "no spaces, please" } });
  await assertCrossesSound(service);
});

test("a retried funding answers with the current cross", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const cross = await crossThatIs(parties, "agreed");
  await act(buyer, cross, "fund");
  await act(seller, cross, "release");
  assert.equal((await act(buyer, cross, "fund")).status, "released");
  await letSettle(service);
  assert.equal((await act(buyer, cross, "fund")).status, "settled");
});

test("deadlines release credits and refund money", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(3));
  const { seller, buyer } = parties;
  const of = (at: number) => ({ scrip_nos: [seller.scripNos[at]] });
  const proposed = await crossThatIs(parties, "proposed", of(0));
  const agreed = await crossThatIs(parties, "agreed", of(1));
  const funded = await crossThatIs(parties, "funded", of(2));
  assert.equal(funded.due_at, "2026-11-15T15:00:00.000+05:30");
  service.clock.advance({ seconds: 899 });
  await service.work();
  assert.equal((await read(buyer, funded)).status, "funded");
  service.clock.advance({ seconds: 1 });
  await service.work();
  for (const trader of [seller, buyer]) {
    assert.equal((await read(trader, proposed)).status, "expired");
    assert.equal((await read(trader, agreed)).status, "expired");
    const refunded = await read(trader, funded);
    assert.equal(refunded.status, "refunded");
    assert.equal(refunded.reason, "timeout");
    assert.equal(refunded.due_at, null);
  }
  assert.equal((await readBalance(service, buyer)).available_paise, sums.buyer);
  for (const scripNo of seller.scripNos) {
    assert.equal((await seller.credit(scripNo)).status, "listed");
  }
  const told = (await listCrossEvents(buyer)).toSorted();
  assert.deepEqual(told.slice(2), [
    "cross.expired",
    "cross.expired",
    "cross.funded",
    "cross.proposed",
    "cross.proposed",
    "cross.proposed",
    "cross.refunded",
  ]);
  await assertCrossesSound(service);
});

test("the seller may refund a funded cross, the buyer may not", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const cross = await crossThatIs(parties, "funded");
  const refused = await act(buyer, cross, "cancel", { expect: 409 });
  assert.deepEqual(refused.detail.allowed_actions, []);
  const refunded = await act(seller, cross, "cancel");
  assert.equal(refunded.status, "refunded");
  assert.equal(refunded.reason, "by_seller");
  assert.equal((await readBalance(service, buyer)).available_paise, sums.buyer);
  assert.equal((await seller.credit(seller.scripNo)).status, "listed");
  await assertCrossesSound(service);
});

test("a credit that customs takes ends its cross, and the money is refunded", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(3));
  const { seller, buyer } = parties;
  const of = (at: number) => ({ scrip_nos: [seller.scripNos[at]] });
  const agreed = await crossThatIs(parties, "agreed", of(0));
  const funded = await crossThatIs(parties, "funded", of(1));
  const proposed = await crossThatIs(parties, "proposed", of(2));
  await applyRegistryNews(service.ctx, operator, {
    environment: "sandbox",
    news: [
      { scripNo: seller.scripNos[0] ?? "", news: "suspend", reason: "a question" },
      { scripNo: seller.scripNos[1] ?? "", news: "cancel", reason: "issued in error" },
      { scripNo: seller.scripNos[2] ?? "", news: "use", reason: "used" },
    ],
    onLost,
  });
  assert.equal((await read(buyer, agreed)).status, "cancelled");
  const refunded = await read(buyer, funded);
  assert.equal(refunded.status, "refunded");
  assert.equal(refunded.reason, "credit_unavailable");
  assert.equal((await read(buyer, proposed)).status, "proposed", "it had nothing yet");
  await act(buyer, proposed, "accept", { expect: 409 });
  assert.equal((await readBalance(service, buyer)).available_paise, sums.buyer);
  assert.equal((await seller.credit(seller.scripNos[0] ?? "")).status, "suspended");
  await assertCrossesSound(service);
});

test("a cross of several credits settles the delivered ones, and shares sum to the paisa", async (t) => {
  const service = await startService(t);
  const faces = [333_333_333, 333_333_334, 333_333_335, 1];
  const parties = await traders(
    service,
    faces.map((facePaise) => ({ facePaise })),
  );
  const { seller, buyer } = parties;
  const refused = "REFUSED0409";
  await service.ctx.db.pool.query("update credits set scrip_no = $2 where scrip_no = $1", [
    seller.scripNos[1],
    refused,
  ]);
  const scripNos = [seller.scripNos[0], refused, seller.scripNos[2], seller.scripNos[3]];
  const cross = await crossThatIs(parties, "released", { scrip_nos: scripNos, price_bps: 9_777 });
  const sumLegs = async () => {
    const { rows } = await service.ctx.db.pool.query(
      `select sum(buyer_paise)::int8 as buyer, sum(seller_paise)::int8 as seller,
        sum(buyer_fee_paise + buyer_gst_paise)::int8 as buyer_fee,
        sum(seller_fee_paise + seller_gst_paise)::int8 as seller_fee,
        sum(seller_paise) filter (where state = 'delivered')::int8 as paid,
        sum(buyer_paise) filter (where state = 'delivered')::int8 as spent
      from settlement_legs
      where settlement_id = $1`,
      [cross.settlement_id],
    );
    return Object.fromEntries(Object.entries(rows[0]).map(([name, sum]) => [name, Number(sum)]));
  };
  const fee = cross.fee_paise + cross.gst_paise;
  const seen = await read(buyer, cross);
  const agreed = await sumLegs();
  assert.equal(agreed["buyer"], seen.all_in_paise);
  assert.equal(agreed["seller"], cross.all_in_paise);
  assert.deepEqual([agreed["buyer_fee"], agreed["seller_fee"]], [fee, fee]);
  await letSettle(service);
  assert.equal((await read(buyer, cross)).status, "settled");
  const { paid, spent } = await sumLegs();
  const { cross_id, sides } = await readSettlement(service, buyer, cross.settlement_id);
  assert.equal(cross_id, cross.cross_id);
  assert.equal(sides[0].settled_paise, spent);
  const [payout] = await listPayouts(service, seller);
  assert.equal(payout.amount_paise, paid);
  const { order_id: ofOrder, cross_id: ofCross } = payout.lines[0];
  assert.deepEqual([ofOrder, ofCross], [null, cross.cross_id]);
  assert.equal(
    (await readBalance(service, buyer)).available_paise,
    seen.all_in_paise - (spent ?? 0),
  );
  await assertCrossesSound(service);
});

test("a cross without a delivered credit fails, and the buyer is refunded", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const cross = await crossThatIs(parties, "funded");
  await seller.post("/v1/sandbox/scenarios", { scenario: "transfer_refused" }, 200);
  await act(seller, cross, "release");
  await letSettle(service);
  const failed = await read(buyer, cross);
  assert.equal(failed.status, "failed");
  assert.equal(failed.reason, "settlement_failed");
  assert.equal((await readBalance(service, buyer)).available_paise, sums.buyer);
  assert.equal((await seller.credit(seller.scripNo)).status, "listed");
  assert.ok((await listCrossEvents(seller)).includes("cross.failed"));
  await assertCrossesSound(service);
});

test("the house keeps both fees of a cross, their tax apart, and nothing else", async (t) => {
  const service = await startService(t);
  await crossThatIs(await traders(service), "released");
  await letSettle(service);
  const { rows } = await service.ctx.db.pool.query<{ kind: string; paise: string }>(
    `select kind, sum(posted_paise) as paise
    from ledger_balances
    where environment = 'sandbox' and firm_id is null and kind <> 'external_bank'
    group by kind
    having sum(posted_paise) <> 0
    order by kind`,
  );
  const gst = 2 * sums.gst;
  assert.deepEqual(
    rows.map(({ kind, paise }) => [kind, Number(paise)]),
    [
      ["gst_payable", gst],
      ["house_fees", 2 * sums.fee],
    ],
    "nothing is left anywhere else",
  );
});

test("the market shows no cross, and shows an order in the same credit", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(2));
  const { seller, buyer } = parties;
  const market = async () => {
    await service.work();
    const { last_deal, volume_24h_paise, deals_24h, ...rest } =
      await seller.get("/v1/market/RODTEP");
    return { last_deal, volume_24h_paise, deals_24h, rest: Object.keys(rest).length };
  };
  const before = await market();
  await crossThatIs(parties, "released");
  await letSettle(service);
  assert.deepEqual(await market(), before);
  const order = { side: "sell", scrip_no: seller.scripNos[1] };
  await seller.post("/v1/orders", order, 201);
  assert.notDeepEqual(await market(), before, "what is dealt on the market is told");
  assert.equal((await read(buyer, (await buyer.get("/v1/cross")).crosses[0])).status, "settled");
});

/** Two live desks whose firms may trade, and a market for them. */
async function liveTraders(service: Service) {
  await putCard(service, { environment: "live" });
  const environment = "live" as const;
  return {
    seller: await dealer(service, crores(2), { environment }),
    buyer: await dealer(service, [], { environment }),
  };
}

test("in live funding is a question to the bank that an operator attests", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const parties = await liveTraders(service);
  const { seller, buyer } = parties;
  const cross = await crossThatIs(parties, "agreed");
  const oneWorkingDayOn = addWorkingDays(
    service.clock.now(),
    1,
    "bank",
    await readCalendar(service.ctx.db),
  );
  assert.equal(cross.due_at, istTimestamp(oneWorkingDayOn));
  const waiting = await act(buyer, cross, "fund");
  assert.equal(waiting.status, "agreed");
  assert.equal(waiting.waiting_on, "bank");
  assert.deepEqual(await act(buyer, cross, "fund"), waiting);
  const pending = await act(buyer, cross, "fund", { expect: 409, body: { payment_ref: "PAY-2" } });
  assert.equal(pending.detail.reason, "payment_pending");
  await act(seller, cross, "release", { expect: 409 });
  const fund = async (...words: string[]) => {
    const ran = await run("crosses", "fund", cross.cross_id, ...words, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(JSON.parse(ran.stdout), { answered: 1 });
  };
  await fund("--missing", "--reference", "BOUNCED-1");
  const unpaid = await read(buyer, cross);
  assert.deepEqual(
    [unpaid.status, unpaid.waiting_on, unpaid.payment_ref],
    ["agreed", "buyer", null],
  );
  await act(buyer, cross, "fund", { body: { payment_ref: "PAY-2" } });
  const listed = await run("crosses", "list", "--env", "live", "--status", "agreed", "--json");
  assert.equal(JSON.parse(listed.stdout)[0].waiting_on, "bank");
  await fund("--reference", "HDFCR52026111500012345");
  assert.equal((await read(buyer, cross)).status, "funded");
  assert.equal((await readBalance(service, buyer, "live")).escrow_paise, sums.buyer);
  const shown = JSON.parse((await run("crosses", "show", cross.cross_id, "--json")).stdout);
  assert.equal(shown.seller_paise, sums.seller);
  assert.equal((await run("crosses", "show", "crs_none")).code, 1);
  const released = await act(seller, cross, "release");
  const { settlement_id } = released;
  await service.work();
  const words = ["confirm-transfer", settlement_id, "--reference", "ICEGATE-1"];
  for (const name of ["asha", "ravi"]) {
    assert.equal((await run("settlements", ...words, "--operator", name)).code, 0);
  }
  assert.equal((await read(seller, cross)).status, "settled");
  await assertCrossesSound(service);
});

test("during a bank outage no funding deadline passes, and a cancelled cross asks the bank nothing", async (t) => {
  const service = await startService(t);
  const parties = await liveTraders(service);
  const { seller, buyer } = parties;
  const cross = await crossThatIs(parties, "agreed");
  await act(buyer, cross, "fund");
  const other = await crossThatIs(parties, "agreed", { scrip_nos: [seller.scripNos[1]] });
  await act(buyer, other, "fund");
  await act(buyer, other, "cancel");
  const { rows } = await service.ctx.db.pool.query(
    "select subject_id from questions where state = 'open'",
  );
  assert.deepEqual(rows, [{ subject_id: cross.cross_id }]);
  const bank = { environment: "live", port: "bank" } as const;
  await setOutage(service.ctx, bank, "maintenance");
  service.clock.advance({ days: 5 });
  await service.work();
  assert.equal((await read(buyer, cross)).status, "agreed");
  await setOutage(service.ctx, bank, undefined);
  await service.work();
  assert.equal((await read(buyer, cross)).status, "expired");
  await assertCrossesSound(service);
});

test("a proposal that nobody can answer waits and expires", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller } = parties;
  const cross = await propose(seller, terms(parties, { counterparty_iec: "ZZZPZ0000Z" }));
  service.clock.advance({ seconds: 900 });
  await service.work();
  assert.equal((await read(seller, cross)).status, "expired");
  assert.deepEqual(await listCrossEvents(seller), ["cross.proposed", "cross.expired"]);
  assert.equal((await quoteFor(seller, terms(parties))).face_paise, crore);
});
