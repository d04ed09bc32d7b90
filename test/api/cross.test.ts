import assert from "node:assert/strict";
import { test } from "node:test";

import { openCrosses, type NewCross } from "../../src/crosses/open-crosses.ts";
import { recordChanges } from "../../src/journal/record-changes.ts";
import { operator } from "../../src/kernel/actor.ts";
import type { Failure } from "../../src/kernel/failure.ts";
import {
  act,
  crore,
  crores,
  crossThatIs,
  listCrossEvents,
  price,
  propose,
  quoteFor,
  read,
  sums,
  terms,
  traders,
} from "../support/crosses.ts";
import { putCard } from "../support/dealing-house.ts";
import { addFirm } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle, listHoldings, listPayouts, readBalance } from "../support/settlements.ts";

test("a block goes from quote to settlement, and each side sees its own view", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const quote = await quoteFor(seller, terms(parties));
  assert.match(quote.cross_quote_ref, /^cqt_/);
  assert.deepEqual(quote, {
    cross_quote_ref: quote.cross_quote_ref,
    kind: "block",
    firm_id: seller.firmId,
    side: "sell",
    counterparty_iec: buyer.pan,
    scheme: "RODTEP",
    scrip_nos: [seller.scripNo],
    face_paise: crore,
    price_bps: price,
    fee_paise: sums.fee,
    gst_paise: sums.gst,
    all_in_paise: sums.seller,
    terms_hash: quote.terms_hash,
    valid_until: "2026-11-15T14:47:00.000+05:30",
  });
  const { cross_quote_ref } = quote;
  const proposed = (await seller.post("/v1/cross", { cross_quote_ref }, 201)).body;
  assert.match(proposed.cross_id, /^crs_/);
  assert.equal(proposed.status, "proposed");
  assert.equal(proposed.waiting_on, "buyer");
  assert.deepEqual(proposed.allowed_actions, ["cancel"]);
  assert.equal((await seller.credit(seller.scripNo)).status, "listed");

  const offered = (await buyer.get("/v1/cross")).crosses;
  assert.equal(offered.length, 1);
  assert.equal(offered[0].side, "buy");
  assert.equal(offered[0].all_in_paise, sums.buyer);
  assert.deepEqual(offered[0].allowed_actions, ["accept", "decline"]);
  const agreed = await act(buyer, offered[0], "accept");
  assert.equal(agreed.status, "agreed");
  assert.deepEqual(agreed.allowed_actions, ["cancel", "fund"]);
  assert.equal((await seller.credit(seller.scripNo)).status, "reserved");

  const funded = await act(buyer, agreed, "fund");
  assert.equal(funded.status, "funded");
  assert.equal((await readBalance(service, buyer)).escrow_paise, sums.buyer);
  assert.equal((await readBalance(service, seller)).pending_in_paise, sums.seller);
  assert.equal((await read(seller, funded)).payment_ref, null);

  const released = await act(seller, funded, "release");
  assert.equal(released.status, "released");
  assert.equal(released.settlement_status, "transfer_initiated");
  assert.equal((await readBalance(service, buyer)).escrow_paise, sums.buyer);
  await letSettle(service);
  const settled = await read(buyer, released);
  assert.equal(settled.status, "settled");
  assert.equal(settled.settlement_status, "settled");
  assert.deepEqual(settled.allowed_actions, []);
  assert.deepEqual(
    settled.history.map(({ status }: { status: string }) => status),
    ["proposed", "agreed", "funded", "released", "settled"],
  );
  assert.deepEqual(await listHoldings(service, seller.scripNo), [
    { firm_id: buyer.firmId, state: "listed" },
    { firm_id: seller.firmId, state: "transferred" },
  ]);
  const [payout] = await listPayouts(service, seller);
  assert.equal(payout.amount_paise, sums.seller);
  assert.deepEqual(payout.lines, [
    {
      order_id: null,
      cross_id: settled.cross_id,
      scrip_no: seller.scripNo,
      amount_paise: sums.seller,
    },
  ]);
  const notePath = `/v1/settlements/${settled.settlement_id}/contract-note`;
  const [note] = (await seller.get(notePath)).notes;
  assert.deepEqual(
    [note.fee_paise, note.gst_paise],
    [settled.fee_paise, settled.gst_paise],
    "a fee means the same on a cross and on its note",
  );
  assert.equal((await readBalance(service, buyer)).posted_paise, 0);
  const told = ["proposed", "agreed", "funded", "released", "settled"].map((s) => `cross.${s}`);
  assert.deepEqual(await listCrossEvents(seller), told);
  assert.deepEqual(await listCrossEvents(buyer), told);
  await assertLedgerSound(service);
});

test("a quote by amount takes the seller's own credits, and without a price the card's mid", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [
    { facePaise: crore },
    { facePaise: 700_000_000 },
    { facePaise: 600_000_000 },
    { facePaise: crore, expiresOn: "2027-01-15" },
  ]);
  const parties = { seller, buyer: await dealer(service, []) };
  const asked = terms(parties, { scrip_nos: undefined, scheme: "RODTEP", price_bps: undefined });
  const quote = await quoteFor(seller, { ...asked, face_paise: 1_800_000_000 });
  assert.equal(quote.face_paise, 1_700_000_000);
  assert.deepEqual(quote.scrip_nos.toSorted(), seller.scripNos.slice(0, 2).toSorted());
  assert.equal(quote.price_bps, 9_850);
  // What lives shorter than a year can be named, and is not found for an amount.
  const named = { scrip_nos: [seller.scripNos[3]] };
  assert.equal((await quoteFor(seller, terms(parties, named))).face_paise, crore);
});

test("there is no quote without a market, or where the seller has too little", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, [{ facePaise: 400_000_000 }]);
  const { seller } = parties;
  const asked = { scrip_nos: undefined, scheme: "RODTEP", face_paise: crore };
  const size = { no_quote: true, reason: "size_unavailable" };
  assert.deepEqual(await quoteFor(seller, terms(parties, asked)), size);
  const worthNothing = { ...asked, price_bps: 2 };
  const big = await traders(service);
  assert.deepEqual(await quoteFor(big.seller, terms(big, worthNothing)), size);
  await putCard(service, { state: "halted" });
  const market = { no_quote: true, reason: "market_unavailable" };
  assert.deepEqual(await quoteFor(big.seller, terms(big)), market);
});

test("a cross quote refuses invalid terms with their field or reason", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, [
    { facePaise: crore },
    { facePaise: 999_999_999 },
    { facePaise: crore, scheme: "ROSCTL" },
    { facePaise: crore, state: "suspended" },
  ]);
  const { seller, buyer } = parties;
  const [first, small, otherScheme, suspended] = seller.scripNos;
  const twin = await addFirm(service, { deskId: seller.deskId });
  const unauthorized = await addFirm(service, { deskId: seller.deskId, state: "verified" });
  const buying = { side: "buy", counterparty_iec: "AAACZ0001Q" };
  const fields: Readonly<Record<string, [object, number, string]>> = {
    "no counterparty": [{ counterparty_iec: undefined }, 422, "counterparty_iec"],
    "two counterparties": [{ counterparty_firm_id: twin }, 422, "counterparty_iec"],
    "an IEC that is none": [{ counterparty_iec: "NOBODY" }, 422, "counterparty_iec"],
    "its own IEC": [{ counterparty_iec: seller.pan }, 422, "counterparty_iec"],
    "its own firm": [
      { counterparty_iec: undefined, counterparty_firm_id: seller.firmId },
      422,
      "counterparty_firm_id",
    ],
    "a group it is not in": [
      { kind: "intra_group", counterparty_iec: undefined, counterparty_firm_id: twin },
      422,
      "counterparty_firm_id",
    ],
    "a group with an IEC": [{ kind: "intra_group" }, 422, "counterparty_firm_id"],
    "neither credits nor an amount": [{ scrip_nos: undefined }, 422, "scheme"],
    "one credit twice": [{ scrip_nos: [first, first?.toLowerCase()] }, 422, "scrip_nos"],
    "credits of two schemes": [{ scrip_nos: [first, otherScheme] }, 422, "scrip_nos"],
    "a scheme that it is not": [{ scheme: "ROSCTL" }, 422, "scheme"],
    "a face that it is not": [{ face_paise: crore + 1 }, 422, "face_paise"],
    "a block that is too small": [{ scrip_nos: [small] }, 422, "scrip_nos"],
    "an amount that is too small": [
      { scrip_nos: undefined, scheme: "RODTEP", face_paise: crore - 1 },
      422,
      "face_paise",
    ],
    "foreign credits without a face": [{ ...buying, scheme: "RODTEP" }, 422, "face_paise"],
    "foreign credits without a scheme": [{ ...buying, face_paise: crore }, 422, "scheme"],
  };
  for (const [what, [changes, expect, path]] of Object.entries(fields)) {
    const { body } = await seller.post("/v1/cross/quote", terms(parties, changes), expect);
    assert.equal(body.detail?.fields?.[0]?.path, path, what);
  }
  const asks = async (changes: object, expect: number) =>
    (await seller.post("/v1/cross/quote", terms(parties, changes), expect)).body;
  await asks({ scrip_nos: ["NOSUCH0001"] }, 404);
  await asks({ firm_id: buyer.firmId }, 404);
  await asks({ counterparty_iec: undefined, counterparty_firm_id: buyer.firmId }, 404);
  const { detail } = await asks({ scrip_nos: [suspended] }, 409);
  assert.equal(detail.credit_status, "suspended");
  assert.equal((await asks({ firm_id: unauthorized }, 409)).detail.reason, "firm_not_authorized");
  await asks({ kind: "swap" }, 400);
  await asks({ price_bps: 10_001 }, 422);
  await asks({ note: "hello" }, 400);
  const sellSide = await mintChild(service, seller.key, { buy_side: false });
  const body = { ...terms(parties, buying), scheme: "RODTEP", face_paise: crore };
  const refused = await service.send("POST", "/v1/cross/quote", {
    key: sellSide.api_key,
    body,
    expect: 403,
  });
  assert.equal(refused.body.detail.reason, "buy_side_not_enabled");
});

test("the operator sets the least face of a block", async (t) => {
  const service = await startService(t, { blockMinPaise: 5_000 });
  const parties = await traders(service, [{ facePaise: 5_000 }]);
  assert.equal((await quoteFor(parties.seller, terms(parties))).all_in_paise, 4_899);
});

test("a cross between firms of one desk is agreed at once, and the desk sees both sides", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, [{ facePaise: 500_000 }]);
  const sister = await addFirm(service, { deskId: desk.deskId });
  const { group_id } = (await desk.post("/v1/groups", { name: "Group" }, 201)).body;
  for (const firm of [desk.firmId, sister]) {
    const path = `/v1/groups/${group_id}/members/${firm}`;
    await service.send("PUT", path, { key: desk.key, expect: 200 });
  }
  const cross = await propose(desk, {
    kind: "intra_group",
    side: "buy",
    firm_id: sister,
    counterparty_firm_id: desk.firmId,
    scheme: "RODTEP",
    face_paise: 500_000,
    price_bps: 10_000,
  });
  assert.equal(cross.status, "agreed");
  assert.equal(cross.side, "buy");
  assert.deepEqual(cross.scrip_nos, [desk.scripNo]);
  const side = { fee_paise: 0, gst_paise: 0, all_in_paise: 500_000 };
  assert.deepEqual(cross.sides, [
    { side: "buy", firm_id: sister, ...side },
    { side: "sell", firm_id: desk.firmId, ...side },
  ]);
  assert.deepEqual(cross.allowed_actions, ["cancel", "fund"]);
  await act(desk, cross, "accept", { expect: 409 });
  await act(desk, cross, "fund");
  await act(desk, cross, "release");
  await letSettle(service);
  assert.equal((await read(desk, cross)).status, "settled");
  assert.deepEqual(
    (await listCrossEvents(desk)).toSorted(),
    ["agreed", "funded", "released", "settled"].flatMap((s) => [`cross.${s}`, `cross.${s}`]),
  );
  const bound = await mintChild(service, desk.key, { kind: "sub_account", firm_id: sister });
  const seen = await service.send("GET", `/v1/cross/${cross.cross_id}`, { key: bound.api_key });
  assert.deepEqual(
    seen.body.sides.map(({ firm_id }: { firm_id: string }) => firm_id),
    [sister],
  );
  await assertLedgerSound(service);
});

test("a proposal does not reveal whether an IEC is registered, and its holder sees the proposal", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(2));
  const { seller, buyer } = parties;
  const other = await dealer(service, [], { pan: buyer.pan });
  const unproven = await service.issue();
  await addFirm(service, { deskId: unproven.firm_id, pan: buyer.pan, state: "verified" });
  const toSomebody = await propose(seller, terms(parties));
  const toNobody = await propose(
    seller,
    terms(parties, { counterparty_iec: "ZZZPZ0000Z", scrip_nos: [seller.scripNos[1]] }),
  );
  const hideIdentity = (cross: Answer["body"]) => ({
    ...cross,
    cross_id: "",
    terms_hash: "",
    counterparty_iec: "",
    scrip_nos: [],
  });
  assert.deepEqual(hideIdentity(toSomebody), hideIdentity(toNobody));
  const listed = async (key: string) =>
    (await service.send("GET", "/v1/cross", { key, expect: 200 })).body.crosses.length;
  assert.equal(await listed(buyer.key), 1);
  assert.equal(await listed(other.key), 1);
  assert.equal(await listed(unproven.api_key), 0, "an IEC that is only claimed shows nothing");
  await act(other, toSomebody, "accept");
  assert.equal((await read(seller, toSomebody)).status, "agreed");
  assert.equal(await listed(buyer.key), 0, "the first to accept has it");
  await buyer.post(`/v1/cross/${toSomebody.cross_id}/accept`, { terms_hash: "x" }, 404);
  const random = await service.send("GET", `/v1/cross/crs_${"0".repeat(26)}`, { key: buyer.key });
  const taken = await service.send("GET", `/v1/cross/${toSomebody.cross_id}`, { key: buyer.key });
  assert.equal(taken.status, 404);
  assert.equal(taken.text, random.text);
});

test("each side's view and events show nothing of the other side", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  await crossThatIs(parties, "released");
  await letSettle(service);
  const readEverything = async ({ get }: Dealer) =>
    JSON.stringify([await get("/v1/cross"), await get("/v1/events"), await get("/v1/settlements")]);
  const hiddenFrom = {
    seller: [buyer.firmId, buyer.deskId, String(sums.buyer), "PAY-"],
    buyer: [seller.firmId, seller.deskId, String(sums.seller)],
  };
  for (const who of ["seller", "buyer"] as const) {
    const text = await readEverything(parties[who]);
    for (const hidden of hiddenFrom[who]) {
      assert.equal(text.includes(hidden), false, `the ${who} is shown ${hidden}`);
    }
    assert.ok(text.includes(String(sums[who])), "its own is there");
  }
});

test("an accept requires the exact terms of the proposal and available credits", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, [
    { facePaise: crore },
    { facePaise: crore },
    { facePaise: crore / 2 },
    { facePaise: crore / 2 },
    { facePaise: crore, expiresOn: "2027-02-01" },
  ]);
  const { seller, buyer } = parties;
  const [first, second, ...rest] = seller.scripNos;
  const cross = await propose(seller, terms(parties));
  const refused = await act(buyer, cross, "accept", { expect: 409, body: { terms_hash: "other" } });
  assert.deepEqual(refused.detail, {
    reason: "terms_differ",
    state: "proposed",
    allowed_actions: ["accept", "decline"],
  });
  await act(buyer, cross, "accept", { expect: 422, body: { scrip_nos: [first] } });
  // A proposal holds nothing: what was sold meanwhile is gone, and nobody is told where.
  await seller.post("/v1/orders", { side: "sell", scrip_no: first, limit_bps: 9_999 }, 201);
  const gone = await act(buyer, cross, "accept", { expect: 409 });
  assert.deepEqual(gone.detail, { reason: "credit_unavailable" });
  assert.equal((await read(buyer, cross)).status, "proposed");

  const wanted = { side: "buy", firm_id: buyer.firmId, counterparty_iec: seller.pan };
  const amount = { scrip_nos: undefined, scheme: "RODTEP", face_paise: crore };
  const asked = await propose(buyer, terms(parties, { ...wanted, ...amount }));
  const accept = async (scrip_nos: (string | undefined)[], expect: number) =>
    await act(seller, asked, "accept", { expect, body: { scrip_nos } });
  const [half, otherHalf, short] = rest;
  await accept(["NOSUCH0001"], 404);
  await accept([half], 422);
  await accept([half, half], 422);
  await accept([short], 422);
  const agreed = await accept([half, otherHalf], 200);
  assert.deepEqual(agreed.scrip_nos, [half, otherHalf]);
  // Named without being known here: the terms hold what the buyer said, and it must be so.
  const mistaken = await propose(
    buyer,
    terms(parties, { ...wanted, scrip_nos: [second], scheme: "RODTEP", face_paise: crore + 1 }),
  );
  await act(seller, mistaken, "accept", { expect: 409 });
  const odd = { ...wanted, ...amount, face_paise: crore + 7 };
  const undeliverable = await propose(buyer, terms(parties, odd));
  const nothing = await act(seller, undeliverable, "accept", { expect: 409 });
  assert.equal(nothing.detail.reason, "nothing_to_deliver");
});

test("a company cannot cross with itself, on any desks", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: crore }]);
  // The same company, known to customs by a code from before 2017.
  const twin = await dealer(service, []);
  await service.ctx.db.pool.query("update firms set iec = $2, pan = $3 where firm_id = $1", [
    twin.firmId,
    "0512345678",
    seller.pan,
  ]);
  const parties = { seller, buyer: twin };
  const cross = await propose(seller, terms(parties, { counterparty_iec: "0512345678" }));
  const { detail } = await act(twin, cross, "accept", { expect: 422 });
  assert.match(detail.fields[0].problem, /same company/);
});

test("a firm that may not trade neither proposes nor accepts, and the counterparty gets no reason", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const suspend = async ({ firmId, post }: Dealer, how: "suspend" | "resume") =>
    await post(`/v1/firms/${firmId}/${how}`, how === "suspend" ? { reason: "a pause" } : {}, 200);
  const { cross_quote_ref } = await quoteFor(seller, terms(parties));
  await suspend(seller, "suspend");
  const refused = (await seller.post("/v1/cross", { cross_quote_ref }, 409)).body;
  assert.equal(refused.detail.reason, "firm_not_authorized");
  await suspend(seller, "resume");
  const cross = (await seller.post("/v1/cross", { cross_quote_ref }, 201)).body;
  await suspend(seller, "suspend");
  const neutral = await act(buyer, cross, "accept", { expect: 409 });
  assert.deepEqual(neutral.detail, { reason: "counterparty_unavailable" });
  await suspend(seller, "resume");
  await act(buyer, cross, "accept");
  await suspend(buyer, "suspend");
  await act(buyer, cross, "fund", { expect: 409 });
  await suspend(buyer, "resume");
  await act(buyer, cross, "fund");
  await suspend(seller, "suspend");
  await act(seller, cross, "release", { expect: 409 });
});

test("a quote is used once and in time, and a retry finds the cross it made", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const { cross_quote_ref } = await quoteFor(seller, terms(parties));
  const headers = { "idempotency-key": "cross-1" };
  const tried = await seller.post("/v1/cross", { cross_quote_ref }, 200, { "x-dry-run": "1" });
  assert.equal(tried.body.status, "proposed");
  assert.deepEqual((await seller.get("/v1/cross")).crosses, []);
  const made = await seller.post("/v1/cross", { cross_quote_ref }, 201, headers);
  const { cross_id } = made.body;
  const again = await seller.post("/v1/cross", { cross_quote_ref }, 200, headers);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(again.body, made.body);
  const used = (await seller.post("/v1/cross", { cross_quote_ref }, 409)).body;
  assert.deepEqual(used.detail, { reason: "quote_used", cross_id });
  const late = await quoteFor(seller, terms(parties));
  const body = { cross_quote_ref: late.cross_quote_ref };
  const differs = (await seller.post("/v1/cross", body, 409, headers)).body;
  assert.equal(differs.detail.reason, "idempotency_key_reused");
  await buyer.post("/v1/cross", body, 404);
  service.clock.advance({ seconds: 121 });
  assert.equal((await seller.post("/v1/cross", body, 409)).body.detail.reason, "quote_expired");
});

test("a key's limits apply to crosses as to orders", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(2));
  const { seller, buyer } = parties;
  const keyWith = async (root: string, limits: object) => {
    const child = await mintChild(service, root, { limits, buy_side: true });
    return { ...seller, post: posting(service, child.api_key) };
  };
  const small = await keyWith(seller.key, { max_order_paise: crore - 1 });
  const daily = await keyWith(seller.key, { daily_notional_paise: 2 * crore - 1 });
  const quoted = async (at: number) =>
    (await quoteFor(seller, terms(parties, { scrip_nos: [seller.scripNos[at]] }))).cross_quote_ref;
  const refused = (await small.post("/v1/cross", { cross_quote_ref: await quoted(0) }, 403)).body;
  assert.deepEqual(refused.detail, { reason: "key_limit", limit: "max_order_paise" });
  const cross = (await daily.post("/v1/cross", { cross_quote_ref: await quoted(0) }, 201)).body;
  const second = (await daily.post("/v1/cross", { cross_quote_ref: await quoted(1) }, 403)).body;
  assert.equal(second.detail.limit, "daily_notional_paise");
  const bounded = await keyWith(buyer.key, { max_order_paise: crore - 1 });
  await act(bounded, cross, "accept", { expect: 403 });
  assert.equal((await read(buyer, cross)).status, "proposed");
  const sellSide = await mintChild(service, buyer.key, { buy_side: false });
  const selling = { post: posting(service, sellSide.api_key) };
  await act(selling, cross, "accept", { expect: 403 });
  await act(buyer, cross, "accept");
  await act(selling, cross, "fund", { expect: 403 });
  await act(selling, cross, "cancel");
});

function posting({ send }: Service, key: string): Dealer["post"] {
  return async (path, body, expect, headers) =>
    await send("POST", path, {
      key,
      body,
      ...(headers && { headers }),
      ...(expect > 0 && { expect }),
    });
}

test("crosses are listed newest first, filtered and paged", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(5));
  const { seller, buyer } = parties;
  const made: string[] = [];
  for (const scripNo of seller.scripNos) {
    service.clock.advance({ seconds: 1 });
    made.unshift((await propose(seller, terms(parties, { scrip_nos: [scripNo] }))).cross_id);
  }
  await act(buyer, await read(buyer, { cross_id: made[0] ?? "" }), "accept");
  const pickIds = ({ crosses }: Answer["body"]) =>
    crosses.map(({ cross_id }: { cross_id: string }) => cross_id);
  for (const trader of [seller, buyer]) {
    assert.deepEqual(pickIds(await trader.get("/v1/cross")), made);
    const paged: string[] = [];
    let cursor = "";
    do {
      const page = await trader.get(`/v1/cross?limit=2${cursor}`);
      assert.equal(page.total, 5);
      paged.push(...pickIds(page));
      cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : "";
    } while (cursor);
    assert.deepEqual(paged, made);
    assert.deepEqual(pickIds(await trader.get("/v1/cross?status=agreed")), made.slice(0, 1));
    assert.deepEqual(pickIds(await trader.get(`/v1/cross?firm_id=${trader.firmId}`)), made);
    assert.deepEqual(pickIds(await trader.get("/v1/cross?kind=intra_group")), []);
    assert.deepEqual(pickIds(await trader.get("/v1/cross?netting_ref=none")), []);
  }
  assert.deepEqual(pickIds(await seller.get(`/v1/cross?firm_id=${buyer.firmId}`)), []);
});

test("a firm with an open cross cannot be offboarded, and a sandbox reset ends the desk's own crosses", async (t) => {
  const service = await startService(t);
  const parties = await traders(service, crores(2));
  const { seller, buyer } = parties;
  const cross = await crossThatIs(parties, "agreed");
  const proposal = await propose(seller, terms(parties, { scrip_nos: [seller.scripNos[1]] }));
  const { detail } = (await seller.post(`/v1/firms/${seller.firmId}/offboard`, {}, 409)).body;
  assert.deepEqual(
    detail.blockers.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)),
    [cross, proposal]
      .map(({ cross_id: id }) => ({ type: "cross", id, href: `/v1/cross/${id}` }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
  const reset = (await seller.post("/v1/sandbox/reset", {}, 200)).body;
  assert.equal(reset.crosses_ended, 1);
  assert.equal((await read(seller, proposal)).reason, "sandbox_reset");
  assert.equal((await read(buyer, cross)).status, "agreed", "what others agreed to stands");
  await act(buyer, cross, "cancel");
  await seller.post(`/v1/firms/${seller.firmId}/offboard`, {}, 200);
});

test("the states and moves of crosses are published", async (t) => {
  const service = await startService(t);
  const { get } = await dealer(service, []);
  const { lifecycles } = await get("/v1/meta/states");
  const cross = lifecycles.find(({ noun }: { noun: string }) => noun === "cross");
  assert.deepEqual(cross.initial, ["proposed", "agreed"]);
  assert.ok(cross.moves.some(({ action }: { action: string }) => action === "release"));
});

test("a desk opens crosses among its own firms all or none, each under its netting", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, [
    { facePaise: 500_000 },
    { facePaise: 700_000 },
    { facePaise: 900_000, state: "withdrawn" },
  ]);
  const sister = await addFirm(service, { deskId: desk.deskId });
  const sisterPan = (await desk.get(`/v1/firms/${sister}`)).pan;
  const buildCross = (at: number, facePaise: number): NewCross => ({
    kind: "intra_group",
    seller: { firmId: desk.firmId, iec: desk.pan },
    buyer: { firmId: sister, iec: sisterPan },
    scheme: "RODTEP",
    scripNos: [desk.scripNos[at] ?? ""],
    facePaise,
    priceBps: 9_850,
    proposedBy: "buy",
    nettingRef: "net_1",
  });
  const { ctx } = service;
  const open = async (crosses: readonly NewCross[]) =>
    await ctx.db.transaction(async (tx) => {
      const now = ctx.now();
      const at = { environment: "sandbox", deskId: desk.deskId, keyId: "key_1" } as const;
      const opened = await openCrosses(tx, at, crosses, { pricedAt: now, now });
      await recordChanges(tx, operator, opened.changes, now);
      return opened.crosses;
    });
  const [first, second] = [buildCross(0, 500_000), buildCross(1, 700_000)];
  const isGone = ({ detail }: Failure) => detail?.["reason"] === "credit_unavailable";
  await assert.rejects(open([first, buildCross(2, 900_000)]), isGone);
  await assert.rejects(open([first, first]), isGone, "one credit is not sold twice in a set");
  await assert.rejects(open([first, buildCross(1, 700_001)]), isGone);
  assert.deepEqual((await desk.get("/v1/cross")).crosses, []);
  assert.equal((await desk.credit(desk.scripNo)).status, "listed");
  const opened = await open([first, second]);
  assert.deepEqual(
    opened.map(({ state, buyer_paise }) => [state, buyer_paise]),
    [
      ["agreed", 492_500],
      ["agreed", 689_500],
    ],
  );
  const listed = (await desk.get("/v1/cross?netting_ref=net_1")).crosses;
  assert.deepEqual(
    new Set(listed.map(({ cross_id }: { cross_id: string }) => cross_id)),
    new Set(opened.map(({ cross_id }) => cross_id)),
  );
  assert.equal(listed[0].netting_ref, "net_1");
  assert.deepEqual(await open([]), []);
  for (const cross of listed) {
    await act(desk, cross, "fund", { body: { payment_ref: "NET" } });
    await act(desk, cross, "release");
  }
  await letSettle(service);
  assert.deepEqual((await desk.get("/v1/cross?status=settled")).crosses.length, 2);
  await assertLedgerSound(service);
});
