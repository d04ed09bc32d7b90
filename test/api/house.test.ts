// Who the house is in law: what it takes to deal, who may change it, and who is the house too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds, houseSetting } from "../../src/approval-kinds.ts";
import { findHouse } from "../../src/house/read-house.ts";
import { type GivenParticulars, setHouse } from "../../src/house/set-house.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { addDays, istDay } from "../../src/kernel/time.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { disableOperator } from "../../src/operators/manage-operators.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { commandLine } from "../support/cli.ts";
import { firmBody } from "../support/client-firms.ts";
import { addLiveHouse, liveHouse } from "../support/live-house.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { dealer } from "../support/orders.ts";
import { addPerson, type TestPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";
import { addCredit, house, makeDeal, openTestDesk } from "../support/settlements.ts";

const sandboxPan = "AAACH0000H";

async function setAs(
  { ctx }: Service,
  { actor }: TestPerson,
  particulars: GivenParticulars,
  environment: "live" | "sandbox" = "live",
) {
  return await setHouse(ctx, actor, { kind: houseSetting, environment, particulars });
}

const theirs = { ...liveHouse.bank, account_no: "666666666666", ifsc: "ICIC0000666" };

type TransferFacts = { readonly seller_iec: string | null; readonly buyer_iec: string | null };

async function readTransferFacts({ ctx }: Service, settlementId: string): Promise<TransferFacts> {
  const { rows } = await ctx.db.pool.query<{ facts: TransferFacts }>(
    "select facts from questions where kind = 'credit_transfer' and subject_id like $1 || ':%'",
    [settlementId],
  );
  const { seller_iec, buyer_iec } = rows[0]?.facts ?? {};
  return { seller_iec: seller_iec ?? null, buyer_iec: buyer_iec ?? null };
}

test("customs is asked with both IECs, the house's among them", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  const settlementId = await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo }] });
  const facts = await readTransferFacts(service, settlementId);
  assert.equal(facts.buyer_iec, sandboxPan);
  assert.notEqual(facts.seller_iec, null);
});

test("the first live card takes a complete house, and the refusal lists what is missing", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const { send } = await startOps(t, service);
  const headers = asBearer((await asha.signIn()).token);
  const publish = async (expect: number, mid_bps = 9_800) => {
    const body = { environment: "live", scheme: "RODTEP", terms: { mid_bps } };
    return (await send("POST", "/ops/rates", { headers, body, expect })).body;
  };
  const set = async (body: object, expect = 200) =>
    (await send("POST", "/ops/house", { headers, body, expect })).body;
  const today = async () =>
    (await send("GET", "/ops/today?environment=live", { headers, expect: 200 })).body;
  const refused = await publish(409);
  assert.equal(refused.detail.reason, "house_incomplete");
  assert.deepEqual(refused.detail.missing, (await today()).house_missing);
  assert.equal(refused.detail.missing.length, 7);

  const { bank, signatory, ...rest } = liveHouse;
  const first = await set({ environment: "live", ...rest });
  assert.equal(first.outcome, "set", "there is nobody else yet");
  assert.deepEqual((await publish(409)).detail.missing, ["signatory", "bank"]);
  const wrong = await set({ environment: "live", pan: "AAGCB7383J" }, 422);
  assert.deepEqual(
    wrong.detail.fields.map(({ path }: { path: string }) => path),
    ["iec", "gstin"],
  );
  await set({ environment: "live", bank, signatory });
  await publish(200);
  assert.deepEqual((await today()).house_missing, []);

  await set({ environment: "live", signatory: "" });
  assert.deepEqual((await today()).house_missing, ["signatory"]);
  await publish(200, 9_790);
  const shown = await send("GET", "/ops/house?environment=live", { headers, expect: 200 });
  const { version: latest, state_code, state_name } = shown.body.house;
  assert.deepEqual([latest, state_code, state_name], [3, "27", "Maharashtra"]);
  assert.deepEqual(
    shown.body.versions.map(({ version }: { version: number }) => version),
    [3, 2, 1],
  );
});

test("one person cannot send buyers' money elsewhere once two may, alone or by disabling the other", async (t) => {
  const service = await startService(t);
  await addLiveHouse(service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "settlement", by: [asha] });
  const day = istDay(service.clock.now());
  const readAccount = async () =>
    (await findHouse(service.ctx.db, "live", day))?.bank?.account_no ?? "";
  const proposed = await setAs(service, asha, { bank: theirs });
  assert.equal(proposed.outcome, "proposed");
  assert.equal((await setAs(service, asha, { bank: theirs })).outcome, "proposed", "again");
  await disableOperator(service.ctx, asha.actor, ravi.name);
  assert.equal((await setAs(service, asha, { bank: theirs })).outcome, "proposed", "alone");
  assert.equal(await readAccount(), liveHouse.bank.account_no);
  await assert.rejects(setAs(service, ravi, { bank: theirs }), Failure, "no admin");

  const approvalId = proposed.outcome === "proposed" ? proposed.approval_id : "";
  const { summary } = await approveProposal(service.ctx, ravi.actor, {
    approvalId,
    kinds: approvalKinds,
  }).then(({ approval }) => approval);
  assert.match(summary, /account number 50200012345678 → 666666666666/);
  assert.equal(await readAccount(), theirs.account_no);
});

test("particulars hold from their day on, and a paper keeps the head of its day", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const { ctx } = service;
  const today = istDay(service.clock.now());
  const environment = "sandbox";
  const set = async (from: string, legal_name: string) =>
    await setHouse(ctx, asha.actor, {
      kind: houseSetting,
      environment,
      from,
      particulars: { legal_name },
    });
  const readName = async (on: string) => (await findHouse(ctx.db, environment, on))?.legal_name;
  const seller = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  const settlementId = await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo }] });
  await set(addDays(today, 1), "Mint House Two");
  assert.deepEqual(
    [await readName(today), await readName(addDays(today, 1))],
    ["Scripdesk House (sandbox)", "Mint House Two"],
  );
  await assert.rejects(set(addDays(today, -1), "Mint House"), Failure);
  service.clock.advance({ seconds: 2 * 86_400 });
  const path = `/v1/settlements/${settlementId}/contract-note`;
  const note = await service.send("GET", path, { key: seller.key, expect: 200 });
  assert.equal(note.body.house.name, "Scripdesk House (sandbox)");
});

test("a firm of the house's PAN is no client, by whatever code it is told", async (t) => {
  const service = await startService(t);
  const { key } = await service.issue({ environment: "sandbox" }).then(({ api_key }) => ({
    key: api_key,
  }));
  const other = firmBody({ legal_name: "Other Limited" });
  const register = async (body: object, expect: number) =>
    (await service.send("POST", "/v1/firms", { key, body, expect })).body;
  for (const codes of [
    { iec: sandboxPan, pan: sandboxPan },
    { iec: "0388012345", pan: sandboxPan },
  ]) {
    const { gstin: _gstin, ...body } = { ...other, ...codes } as Record<string, unknown>;
    const refused = await register(body, 409);
    assert.equal(refused.detail.reason, "firm_is_house");
  }
  const { firm_id } = await register(other, 201);
  const change = { iec: sandboxPan, pan: sandboxPan, gstin: null };
  const path = `/v1/firms/${firm_id}`;
  const patched = await service.send("PATCH", path, { key, body: change });
  assert.deepEqual(
    [patched.status, patched.body.detail?.reason],
    [409, "firm_is_house"],
    JSON.stringify(patched.body),
  );
});

test("a client that turns out to be the house trades no more, and ends what it has open", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const environment = "sandbox";
  const client = await dealer(service, [{}], { environment });
  const seller = await openTestDesk(service);
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  const openId = await makeDeal(service, { buyer: client, legs });
  const { rows } = await service.ctx.db.pool.query<{ pan: string }>(
    "select pan from firms where firm_id = $1",
    [client.firmId],
  );
  const pan = rows[0]?.pan ?? "";
  await setAs(service, asha, { pan, iec: pan, gstin: "", cin: "" }, environment);
  const firm = await client.get(`/v1/firms/${client.firmId}`);
  assert.equal(firm.connection_state, "suspended");
  const [scripNo] = client.scripNos;
  await client.post("/v1/quote", { side: "sell", scrip_no: scripNo }, 409);
  await client.post(`/v1/firms/${client.firmId}/resume`, {}, 403);
  const { send } = await startOps(t, service);
  const headers = asBearer((await asha.signIn()).token);
  const byOperator = await send("POST", `/ops/firms/${client.firmId}/resume`, {
    headers,
    body: {},
  });
  assert.equal(byOperator.body.detail?.reason, "firm_is_house");
  const shown = await send("GET", `/ops/house?environment=${environment}`, {
    headers,
    expect: 200,
  });
  assert.deepEqual(
    shown.body.firms.map(({ firm_id }: { firm_id: string }) => firm_id),
    [client.firmId],
  );
  const settlement = await client.get(`/v1/settlements/${openId}`);
  assert.equal(settlement.status, "pending", "it may end");
});

test("tax is withheld in live only under a TAN, and divided by the state of the house", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const from = addDays(istDay(service.clock.now()), 1);
  const rate = { section: "194Q", rate_bps: 10, threshold_paise: 1, with_crosses: false };
  const withhold = setTax(service.ctx, asha.actor, {
    environment: "live",
    line: "tds",
    from,
    rate,
  });
  await assert.rejects(withhold, /tan/);
  await addLiveHouse(service);
  await setTax(service.ctx, asha.actor, { environment: "live", line: "tds", from, rate });
  const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800 };
  const line = { environment: "live", line: "gst", from } as const;
  const { house_state } = await setTax(service.ctx, asha.actor, { ...line, rate: gst });
  assert.equal(house_state, liveHouse.state_code);
  const elsewhere = { ...gst, house_state: "29" };
  await assert.rejects(setTax(service.ctx, asha.actor, { ...line, rate: elsewhere }), Failure);
});

test("the house is set and shown by command, and doctor says what it lacks", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const doctor = async () => {
    const rows: { check: string; found: string }[] = JSON.parse(
      (await run("doctor", "--json")).stdout,
    );
    return rows.find(({ check }) => check === "live house")?.found;
  };
  assert.match(
    (await doctor()) ?? "",
    /lacks legal name, IEC, PAN, address, state, signatory, bank account/,
  );
  const bank = ["--beneficiary", "Mint", "--account", "50200012345678", "--ifsc", "HDFC0000001"];
  const words = ["house", "set", "--env", "live", "--operator", "asha", "--legal-name", "Mint"];
  assert.equal((await run(...words, ...bank)).code, 2, "the bank is missing");
  const codes = ["--pan", "AAGCB7383J", "--iec", "AAGCB7383J", "--state", "29"];
  const set = await run(...words, ...codes, "--address", "1 Mint Road|Bengaluru", "--json");
  assert.deepEqual(JSON.parse(set.stdout).address, ["1 Mint Road", "Bengaluru"], set.stderr);
  const shown = JSON.parse((await run("house", "show", "--env", "live", "--json")).stdout);
  assert.deepEqual(shown.missing, ["signatory", "bank"]);
  assert.equal(await doctor(), "lacks signatory, bank account");
});
