// One item that fails late among good ones of another desk: only the offender fails, in a set of
// orders, a batch, a set of cancels and a set of quotes. The same set without splitting is the control.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { OrderCommand } from "../../src/trading/decide-orders.ts";
import { placeOrders } from "../../src/trading/place-orders.ts";
import { parseIntent } from "../../src/trading/order-rules.ts";
import { wasRolledBack, workInHalves } from "../../src/platform/postgres/split.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { payIn } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { hold, poison, someoneWaits } from "../support/poison.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";
import { openBookSessions } from "../../src/trading/book-session.ts";

const face = 25_000_000;
const six = [{}, {}, {}, {}, {}, {}];

const buildSell = (scripNo: string) => ({ side: "sell", scrip_no: scripNo });

/** What the calls answer that arrive while nothing can be matched, so that they are one set. */
async function together<Result>(service: Service, ask: () => Promise<Result>[]): Promise<Result[]> {
  const held = await hold(service, "select from match_locks for update");
  const asked = ask();
  await someoneWaits(service);
  await held.letGo();
  return await Promise.all(asked);
}

async function twoDealers(t: TestContext) {
  const service = await startService(t);
  const good = await dealer(service, six);
  const bad = await dealer(service, six);
  return { service, good, bad };
}

const sellAll = ({ post }: Dealer, scripNos: readonly string[]) =>
  scripNos.map(async (scripNo) => await post("/v1/orders", buildSell(scripNo), 0));

/** Makes the books say that the house owns a credit, whoever holds it. */
async function giveToHouse({ ctx }: Service, scripNo: string): Promise<void> {
  await ctx.db.pool.query(
    "insert into credit_owners (environment, scrip_no, account) values ('sandbox', $1, 'house_credits')",
    [scripNo],
  );
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

test("of coalesced orders only the one whose rows the database refuses fails", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  await poison(service, "settlement_legs", `new.scrip_no = '${bad.scripNo}'`);
  const answers = await together(service, () => [
    ...sellAll(good, good.scripNos.slice(0, 3)),
    ...sellAll(bad, [bad.scripNo]),
    ...sellAll(good, good.scripNos.slice(3)),
  ]);
  assert.deepEqual(statuses(answers), [201, 201, 201, 500, 201, 201, 201]);
  assert.equal((await bad.credit(bad.scripNo)).status, "listed");
  await assertOrdersSound(service);
});

test("of coalesced orders only the one that the books refuse fails", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  await giveToHouse(service, bad.scripNo);
  const answers = await together(service, () => [
    ...sellAll(good, good.scripNos.slice(0, 3)),
    ...sellAll(bad, bad.scripNos.slice(0, 2)),
    ...sellAll(good, good.scripNos.slice(3)),
  ]);
  assert.deepEqual(statuses(answers), [201, 201, 201, 409, 201, 201, 201, 201]);
  const detail = { reason: "credit_not_sellable", credit_status: "owner_disputed" };
  assert.deepEqual(answers[3]?.body.detail, { ...detail, scrip_no: bad.scripNo });
});

test("an amount is delivered without the credit that the books refuse", async (t) => {
  const { service, bad } = await twoDealers(t);
  await giveToHouse(service, bad.scripNo);
  const order = { side: "sell", scheme: "RODTEP", face_paise: 6 * face, firm_id: bad.firmId };
  const { body } = await bad.post("/v1/orders", order, 201);
  assert.equal(body.scrip_nos.length, 5);
  assert.ok(!body.scrip_nos.includes(bad.scripNo));
});

test("a buy gets another credit in place of one that the books refuse", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  await bad.post("/v1/orders", { ...buildSell(bad.scripNo), limit_bps: 9_840 }, 201);
  await good.post("/v1/orders", { ...buildSell(good.scripNo), limit_bps: 9_860 }, 201);
  await giveToHouse(service, bad.scripNo);
  const buyer = await dealer(service, []);
  await payIn(service, buyer.firmId, 2 * face);
  const buy = {
    side: "buy",
    scheme: "RODTEP",
    requirement_paise: face,
    limit_bps: 10_000,
    firm_id: buyer.firmId,
  };
  const { body } = await buyer.post("/v1/orders", buy, 201);
  assert.deepEqual(body.scrip_nos, [good.scripNo]);
});

test("of a batch only the order that cannot be stored fails", async (t) => {
  const { service, bad } = await twoDealers(t);
  await poison(service, "settlement_legs", `new.scrip_no = '${bad.scripNos[4]}'`);
  const orders = bad.scripNos.map(buildSell);
  const { body } = await bad.post("/v1/orders:batch", { orders }, 200);
  const results = body.results as { status: number; error: { code: string } | null }[];
  assert.deepEqual(
    results.map(({ status }) => status),
    [201, 201, 201, 201, 500, 201],
  );
  assert.equal(results[4]?.error?.code, "internal");
  assert.deepEqual([body.submitted, body.failed], [5, 1]);
  const dry = await bad.post(
    "/v1/orders:batch",
    { orders: [buildSell(bad.scripNos[4] ?? "")] },
    200,
    {
      "x-dry-run": "1",
    },
  );
  assert.equal(dry.body.results[0].status, 500);
  await assertOrdersSound(service);
});

test("of coalesced cancels only the one that cannot be stored fails", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  const rest = async ({ post, scripNos }: Dealer, many: number): Promise<string[]> => {
    const placed = scripNos
      .slice(0, many)
      .map(async (no) => await post("/v1/orders", { ...buildSell(no), limit_bps: 9_990 }, 201));
    return (await Promise.all(placed)).map(({ body }) => body.order_id as string);
  };
  const goodIds = await rest(good, 5);
  const [badId = ""] = await rest(bad, 1);
  await poison(service, "orders", `new.order_id = '${badId}'`);
  const cancel = ({ post }: Dealer, id: string) => post(`/v1/orders/${id}/cancel`, {}, 0);
  const answers = await together(service, () => [
    ...goodIds.slice(0, 3).map((id) => cancel(good, id)),
    cancel(bad, badId),
    ...goodIds.slice(3).map((id) => cancel(good, id)),
  ]);
  assert.deepEqual(statuses(answers), [200, 200, 200, 500, 200, 200]);
  assert.equal((await bad.read(badId)).status, "open");
  await assertOrdersSound(service);
});

test("of coalesced quotes only the one that cannot be stored fails", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  await poison(service, "quotes", `new.scrip_no = '${bad.scripNo}'`);
  const quote = ({ post }: Dealer, scripNo: string) => post("/v1/quote", buildSell(scripNo), 0);
  const answers = await Promise.all([
    ...good.scripNos.map((scripNo) => quote(good, scripNo)),
    quote(bad, bad.scripNo),
    ...good.scripNos.map((scripNo) => quote(good, scripNo)),
  ]);
  assert.deepEqual(statuses(answers), [...six.map(() => 200), 500, ...six.map(() => 200)]);
});

test("of coalesced calls only the one that cannot be counted fails", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  const [keyId] = bad.key.split(".");
  const { rows } = await service.ctx.db.pool.query<{ key_id: string }>(
    "select key_id from api_keys where desk_id = $1",
    [bad.deskId],
  );
  assert.ok(keyId);
  await poison(service, "usage_days", `new.key_id = '${rows[0]?.key_id}'`);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      service.send("GET", "/v1/orders", { key: n === 5 ? bad.key : good.key }),
    ),
  );
  assert.deepEqual(
    statuses(answers),
    Array.from({ length: 12 }, (_, n) => (n === 5 ? 500 : 200)),
  );
});

test("control: a set that is not split fails whole", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  await poison(service, "settlement_legs", `new.scrip_no = '${bad.scripNo}'`);
  const now = service.ctx.now();
  const buildCommand = (
    { deskId, firmId }: Dealer,
    scripNo: string,
    keyId: string,
  ): OrderCommand => {
    const request = { side: "sell", scrip_no: scripNo } as const;
    const caller = {
      keyId,
      rootKeyId: keyId,
      kind: "root",
      environment: "sandbox",
      firmId: deskId,
      deskId,
      scopes: ["*"],
      buySide: true,
      withdrawals: true,
      confined: false,
    } as const;
    const call = { caller, requestId: "test", idempotencyKey: undefined, dryRun: false };
    assert.ok(firmId);
    const intent = parseIntent(request, now);
    return { call, intent, idempotencyKey: null, request, receivedAt: now };
  };
  const readKeyId = async ({ deskId }: Dealer) => {
    const { rows } = await service.ctx.db.pool.query<{ key_id: string }>(
      "select key_id from api_keys where desk_id = $1",
      [deskId],
    );
    return rows[0]?.key_id ?? "";
  };
  const goodKey = await readKeyId(good);
  const commands = [
    ...good.scripNos.map((scripNo) => buildCommand(good, scripNo, goodKey)),
    buildCommand(bad, bad.scripNo, await readKeyId(bad)),
  ];
  const place = (part: readonly OrderCommand[], attempt: { readonly isPart: boolean }) => {
    const placing = { environment: "sandbox", rollBack: false, ...attempt } as const;
    return placeOrders(service.ctx, openBookSessions(service.book), placing, part);
  };
  const whole = await workInHalves(place, commands, () => false);
  assert.equal(whole.filter((outcome) => outcome instanceof Error).length, commands.length);
  const split = await workInHalves(place, commands, wasRolledBack);
  assert.deepEqual(
    split.map((outcome) => outcome instanceof Error),
    [...six.map(() => false), true],
  );
});

test("orders of another desk are placed while a row of the first is locked", async (t) => {
  const { service, good, bad } = await twoDealers(t);
  await payIn(service, bad.firmId, face);
  const held = await hold(
    service,
    `select from ledger_balances where balance = 'firm_cash:${bad.firmId}' for update`,
  );
  const answers = await together(service, () => [
    ...sellAll(bad, bad.scripNos.slice(0, 3)),
    ...sellAll(good, good.scripNos),
  ]);
  assert.deepEqual(statuses(answers), [500, 500, 500, ...six.map(() => 201)]);
  await held.letGo();
  const again = await Promise.all(sellAll(bad, bad.scripNos.slice(0, 3)));
  assert.deepEqual(statuses(again), [201, 201, 201]);
  await assertOrdersSound(service);
});

test("orders that wait for a row are placed when it is released in time", async (t) => {
  const { service, bad } = await twoDealers(t);
  await payIn(service, bad.firmId, face);
  const held = await hold(
    service,
    `select from ledger_balances where balance = 'firm_cash:${bad.firmId}' for update`,
  );
  const asked = sellAll(bad, bad.scripNos);
  await someoneWaits(service);
  await held.letGo();
  assert.deepEqual(
    statuses(await Promise.all(asked)),
    six.map(() => 201),
  );
});

test("a credit that was bought, withdrawn and declared elsewhere fails no orders", async (t) => {
  const { service, good } = await twoDealers(t);
  const [credit] = await stockHouse(service.ctx, [{ face_paise: face }]);
  const { scrip_no: scripNo, expires_on } = credit ?? assert.fail();
  const buyer = await dealer(service, []);
  await payIn(service, buyer.firmId, face);
  const buy = { side: "buy", scheme: "RODTEP", requirement_paise: face, firm_id: buyer.firmId };
  await buyer.post("/v1/orders", buy, 201);
  await letSettle(service);
  await buyer.post(`/v1/credits/${scripNo}/withdraw`, {}, 200);
  const next = await dealer(service, [{}, {}, {}, {}, {}]);
  const facts = { scrip_no: scripNo, scheme: "RODTEP", face_paise: face, issued_on: "2026-11-01" };
  const credits = [{ ...facts, expires_on }];
  await next.post(`/v1/firms/${next.firmId}/credits`, { credits }, 200);
  await service.work();

  const repeating = Array.from({ length: 4 }, async () => {
    const dryRun = { "x-dry-run": "1" };
    const answers: number[] = [];
    for (let n = 0; n < 10; n++) {
      answers.push((await next.post("/v1/orders", buildSell(scripNo), 0, dryRun)).status);
    }
    return answers;
  });
  const other = Array.from({ length: 100 }, async (_, n) => {
    const order = { ...buildSell(good.scripNos[n % 6] ?? ""), limit_bps: 9_990 };
    return (await good.post("/v1/orders", order, 0)).status;
  });
  const seen = new Set(await Promise.all(other));
  assert.equal(seen.has(500), false);
  assert.deepEqual(new Set((await Promise.all(repeating)).flat()), new Set([200]));

  const orders = [...next.scripNos.map(buildSell), buildSell(scripNo)];
  const { body } = await next.post("/v1/orders:batch", { orders }, 200);
  assert.deepEqual([body.submitted, body.failed], [6, 0]);
  await assertOrdersSound(service);
});
