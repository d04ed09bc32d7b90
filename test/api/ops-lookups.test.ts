// What an operator looks for, over all desks at once: one thing by what is known of it, lists that are
// narrowed and paged, an order to cancel, and the day.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { newId } from "../../src/kernel/ids.ts";
import { addNoticeAddress } from "../../src/notices/manage-addresses.ts";
import { crossThatIs, traders } from "../support/crosses.ts";
import { addFirm } from "../support/holdings.ts";
import { payIn } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { dealer } from "../support/orders.ts";
import { addPerson } from "../support/people.ts";
import { startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  listPayouts,
  makeDeal,
  openTestDesk,
} from "../support/settlements.ts";

const root = join(import.meta.dirname, "../..");

async function startDesk(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await asha.signIn()).token);
  const get = async (path: string, expect = 200) =>
    (await ops.send("GET", path, { headers, expect })).body;
  const post = async (path: string, expect = 200) =>
    (await ops.send("POST", path, { headers, body: {}, expect })).body;
  const find = async (text: string): Promise<{ kind: string; id: string; firm_name: string }[]> =>
    (await get(`/ops/find?q=${encodeURIComponent(text)}`)).found;
  return { service, get, post, find };
}

/** Rests: nobody asks so much. */
const resting = { side: "sell", limit_bps: 9_990 } as const;

test("find leads to a thing by its id, an IEC, a PAN, a name, a scrip number and a UTR", async (t) => {
  const { service, find } = await startDesk(t);
  const { key, deskId, firmId, scripNo, pan, post } = await dealer(service);
  const { body: order } = await post("/v1/orders", { ...resting, scrip_no: scripNo }, 201);
  const [iec] = (
    await service.ctx.db.pool.query("select iec from firms where firm_id = $1", [firmId])
  ).rows.map((row) => row.iec as string);

  const only = async (text: string, kind: string, id: string) => {
    const found = await find(text);
    assert.deepEqual(
      found.filter((one) => one.kind === kind).map((one) => one.id),
      [id],
      `${text}: ${JSON.stringify(found)}`,
    );
  };
  await only(order.order_id, "order", order.order_id);
  await only(` ${order.order_id.toUpperCase()} `, "order", order.order_id);
  await only(firmId, "firm", firmId);
  await only(deskId, "firm", deskId);
  await only(iec ?? "", "firm", firmId);
  await only(pan.toLowerCase(), "firm", firmId);
  const [credit] = await find(scripNo.toLowerCase());
  assert.equal(credit?.kind, "credit");
  await only(credit.id, "credit", credit.id);
  const { body: me } = await service.send("GET", "/v1/whoami", { key, expect: 200 });
  await only(me.key_id, "key", me.key_id);
  const refused = await service.send("GET", "/v1/orders/ord_none", { key, expect: 404 });
  await service.send("GET", "/v1/requests", { key, expect: 200 });
  const requestId = refused.headers.get("x-request-id") ?? "";
  await only(requestId, "request", requestId);

  const seller = await liveSeller(service);
  const [settlementId = ""] = await sellLive(service, seller, 24_400_000);
  const [payout] = await listPayouts(service, seller);
  const utr = "HDFCR52026111500042";
  await service.ctx.db.pool.query(
    `update payouts set state = 'sent', utr = $2, remitted_with = payout_id,
      remitted_paise = paise, look_at = null,
      account_id = (select account_id from firms where firms.firm_id = payouts.firm_id)
    where payout_id = $1`,
    [payout.payout_id, utr],
  );
  await only(settlementId, "settlement", settlementId);
  await only(payout.payout_id, "payout", payout.payout_id);
  await only(utr.toLowerCase(), "payout", payout.payout_id);
});

test("find leads to a person, an address of notices, and a firm's duty", async (t) => {
  const { service, find } = await startDesk(t);
  const { deskId, firmId, post } = await dealer(service);
  const { ctx } = service;
  const { rows } = await ctx.db.pool.query<{ operator_id: string }>(
    "select operator_id from operators",
  );
  const operatorId = rows[0]?.operator_id ?? "";
  const actor = namedOperator("asha");
  const email = "accounts@acme.example";
  const { address_id: addressId } = await addNoticeAddress(ctx, actor, { deskId, email });
  const duty = {
    scheme: "RODTEP",
    amount_paise: 5_000_000,
    due_on: "2026-12-01",
    reference: "BE 7",
  };
  const { body } = await post(`/v1/firms/${firmId}/requirements`, duty, 201);
  const kinds = {
    operator: operatorId,
    notice_address: addressId,
    requirement: body.requirement_id,
  };
  for (const [kind, id] of Object.entries(kinds)) {
    assert.deepEqual(
      (await find(id)).map((one) => [one.kind, one.id]),
      [[kind, id]],
    );
  }
});

test("a deal is found by what its buyer gave for the payment", async (t) => {
  const { service, find } = await startDesk(t);
  const { cross_id } = await crossThatIs(await traders(service), "funded");
  const settlementId = await makeDeal(service, {
    buyer: await openTestDesk(service),
    legs: [{ seller: house(), scripNo: await addCredit(service, house()) }],
  });
  await service.ctx.db.pool.query(
    "update settlements set pay_reference = 'Cheque 004711' where settlement_id = $1",
    [settlementId],
  );
  const ids = async (text: string) => (await find(text)).map(({ kind, id }) => [kind, id]);
  assert.deepEqual(await ids(`pay-${cross_id}`), [["cross", cross_id]]);
  assert.deepEqual(await ids("CHEQUE 004711"), [["settlement", settlementId]]);
});

test("a ticket is found by its text, and the thing tells who said it and who approved", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service, { twoOperatorsFromPaise: 1_000_000 });
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "settlement", by: [asha] });
  const mira = await addPerson(service, { name: "mira", role: "viewer", by: [asha] });
  const tokens: Record<string, string>[] = [];
  for (const one of [asha, ravi, mira]) tokens.push(asBearer((await one.signIn()).token));
  const as = (who: number) => ({ headers: tokens[who] ?? {} });
  const seller = await openTestDesk(service, "live");
  const buyer = await openTestDesk(service, "live");
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  await payIn(service, buyer.firmId, buyerPaise, "live");
  const settlementId = await makeDeal(service, { environment: "live", buyer, legs });
  await service.work();
  const seen = { outcome: "transferred", reference: "Icegate ticket 4711" };
  const path = `/ops/settlements/${settlementId}/confirm-transfer`;
  const proposed = (await send("POST", path, { ...as(0), body: seen, expect: 200 })).body;
  assert.equal(proposed.outcome, "proposed");
  const approval = `/ops/approvals/${proposed.approval_id}`;
  const { summary } = (await send("GET", approval, { ...as(1), expect: 200 })).body;
  assert.match(
    summary,
    /^customs transferred \S+ of 2,50,000\.00 rupees from \S+ to \S+, seen in Icegate ticket 4711$/,
  );
  await send("POST", `${approval}/approve`, { ...as(1), body: {}, expect: 200 });

  const find = async (text: string) =>
    (await send("GET", `/ops/find?q=${encodeURIComponent(text)}`, { ...as(2), expect: 200 })).body
      .found;
  const [found, ...others] = await find("ICEGATE TICKET 4711");
  assert.deepEqual(
    [found.kind, found.id, found.note, others],
    ["settlement", settlementId, "Icegate ticket 4711", []],
  );
  assert.deepEqual(await find("Icegate ticket 471"), []);
  const about = `/ops/evidence?about=${settlementId}`;
  const { evidence } = (await send("GET", about, { ...as(2), expect: 200 })).body;
  assert.deepEqual(
    evidence.map((one: Record<string, unknown>) => [
      one["kind"],
      one["reference"],
      one["said_by"],
      one["approved_by"],
    ]),
    [["credit_transfer", "Icegate ticket 4711", "asha", "ravi"]],
  );
  service.clock.advance({ seconds: 60 });
  const reversal = { reason: "Sold by mistake" };
  await send("POST", `/ops/settlements/${settlementId}/reverse`, {
    ...as(1),
    body: reversal,
    expect: 200,
  });
  const [newest] = (await send("GET", about, { ...as(2), expect: 200 })).body.evidence;
  assert.deepEqual(
    [newest.kind, newest.status, newest.reference, newest.said_by, newest.approved_by],
    ["settlement.reverse", "proposed", "Sold by mistake", "ravi", null],
  );
});

test("find looks into every table whose rows have an id of their own", async () => {
  const schema = await readFile(join(root, "migrations/schema.sql"), "utf8");
  const store = await readFile(join(root, "src/overview/find-store.ts"), "utf8");
  const tables = schema.split(/^create table /m).slice(1);
  const named = tables.flatMap((text) => {
    const key = /_pkey PRIMARY KEY \((\w+)\)/.exec(text)?.[1];
    const isId = key !== undefined && new RegExp(`starts_with\\(${key}, '[a-z]{3}_'`).test(text);
    return isId ? [/^\w+/.exec(text)?.[0] ?? ""] : [];
  });
  assert.ok(named.length > 10, named.join(" "));
  const missing = named.filter((table) => !store.includes(`from ${table} where`));
  assert.deepEqual(missing, []);
});

test("find leads to firms by the start of their name and by any of its words", async (t) => {
  const { service, find } = await startDesk(t);
  const { firm_id: deskId } = await service.issue();
  const named = async (legalName: string) => await addFirm(service, { deskId, legalName });
  const shree = await named("Shree Ganesh Exports (Surat) Pvt. Ltd.");
  const other = await named("Ganesh & Sons");
  const odd = await named("100% Cotton_Mills");
  const ids = async (text: string) => (await find(text)).map(({ id }) => id).toSorted();
  assert.deepEqual(await ids("shree gan"), [shree]);
  assert.deepEqual(await ids("ganesh"), [shree, other].toSorted());
  assert.deepEqual(await ids("ltd surat"), [shree]);
  assert.deepEqual(await ids("SURA"), [shree]);
  assert.deepEqual(await ids("surat gan"), [shree]);
  assert.deepEqual(await ids("surat ga"), [], "two letters must be a whole word");
  assert.deepEqual(await ids("100% cot"), [odd]);
  assert.deepEqual(await ids("100_ cot"), [odd], "words, not a pattern");
  assert.deepEqual(await ids("1%0"), []);
  for (const text of ["'", "\\", "':*", "& | !", "(", "💥", "%", "_"]) await ids(text);
  const [found] = await find("shree");
  assert.equal(found?.firm_name, "Shree Ganesh Exports (Surat) Pvt. Ltd.");
});

test("lists over all desks are paged by cursor and narrowed by desk, firm, order, state and day", async (t) => {
  const { service, get } = await startDesk(t);
  const [one, two] = [await dealer(service, [{}, {}, {}]), await dealer(service, [{}, {}])];
  const placed: string[] = [];
  for (const { post, scripNos } of [one, two]) {
    for (const scrip_no of scripNos) {
      service.clock.advance({ seconds: 1 });
      const { body } = await post("/v1/orders", { side: "sell", scrip_no }, 201);
      placed.unshift(body.order_id);
    }
  }
  const idsIn = async (query: string) =>
    (await get(`/ops/orders?${query}`)).orders.map((o: { order_id: string }) => o.order_id);

  assert.deepEqual(await idsIn("environment=sandbox"), placed);
  assert.deepEqual(await idsIn("environment=live"), []);
  assert.deepEqual(await idsIn(`desk_id=${one.deskId}`), placed.slice(2));
  assert.deepEqual(await idsIn(`firm_id=${two.firmId}`), placed.slice(0, 2));
  assert.deepEqual(await idsIn(`firm_id=${two.deskId}`), []);
  assert.deepEqual(await idsIn("status=open"), []);
  assert.deepEqual(await idsIn("status=matched&side=sell&scheme=RODTEP"), placed);
  assert.deepEqual(await idsIn("from=2026-11-15&to=2026-11-15"), placed);
  assert.deepEqual(await idsIn("to=2026-11-14"), []);
  assert.deepEqual(await idsIn("from=2026-11-16"), []);

  for (const list of ["orders", "settlements", "credits", "firms", "keys", "payouts", "desks"]) {
    for (const narrowed of list === "desks" ? [""] : ["", `&desk_id=${one.deskId}`]) {
      const whole = (await get(`/ops/${list}?limit=1000${narrowed}`))[list];
      const pages: object[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const next: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const page = await get(`/ops/${list}?limit=2${narrowed}${next}`);
        pages.push(...page[list]);
        cursor = page.next_cursor;
      }
      assert.deepEqual(pages, whole, `${list}${narrowed}`);
      if (list !== "payouts") assert.ok(whole.length > 0, `${list}${narrowed} has rows`);
    }
  }
  const { next_cursor: cursor } = await get("/ops/orders?limit=2");
  await get(`/ops/orders?limit=2&side=sell&cursor=${encodeURIComponent(cursor)}`, 400);
  await get(`/ops/settlements?limit=2&cursor=${encodeURIComponent(cursor)}`, 400);

  const [orderId = ""] = placed;
  const { settlements, names } = await get(`/ops/settlements?order_id=${orderId}`);
  const order = await get(`/ops/orders/${orderId}`);
  assert.deepEqual(
    settlements.map((row: { settlement_id: string }) => row.settlement_id),
    order.settlement_ids,
  );
  assert.equal(names[two.firmId], "Client firm");
  assert.deepEqual([order.desk_id, order.environment], [two.deskId, "sandbox"]);

  const nobody = newId("frm", service.ctx.now());
  await get(`/ops/orders?firm_id=${nobody}`, 404);
  await get(`/ops/settlements?order_id=${newId("ord", service.ctx.now())}`, 404);
  await get("/ops/orders?from=yesterday!!", 422);
  await get(`/ops/orders/${newId("ord", service.ctx.now())}`, 404);
  await get(`/ops/desks/${two.firmId}`, 404);
  const desk = await get(`/ops/desks/${two.deskId}`);
  assert.deepEqual([desk.client_firms, desk.plans, desk.keys.length], [1, ["sandbox"], 1]);
});

test("an operator cancels what rests of any desk's order, once and again, and the desk reads who did", async (t) => {
  const { service, post } = await startDesk(t);
  const desk = await dealer(service, [{}, {}]);
  const [rests = "", dealt = ""] = desk.scripNos;
  const { body: open } = await desk.post("/v1/orders", { ...resting, scrip_no: rests }, 201);
  const { body: matched } = await desk.post("/v1/orders", { side: "sell", scrip_no: dealt }, 201);
  assert.deepEqual([open.status, matched.status], ["open", "matched"]);

  const cancelled = await post(`/ops/orders/${open.order_id}/cancel`);
  assert.equal(cancelled.status, "cancelled");
  assert.deepEqual(await post(`/ops/orders/${open.order_id}/cancel`), cancelled);
  await post(`/ops/orders/${matched.order_id}/cancel`, 409);
  await post(`/ops/orders/${newId("ord", service.ctx.now())}/cancel`, 404);

  const seen = await desk.read(open.order_id);
  assert.equal(seen.history.at(-1).reason, "cancelled_by_operator");
  assert.equal((await desk.credit(rests)).status, "listed", "its credit is free again");
  const { events } = await desk.get("/v1/events");
  assert.ok(
    events.some(
      (event: { event: string; entity: { id: string } }) =>
        event.event === "order.cancelled" && event.entity.id === open.order_id,
    ),
  );
});

test("today counts what waits, by environment", async (t) => {
  const { service, get } = await startDesk(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 24_400_000, 24_500_000);
  const today = await get("/ops/today");
  assert.equal(today.environment, "live");
  assert.equal(today.day, "2026-11-15");
  const { payouts_scheduled, payouts_held } = today.waiting;
  assert.equal(payouts_scheduled + payouts_held, 2);
  assert.equal(today.schemes.find((s: { scheme: string }) => s.scheme === "RODTEP").deals, 2);
  assert.equal(today.ledger_sound, true);
  const sandbox = await get("/ops/today?environment=sandbox");
  assert.equal(sandbox.waiting.payouts_scheduled, 0);
  assert.equal(sandbox.schemes[0].market, "open");
});

test("payouts that wait are listed over both environments, newest first, page by page", async (t) => {
  const { service, get } = await startDesk(t);
  const seller = await liveSeller(service);
  const sandbox = await dealer(service, [{}, {}]);
  for (const scrip_no of sandbox.scripNos) {
    await sellLive(service, seller, 24_400_000);
    service.clock.advance({ seconds: 1 });
    await sandbox.post("/v1/orders", { side: "sell", scrip_no }, 201);
    service.clock.advance({ seconds: 30 });
    await service.work(["payouts"]);
    service.clock.advance({ seconds: 30 });
    await service.work(["payouts"]);
  }
  const { rows } = await service.ctx.db.pool.query<{ payout_id: string; environment: string }>(
    "select payout_id, environment from payouts where state = 'scheduled' order by payout_id desc",
  );
  assert.deepEqual(
    new Set(rows.map(({ environment }) => environment)),
    new Set(["live", "sandbox"]),
  );
  assert.ok(rows.length >= 3, JSON.stringify(rows));
  const found: string[] = [];
  let cursor = "";
  do {
    const { payouts, next_cursor } = await get(`/ops/payouts?status=scheduled&limit=1${cursor}`);
    found.push(...payouts.map(({ payout_id }: { payout_id: string }) => payout_id));
    cursor = next_cursor === null ? "" : `&cursor=${next_cursor}`;
  } while (cursor !== "");
  assert.deepEqual(
    found,
    rows.map(({ payout_id }) => payout_id),
  );
});
