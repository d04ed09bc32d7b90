// What a key may commit at most, on every route that commits money or credits. The routes are those
// of the service: one that is not declared below fails the first test.

import assert from "node:assert/strict";
import { test } from "node:test";

import { crore, quoteFor } from "../support/crosses.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { payIn } from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { fileScope } from "../support/scope.ts";
import { type Answer, startService } from "../support/service.ts";

/** A deal that waits for the call which commits it, and what it counts. */
type Ready = { readonly paise: number; readonly commit: (key: string) => Promise<Answer> };

const service = await startService(fileScope());
const { send } = service;

/** Two desks: one whose keys are limited, and one it deals with. */
const desk = await dealer(service, []);
const partner = await dealer(service, []);

async function post(key: string, path: string, body: object): Promise<Answer> {
  return await send("POST", path, { key, body });
}

async function holding(of: { deskId: string; firmId: string }, facePaise: number): Promise<string> {
  const credit = { scheme: "RODTEP", facePaise, expiresOn: "2028-10-01", state: "listed" } as const;
  return (await addCredits(service, of.deskId, [{ firmId: of.firmId, ...credit }]))[0] ?? "";
}

const face = 25_000_000;

async function readyOrder(): Promise<Ready> {
  const scrip_no = await holding(desk, face);
  const body = { side: "sell", scrip_no, limit_bps: 9_980 };
  return { paise: face, commit: async (key) => await post(key, "/v1/orders", body) };
}

/** The answer of the batch's one item, as the single call would have given it. */
async function readyBatch(): Promise<Ready> {
  const scrip_no = await holding(desk, face);
  const body = { orders: [{ side: "sell", scrip_no, limit_bps: 9_980 }] };
  const commit = async (key: string) => {
    const answer = await post(key, "/v1/orders:batch", body);
    assert.equal(answer.status, 200);
    const [{ status, error, order }] = answer.body.results;
    return { ...answer, status, body: error ?? order };
  };
  return { paise: face, commit };
}

/** Between two firms of the desk: it is agreed as it is proposed. */
async function readyOwnCross(): Promise<Ready> {
  const buyer = await addFirm(service, { deskId: desk.deskId });
  const { cross_quote_ref } = await quoteFor(desk, {
    kind: "block",
    side: "sell",
    firm_id: desk.firmId,
    counterparty_firm_id: buyer,
    scrip_nos: [await holding(desk, crore)],
    price_bps: 9_800,
  });
  const commit = async (key: string) => await post(key, "/v1/cross", { cross_quote_ref });
  return { paise: crore, commit };
}

/** With another desk: whoever proposes is bound as soon as the other accepts. */
async function readyProposal(): Promise<Ready> {
  const { cross_quote_ref } = await quoteFor(desk, {
    kind: "block",
    side: "sell",
    firm_id: desk.firmId,
    counterparty_iec: partner.pan,
    scrip_nos: [await holding(desk, crore)],
    price_bps: 9_800,
  });
  const commit = async (key: string) => await post(key, "/v1/cross", { cross_quote_ref });
  return { paise: crore, commit };
}

async function readyAccept(): Promise<Ready> {
  const { cross_quote_ref } = await quoteFor(partner, {
    kind: "block",
    side: "sell",
    firm_id: partner.firmId,
    counterparty_iec: desk.pan,
    scrip_nos: [await holding(partner, crore)],
    price_bps: 9_800,
  });
  const { cross_id, terms_hash } = (await partner.post("/v1/cross", { cross_quote_ref }, 201)).body;
  const path = `/v1/cross/${cross_id}/accept`;
  return { paise: crore, commit: async (key) => await post(key, path, { terms_hash }) };
}

let covers = 0;

async function readyCover(): Promise<Ready> {
  const duty = { scheme: "RODTEP", amount_paise: face, due_on: "2027-01-31" };
  const path = `/v1/firms/${desk.firmId}/requirements`;
  const reference = `Cover ${++covers}`;
  const { requirement_id } = (await desk.post(path, { ...duty, reference }, 201)).body;
  const commit = async (key: string) =>
    await post(key, `${path}/${requirement_id}/cover`, { limit_bps: 9_000 });
  return { paise: face, commit };
}

let nettings = 0;

async function readyNetting(): Promise<Ready> {
  const [giver, taker] = [
    await addFirm(service, { deskId: desk.deskId }),
    await addFirm(service, { deskId: desk.deskId }),
  ];
  await holding({ deskId: desk.deskId, firmId: giver }, face);
  const name = `Netting ${++nettings}`;
  const { group_id } = (await desk.post("/v1/groups", { name }, 201)).body;
  for (const firmId of [giver, taker]) {
    const path = `/v1/groups/${group_id}/members/${firmId}`;
    await send("PUT", path, { key: desk.key, expect: 200 });
  }
  const duty = { scheme: "RODTEP", amount_paise: face, due_on: "2027-01-31", reference: name };
  await desk.post(`/v1/firms/${taker}/requirements`, duty, 201);
  const path = `/v1/groups/${group_id}/netting`;
  const { netting_ref } = await desk.get(path);
  const commit = async (key: string) => await post(key, `${path}/crosses`, { netting_ref });
  return { paise: face, commit };
}

/** The routes that commit money or credits, and deals that wait for them. */
async function readyWithdrawal(): Promise<Ready> {
  await payIn(service, desk.firmId, face);
  const path = `/v1/firms/${desk.firmId}/withdrawals`;
  return { paise: face, commit: async (key) => await post(key, path, { amount_paise: face }) };
}

/** Proposed by another key; the limits are those of the key that approves. */
async function readyApproval(): Promise<Ready> {
  await payIn(service, desk.firmId, face);
  const { api_key: maker } = await mintChild(service, desk.key, { name: `maker ${++makers}` });
  const asked = { kind: "withdrawal", firm_id: desk.firmId, amount_paise: face };
  const { body } = await post(maker, "/v1/approvals", asked);
  const path = `/v1/approvals/${body.approval_id}/approve`;
  return { paise: face, commit: async (key) => await post(key, path, {}) };
}

let makers = 0;

const committing: Readonly<Record<string, Readonly<Record<string, () => Promise<Ready>>>>> = {
  placeOrder: { "an order": readyOrder },
  placeOrderBatch: { "an order of a batch": readyBatch },
  coverRequirement: { "a cover": readyCover },
  proposeCross: { "a cross that agrees by itself": readyOwnCross, "a proposal": readyProposal },
  acceptCross: { "an accept": readyAccept },
  withdrawMoney: { "a withdrawal": readyWithdrawal },
  approveAct: { "an approved withdrawal": readyApproval },
  crossNetting: { "the crosses of a netting": readyNetting },
};

/** What writes and commits nothing, or commits what was counted when it was agreed. */
const harmless = new Set([
  "mintKey",
  "updateKey",
  "revokeKey",
  "reissueKey",
  "registerFirm",
  "updateFirm",
  "setApprovalRules",
  "proposeAct",
  "rejectAct",
  "verifyFirm",
  "authorizeFirm",
  "suspendFirm",
  "resumeFirm",
  "offboardFirm",
  "createGroup",
  "updateGroup",
  "deleteGroup",
  "addMember",
  "removeMember",
  "declareRequirement",
  "updateRequirement",
  "deleteRequirement",
  "declareCredits",
  "importCredits",
  "syncCredits",
  "withdrawCredit",
  "useCredit",
  "takeQuote",
  "takeQuoteBatch",
  "cancelOrder",
  "quoteCross",
  "declineCross",
  "fundCross",
  "releaseCross",
  "cancelCross",
  "advanceSettlement",
  "finishTask",
  "reportMissing",
  "advanceClock",
  "setScenario",
  "seedSandbox",
  "resetSandbox",
  "registerWebhook",
  "updateWebhook",
  "deleteWebhook",
  "testWebhook",
  "rotateSecret",
  "enableWebhook",
  "replayDeliveries",
]);

const deals = Object.values(committing).flatMap((kinds) => Object.entries(kinds));

async function keyWith(limits: object): Promise<string> {
  return (await mintChild(service, desk.key, { limits, buy_side: true })).api_key;
}

function assertRefused({ status, body }: Answer, limit: string, what: string): void {
  assert.equal(status, 403, `${what} above ${limit}`);
  assert.equal(body.code, "forbidden");
  assert.deepEqual(body.detail, { reason: "key_limit", limit }, what);
}

function assertCommitted({ status, text }: Answer, what: string): void {
  assert.ok(status === 200 || status === 201, `${what}: ${status} ${text}`);
}

test("this test classifies every writing route by whether it commits money or credits", () => {
  const writing = service.app.routes.filter(
    ({ method, config }) => config.demand !== undefined && !["GET", "HEAD"].includes(method),
  );
  for (const { method, path, operationId = "" } of writing) {
    const isDeclared = harmless.has(operationId) !== operationId in committing;
    assert.ok(
      isDeclared,
      `${method} ${path}: add ${operationId} to test/api/money-gate.test.ts, once`,
    );
  }
  const known = new Set(writing.map(({ operationId }) => operationId));
  const gone = [...harmless, ...Object.keys(committing)].filter((one) => !known.has(one));
  assert.deepEqual(gone, []);
});

for (const [what, ready] of deals) {
  test(`${what} above the key's limit per act is refused and changes nothing`, async () => {
    const { paise, commit } = await ready();
    const tight = await keyWith({ max_order_paise: paise - 1 });
    assertRefused(await commit(tight), "max_order_paise", what);
    assertCommitted(await commit(await keyWith({ max_order_paise: paise })), what);
  });

  test(`${what} counts once against the key's daily limit`, async () => {
    const first = await ready();
    const second = await ready();
    const third = await ready();
    const key = await keyWith({ daily_notional_paise: first.paise + second.paise });
    assertCommitted(await first.commit(key), what);
    assertCommitted(await second.commit(key), what);
    assertRefused(await third.commit(key), "daily_notional_paise", what);
    service.clock.advance({ days: 1 });
    assertCommitted(await (await ready()).commit(key), `${what} of the next day`);
  });
}

test("all commitments of a key count together", async () => {
  const readied = await Promise.all(
    deals.map(async ([what, ready]) => ({ what, ...(await ready()) })),
  );
  const sum = readied.reduce((total, { paise }) => total + paise, 0);
  const key = await keyWith({ daily_notional_paise: sum });
  for (const { what, commit } of readied) assertCommitted(await commit(key), what);
  const { commit } = await readyOrder();
  assertRefused(await commit(key), "daily_notional_paise", "one more");
});

test("a cross that one key proposes and accepts counts once for it", async () => {
  const seller = await addFirm(service, { deskId: desk.deskId });
  const { iec } = await desk.get(`/v1/firms/${seller}`);
  await holding({ deskId: desk.deskId, firmId: seller }, crore);
  // A buy by amount waits for its seller, who chooses the credits, even on the same desk.
  const { cross_quote_ref } = await quoteFor(desk, {
    kind: "block",
    side: "buy",
    firm_id: desk.firmId,
    counterparty_iec: iec,
    scheme: "RODTEP",
    face_paise: crore,
    price_bps: 9_800,
  });
  const key = await keyWith({ daily_notional_paise: crore });
  const proposed = await post(key, "/v1/cross", { cross_quote_ref });
  assert.deepEqual([proposed.status, proposed.body.status], [201, "proposed"]);
  const path = `/v1/cross/${proposed.body.cross_id}/accept`;
  const { terms_hash } = proposed.body;
  const other = await keyWith({ daily_notional_paise: crore - 1 });
  assertRefused(await post(other, path, { terms_hash }), "daily_notional_paise", "another key");
  assertCommitted(await post(key, path, { terms_hash }), "the same key");
  const { commit } = await readyOrder();
  assertRefused(await commit(key), "daily_notional_paise", "one more");
});

test("each cross of a netting is within the key's limit per act, and all count for its day", async () => {
  const giver = await addFirm(service, { deskId: desk.deskId });
  const takers = [
    await addFirm(service, { deskId: desk.deskId }),
    await addFirm(service, { deskId: desk.deskId }),
  ];
  const { group_id } = (await desk.post("/v1/groups", { name: "Two takers" }, 201)).body;
  for (const firmId of [giver, ...takers]) {
    const path = `/v1/groups/${group_id}/members/${firmId}`;
    await send("PUT", path, { key: desk.key, expect: 200 });
  }
  for (const [at, taker] of takers.entries()) {
    await holding({ deskId: desk.deskId, firmId: giver }, face + at);
    const duty = { scheme: "RODTEP", due_on: "2027-01-31", reference: `BE-${at}` };
    const path = `/v1/firms/${taker}/requirements`;
    await desk.post(path, { ...duty, amount_paise: face + at }, 201);
  }
  const path = `/v1/groups/${group_id}/netting`;
  const { netting_ref } = await desk.get(path);
  const commit = async (limits: object) =>
    await post(await keyWith(limits), `${path}/crosses`, { netting_ref });
  assertRefused(await commit({ max_order_paise: face }), "max_order_paise", "the larger");
  const day = { max_order_paise: face + 1, daily_notional_paise: 2 * face };
  assertRefused(await commit(day), "daily_notional_paise", "both");
  const crossesOfGiver = async () => (await desk.get(`/v1/cross?firm_id=${giver}`)).crosses.length;
  assert.equal(await crossesOfGiver(), 0);
  assertCommitted(await commit({ ...day, daily_notional_paise: 2 * face + 1 }), "both");
  assert.equal(await crossesOfGiver(), 2);
});
