// A credit that leaves its holder leaves the books with it, so that whoever holds it next can deal
// in it. Each way to leave is walked by a credit that was bought here.

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { operator } from "../../src/kernel/actor.ts";
import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { readOwners } from "../../src/ledger/read-books.ts";
import { readMigrations } from "../../src/platform/postgres/migrate.ts";
import { onLost } from "../../src/hooks.ts";
import { countRows, judge, recordPlans } from "../compat/plans.ts";
import { asOwner } from "../support/database.ts";
import { addCredits } from "../support/holdings.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

const face = 25_000_000;
const outside = { kind: "external_customs" };

/** A desk that has bought a credit of the house, and its number. */
async function boughtCredit(service: Service) {
  const [credit] = await stockHouse(service.ctx, [{ face_paise: face }]);
  const { scrip_no: scripNo, expires_on: expiresOn } = credit ?? assert.fail();
  const buyer = await dealer(service, []);
  await payIn(service, buyer.firmId, face);
  const order = { side: "buy", scheme: "RODTEP", requirement_paise: face, firm_id: buyer.firmId };
  await buyer.post("/v1/orders", order, 201);
  await letSettle(service);
  assert.equal((await buyer.credit(scripNo)).status, "listed");
  return { buyer, scripNo, expiresOn };
}

const findOwner = async ({ ctx }: Service, scripNo: string) =>
  (await readOwners(ctx.db, "sandbox", [scripNo])).get(scripNo)?.owner;

test("a credit that was bought, withdrawn and declared by another firm can be sold", async (t) => {
  const service = await startService(t);
  const { buyer, scripNo, expiresOn } = await boughtCredit(service);
  assert.deepEqual(await findOwner(service, scripNo), {
    kind: "firm_credits",
    firmId: buyer.firmId,
  });
  await buyer.post(`/v1/credits/${scripNo}/withdraw`, {}, 200);
  assert.deepEqual(await findOwner(service, scripNo), outside);

  const next = await dealer(service, []);
  const declared = {
    scrip_no: scripNo,
    scheme: "RODTEP",
    face_paise: face,
    issued_on: "2026-11-01",
  };
  const credits = [{ ...declared, expires_on: expiresOn }];
  await next.post(`/v1/firms/${next.firmId}/credits`, { credits }, 200);
  await service.work();
  const { body: sold } = await next.post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
  assert.equal(sold.status, "matched");
  await letSettle(service);
  assert.deepEqual(await findOwner(service, scripNo), { kind: "house_credits" });
  await assertOrdersSound(service);
});

test("a credit leaves the books however its holding ends", async (t) => {
  const service = await startService(t);
  const news = async (scripNo: string, heard: "cancel" | "use") => {
    const [result] = await applyRegistryNews(service.ctx, operator, {
      environment: "sandbox",
      news: [{ scripNo, news: heard, reason: "test" }],
      onLost,
    });
    assert.equal(result?.problem, null);
  };

  const used = await boughtCredit(service);
  await used.buyer.post(`/v1/credits/${used.scripNo}/use`, {}, 200);
  assert.deepEqual(await findOwner(service, used.scripNo), outside);

  const cancelled = await boughtCredit(service);
  await news(cancelled.scripNo, "cancel");
  assert.deepEqual(await findOwner(service, cancelled.scripNo), outside);

  const lost = await boughtCredit(service);
  await lost.buyer.post(
    "/v1/orders",
    { side: "sell", scrip_no: lost.scripNo, limit_bps: 9_989 },
    201,
  );
  await news(lost.scripNo, "use");
  assert.deepEqual(await findOwner(service, lost.scripNo), outside);

  const left = await boughtCredit(service);
  await left.buyer.post(`/v1/firms/${left.buyer.firmId}/offboard`, { mode: "drain" }, 200);
  await service.work();
  const expired = await boughtCredit(service);
  service.clock.advance({ days: 800 });
  await service.work();
  assert.deepEqual(await findOwner(service, expired.scripNo), outside);
  assert.deepEqual(await findOwner(service, left.scripNo), outside);
  await assertOrdersSound(service);
});

test("a credit that was never traded writes no entry when it leaves", async (t) => {
  const service = await startService(t);
  const { post, scripNo } = await dealer(service);
  await post(`/v1/credits/${scripNo}/withdraw`, {}, 200);
  const { rows } = await service.ctx.db.pool.query("select from ledger_entries");
  assert.equal(rows.length, 0);
  assert.equal(await findOwner(service, scripNo), undefined);
});

test("the check of the books finds an owner that no longer holds its credit", async (t) => {
  const service = await startService(t);
  const { buyer, scripNo } = await boughtCredit(service);
  await service.ctx.db.pool.query(
    "update credits set state = 'withdrawn' where scrip_no = $1 and firm_id = $2",
    [scripNo, buyer.firmId],
  );
  assert.equal((await checkLedger(service.ctx)).firstBreak?.check, "owner_holds");
  const other = await dealer(service, []);
  const held = { firmId: other.firmId, scheme: "RODTEP", facePaise: face } as const;
  await addCredits(service, other.deskId, [
    { ...held, expiresOn: "2028-10-01", state: "listed", scripNo },
  ]);
  const { firstBreak } = await checkLedger(service.ctx);
  assert.equal(firstBreak?.check, "owner_holds");
  assert.equal(firstBreak.expected, `firm_credits:${other.firmId}`);
});

test("the check finds former holders by scrip number, without reading all credits", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  await dealer(
    service,
    Array.from({ length: 1_500 }, () => ({})),
  );
  const { scripNo } = await boughtCredit(service);
  await asOwner(db, (owner) =>
    owner.query("update credits set state = 'withdrawn' where scrip_no = $1 or state = 'listed'", [
      scripNo,
    ]),
  );
  plans.take();
  assert.equal((await checkLedger(service.ctx)).firstBreak?.check, "owner_holds");
  const limits = { largeTable: 1_000, rowsFree: 300, rowsPerNeeded: 20, deskRows: 1_000 };
  const judged = judge(plans.take(), await asOwner(db, countRows), limits);
  const look = judged.find(({ text }) => text.includes("from credit_owners as o"));
  assert.ok(look, "the server told its plans");
  assert.match(look.nodes, /credits_ended/);
});

test("the migration removes owners that no longer hold their credits", async (t) => {
  const service = await startService(t);
  const gone = await boughtCredit(service);
  const kept = await boughtCredit(service);
  const { db } = service.ctx;
  await db.pool.query("update credits set state = 'withdrawn' where firm_id = $1", [
    gone.buyer.firmId,
  ]);
  const migrations = await readMigrations();
  const { text } =
    migrations.find(({ file }) => file.endsWith("credits-that-left.sql")) ?? assert.fail();
  await asOwner(db, (owner) => owner.query(text));
  await assertLedgerSound(service);
  assert.deepEqual(await findOwner(service, gone.scripNo), outside);
  assert.equal((await findOwner(service, kept.scripNo))?.kind, "firm_credits");
});
