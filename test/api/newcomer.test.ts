// Whatever one desk takes of the sandbox's house, another finds a price and credits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { seedInventory } from "../../src/credits/seed-credits.ts";
import { houseFirmId } from "../../src/kernel/ids.ts";
import { shelfShareCredits } from "../../src/rates/rules.ts";
import { putCard } from "../support/dealing-house.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { payIn } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const lakh = 10_000_000;
const crore = 100 * lakh;
const shelved = 300;

function lakhs(count: number) {
  return Array.from({ length: count }, () => ({ facePaise: lakh }));
}

/** Sells these in one batch, and answers with how many the house bought. */
async function sellAll(desk: Dealer, scripNos: readonly string[]): Promise<number> {
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no, firm_id: desk.firmId }));
  const { results } = (await desk.post("/v1/orders:batch", { orders }, 200)).body;
  return results.filter(({ ok }: { ok: boolean }) => ok).length;
}

test("a sandbox desk sells the house no more than its share of the day, and a newcomer sells", async (t) => {
  const service = await startService(t);
  await putCard(service, { house_limit_paise: crore, desk_share_bps: 1_000 });
  const greedy = await dealer(service, lakhs(120));
  assert.equal(await sellAll(greedy, greedy.scripNos.slice(0, 100)), 10);
  assert.equal(await sellAll(greedy, greedy.scripNos.slice(100)), 0);
  const asked = { side: "sell", scrip_no: greedy.scripNos[119] };
  const quote = (await greedy.post("/v1/quote", asked, 200)).body;
  assert.deepEqual(quote, { no_quote: true, reason: "size_unavailable" });
  const newcomer = await dealer(service, lakhs(1));
  assert.equal(await sellAll(newcomer, newcomer.scripNos), 1);
  service.clock.advance({ days: 1 });
  assert.equal(await sellAll(greedy, greedy.scripNos.slice(100)), 10, "the next day has its share");
  await assertOrdersSound(service);
});

test("in live a desk may sell the house all of its day", async (t) => {
  const service = await startService(t);
  const terms = { house_limit_paise: crore, desk_share_bps: 1_000, state: "open" } as const;
  await putCard(service, { environment: "live", ...terms });
  const desk = await dealer(service, lakhs(20), { environment: "live" });
  assert.equal(await sellAll(desk, desk.scripNos), 20);
});

async function countShelf({ ctx }: Service): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ count: number }>(
    `select count(*)::int as count from credits
    where desk_id = $1 and state = 'listed' and scheme = 'RODTEP'`,
    [houseFirmId.sandbox],
  );
  return rows[0]?.count ?? 0;
}

test("a sandbox desk buys half of the shelf at most, a newcomer buys, and the shelf is filled again", async (t) => {
  const service = await startService(t);
  await seedInventory(service.ctx);
  const greedy = await dealer(service, []);
  await payIn(service, greedy.firmId, 10_000 * crore);
  const requirement = { side: "buy", scheme: "RODTEP", firm_id: greedy.firmId };
  for (let buys = 0; buys < 60; buys++) {
    const small = { ...requirement, requirement_paise: (1 + (buys % 40)) * 40_000_000 };
    const { status } = await greedy.post("/v1/orders", small, 0);
    if (status !== 201) break;
  }
  await greedy.post("/v1/orders", { ...requirement, requirement_paise: 40_000 * lakh }, 0);
  const left = await countShelf(service);
  assert.ok(left >= shelved - shelfShareCredits && left < shelved, `${left} are left`);
  const all = { side: "buy", scheme: "RODTEP", requirement_paise: 40_000 * lakh };
  assert.equal((await greedy.post("/v1/quote", all, 200)).body.no_quote, true);

  const newcomer = await dealer(service, []);
  const walk = { ...requirement, firm_id: newcomer.firmId, requirement_paise: 2 * lakh };
  const bought = await newcomer.post("/v1/orders", walk, 201);
  assert.equal(bought.body.status, "matched");

  await service.workOn(["shelf"]);
  assert.equal(await countShelf(service), shelved);
  await service.workOn(["shelf"]);
  assert.equal(await countShelf(service), shelved, "a full shelf stays as it is");
  await assertOrdersSound(service);
});

test("a house that was never stocked is left alone", async (t) => {
  const service = await startService(t);
  await service.workOn(["shelf"]);
  assert.equal(await countShelf(service), 0);
});
