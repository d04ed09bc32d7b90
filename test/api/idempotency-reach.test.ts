// An idempotency key is the caller's within its reach. Four callers of one desk use the same key on
// every route that creates something: those of one reach find each other's, and nobody else learns
// that it was used. A route that creates and is not prepared below fails the first test.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readMigrations } from "../../src/platform/postgres/migrate.ts";
import { firmBody } from "../support/client-firms.ts";
import { crore } from "../support/crosses.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { runOnRecords } from "../support/journal.ts";
import { mintChild } from "../support/keys.ts";
import { payIn } from "../support/ledger.ts";
import { fileScope } from "../support/scope.ts";
import { type Answer, startService } from "../support/service.ts";

type Caller = {
  readonly name: string;
  readonly key: string;
  readonly reach: string;
  /** The firm it acts for here. */
  readonly firmId: string;
};

type Request = { readonly path: string; readonly body: object };

/** A request of this caller that nobody sent before. */
type Prepare = (caller: Caller) => Promise<Request>;

const service = await startService(fileScope());
const { send } = service;
const issued = await service.issue({ firmName: "Konkan Desk" });
const root = issued.api_key;
const deskId = issued.firm_id;
const [firmA, firmB] = [await addFirm(service, { deskId }), await addFirm(service, { deskId })];

const sub = async (firm_id: string) =>
  (await mintChild(service, root, { kind: "sub_account", firm_id, buy_side: true })).api_key;

const callers: readonly Caller[] = [
  { name: "the root key", key: root, reach: deskId, firmId: deskId },
  {
    name: "an app key",
    key: (await mintChild(service, root, { buy_side: true })).api_key,
    reach: deskId,
    firmId: deskId,
  },
  { name: "A", key: await sub(firmA), reach: firmA, firmId: firmA },
  { name: "A's other key", key: await sub(firmA), reach: firmA, firmId: firmA },
  { name: "B", key: await sub(firmB), reach: firmB, firmId: firmB },
];

let made = 0;

async function holding(firmId: string, facePaise = 25_000_000): Promise<string> {
  const credit = { scheme: "RODTEP", facePaise, expiresOn: "2028-10-01", state: "listed" } as const;
  return (await addCredits(service, deskId, [{ firmId, ...credit }]))[0] ?? "";
}

const nobody = "AAGCB7383J";

async function readyNetting(): Promise<Request> {
  const [giver, taker] = [await addFirm(service, { deskId }), await addFirm(service, { deskId })];
  await holding(giver);
  const name = `Group ${++made}`;
  const ask = async (method: string, path: string, body?: object) =>
    (await send(method, path, { key: root, body })).body;
  const { group_id } = await ask("POST", "/v1/groups", { name });
  for (const id of [giver, taker]) await ask("PUT", `/v1/groups/${group_id}/members/${id}`);
  const duty = { scheme: "RODTEP", amount_paise: 25_000_000, due_on: "2027-01-31" };
  await ask("POST", `/v1/firms/${taker}/requirements`, { ...duty, reference: name });
  const path = `/v1/groups/${group_id}/netting`;
  const { netting_ref } = await ask("GET", path);
  return { path: `${path}/crosses`, body: { netting_ref } };
}

const creating: Readonly<Record<string, Prepare>> = {
  placeOrder: async ({ firmId }) => ({
    path: "/v1/orders",
    body: { side: "sell", scrip_no: await holding(firmId), limit_bps: 9_980, firm_id: firmId },
  }),
  placeOrderBatch: async ({ firmId }) => ({
    path: "/v1/orders:batch",
    body: { orders: [{ side: "sell", scrip_no: await holding(firmId), limit_bps: 9_980 }] },
  }),
  proposeCross: async ({ key, firmId }) => {
    const asked = {
      kind: "block",
      side: "sell",
      firm_id: firmId,
      counterparty_iec: nobody,
      scrip_nos: [await holding(firmId, crore)],
      price_bps: 9_800,
    };
    const { body } = await send("POST", "/v1/cross/quote", { key, body: asked, expect: 200 });
    return { path: "/v1/cross", body: { cross_quote_ref: body.cross_quote_ref } };
  },
  registerWebhook: async () => {
    // A desk has room for fifty.
    await service.ctx.db.pool.query("delete from webhooks");
    return {
      path: "/v1/webhooks",
      body: { url: `https://erp.example/hooks/${++made}`, event: "*" },
    };
  },
  declareRequirement: async ({ firmId }) => ({
    path: `/v1/firms/${firmId}/requirements`,
    body: { amount_paise: 4_200_000, due_on: "2027-01-31", reference: `BE-${++made}` },
  }),
  coverRequirement: async ({ firmId }) => {
    const path = `/v1/firms/${firmId}/requirements`;
    const duty = { amount_paise: 4_200_000, due_on: "2027-01-31", reference: `BE-${++made}` };
    const { body } = await send("POST", path, { key: root, body: duty, expect: 201 });
    return {
      path: `${path}/${body.requirement_id}/cover`,
      body: { scheme: "RODTEP", limit_bps: 7_600 },
    };
  },
  declareCredits: async ({ firmId }) => ({
    path: `/v1/firms/${firmId}/credits`,
    body: {
      credits: [
        {
          scrip_no: `REACH${String(++made).padStart(5, "0")}`,
          scheme: "RODTEP",
          face_paise: 100,
          issued_on: "2026-10-01",
          expires_on: "2028-10-01",
        },
      ],
    },
  }),
  withdrawMoney: async ({ firmId }) => {
    const amount_paise = ++made;
    await payIn(service, firmId, amount_paise);
    return { path: `/v1/firms/${firmId}/withdrawals`, body: { amount_paise } };
  },
  proposeAct: async ({ firmId }) => {
    const amount_paise = ++made;
    await payIn(service, firmId, amount_paise);
    return { path: "/v1/approvals", body: { kind: "withdrawal", firm_id: firmId, amount_paise } };
  },
  registerFirm: async () => ({ path: "/v1/firms", body: firmBody() }),
  createGroup: async () => ({ path: "/v1/groups", body: { name: `Group ${++made}` } }),
  mintKey: async () => ({
    path: "/v1/keys",
    body: { name: `key ${++made}`, kind: "app", scopes: ["quote"] },
  }),
  crossNetting: readyNetting,
};

/** Every id in an answer, in whatever place, but for those that the caller sent or has itself. */
function idsIn({ text }: Answer): Set<string> {
  return new Set(
    text.match(/\b(?:ord|crs|whk|rqm|grp|key|frm|net|stl|crd|wdr|pay|dap)_[0-9a-z]{26}\b/g),
  );
}

async function create(by: Caller, { path, body }: Request, idempotencyKey: string) {
  const headers = { "idempotency-key": idempotencyKey };
  return await send("POST", path, { key: by.key, body, headers });
}

function isReplay({ headers, body }: Answer): boolean {
  return headers.get("idempotent-replayed") === "true" || body?.results?.[0]?.status === 200;
}

test("this test covers every route that creates something", () => {
  const routes = service.app.routes.filter(
    ({ config, path }) => config.creates === true && path.startsWith("/v1/"),
  );
  const missing = routes
    .map(({ operationId }) => operationId ?? "")
    .filter((operationId) => !(operationId in creating));
  assert.deepEqual(missing, [], "add these to test/api/idempotency-reach.test.ts");
});

for (const [operationId, prepare] of Object.entries(creating)) {
  test(`${operationId}: an idempotency key that another owner used is free and reveals nothing`, async (t) => {
    let cells = 0;
    for (const first of callers) {
      for (const second of callers.filter(({ reach }) => reach !== first.reach)) {
        const idempotencyKey = `reach-${++made}`;
        const original = await create(first, await prepare(first), idempotencyKey);
        if (original.status >= 400) continue; // Not for this kind of key.
        const request = await prepare(second);
        const control = await create(second, await prepare(second), `control-${++made}`);
        const answer = await create(second, request, idempotencyKey);
        const what = `${second.name} after ${first.name}: ${answer.text}`;
        assert.equal(answer.status, control.status, what);
        assert.equal(isReplay(answer), false, what);
        const sent = new Set([...JSON.stringify(request).matchAll(/\w+_[0-9a-z]{26}/g)].flat());
        const known = new Set([deskId, second.firmId, issued.key_id]);
        for (const id of idsIn(answer)) {
          const isTheirs = idsIn(original).has(id) && !sent.has(id) && !known.has(id);
          assert.equal(isTheirs, false, `${id} is told to ${what}`);
        }
        cells += 1;
      }
    }
    t.diagnostic(`${cells} cells`);
  });

  test(`${operationId}: a repeated key of one owner finds its resource, and another body is refused`, async () => {
    for (const first of callers) {
      for (const second of callers.filter(({ reach }) => reach === first.reach)) {
        const idempotencyKey = `same-${++made}`;
        const request = await prepare(first);
        const original = await create(first, request, idempotencyKey);
        if (original.status >= 400) continue;
        const again = await create(second, request, idempotencyKey);
        if (again.status === 403) continue; // An app key mints nothing.
        const what = `${second.name} after ${first.name}: ${again.text}`;
        assert.equal(again.status, 200, what);
        assert.ok(isReplay(again), what);
        const other = await create(second, await prepare(second), idempotencyKey);
        const refusal = other.body.results?.[0]?.error ?? other.body;
        assert.equal(refusal.detail?.reason, "idempotency_key_reused", other.text);
      }
    }
  });
}

test("a root key that repeats a sub_account key's order creates its own", async () => {
  const [desk, , a, , b] = callers as [Caller, Caller, Caller, Caller, Caller];
  const body = { side: "sell", scrip_no: await holding(firmA), limit_bps: 9_980 };
  const request = { path: "/v1/orders", body };
  const placed = await create(a, request, "order-of-a");
  assert.equal(placed.status, 201);
  const again = await create(desk, request, "order-of-a");
  assert.equal(again.status, 409);
  assert.equal(again.body.detail.credit_status, "reserved");
  assert.equal(again.text.includes(placed.body.order_id), false);
  assert.equal((await create(b, request, "order-of-a")).status, 404);
  // Both may have orders under the key; each is shown those it may read.
  const own = await create(
    desk,
    await (creating["placeOrder"] ?? assert.fail())(desk),
    "order-of-a",
  );
  assert.equal(own.status, 201);
  const found = async ({ key }: Caller) =>
    (await send("GET", "/v1/orders?idempotency_key=order-of-a", { key, expect: 200 })).body.orders
      .map((order: { order_id: string }) => order.order_id)
      .toSorted();
  assert.deepEqual(await found(a), [placed.body.order_id]);
  assert.deepEqual(await found(b), []);
  const both: string[] = [placed.body.order_id, own.body.order_id];
  assert.deepEqual(await found(desk), both.toSorted());
});

test("another firm under the same idempotency key is another body", async () => {
  const body = { side: "sell", scheme: "RODTEP", face_paise: 25_000_000, limit_bps: 9_980 };
  await holding(firmA);
  await holding(firmB);
  const desk = callers[0] as Caller;
  const place = async (firm_id: string) =>
    await create(desk, { path: "/v1/orders", body: { ...body, firm_id } }, "two-firms");
  const first = await place(firmA);
  assert.equal(first.status, 201, first.text);
  const second = await place(firmB);
  assert.equal(second.status, 409);
  const { order_id } = first.body;
  assert.deepEqual(second.body.detail, {
    reason: "idempotency_key_reused",
    order_id,
    differs: ["firm_id"],
  });
});

test("a root key learns nothing of a wider key through the idempotency key that minted it", async () => {
  const narrow = await service.issue({
    firmName: "Konkan Desk",
    scopes: ["quote"],
    buySide: false,
  });
  const headers = { "idempotency-key": "minted" };
  const body = { name: "wide", kind: "app", scopes: ["*"] };
  const minted = await send("POST", "/v1/keys", { key: root, body, headers, expect: 201 });
  const key = narrow.api_key;
  const same = await send("POST", "/v1/keys", { key, body, headers, expect: 403 });
  assert.equal(same.body.detail.reason, "scope_not_held");
  const other = { ...body, scopes: ["quote"] };
  const reused = await send("POST", "/v1/keys", { key, body: other, headers, expect: 409 });
  assert.deepEqual(reused.body.detail, { reason: "idempotency_key_reused", differs: ["scopes"] });
  for (const { text } of [same, reused]) assert.equal(text.includes(minted.body.key_id), false);
});

test("migrated idempotency keys belong to their users, and retries still find their resources", async () => {
  const a = callers[2] as Caller;
  const desk = callers[0] as Caller;
  const operations = [
    "placeOrder",
    "placeOrderBatch",
    "proposeCross",
    "registerWebhook",
    "declareRequirement",
    "declareCredits",
  ];
  const tried: { by: Caller; request: Request; idempotencyKey: string }[] = [];
  for (const by of [a, desk]) {
    for (const operationId of operations) {
      const prepare = creating[operationId] ?? assert.fail(operationId);
      if (operationId === "registerWebhook" && by === desk) continue; // It would make room again.
      const one = { by, request: await prepare(by), idempotencyKey: `before-${++made}` };
      const { status, text } = await create(one.by, one.request, one.idempotencyKey);
      assert.ok(status < 300, text);
      tried.push(one);
    }
  }
  const { pool } = service.ctx.db;
  await pool.query("update orders set bound_firm_id = null where idempotency_key like 'before-%'");
  await pool.query(
    `update idempotency_keys
    set scope = concat_ws(':', 'sandbox', $1::text, split_part(scope, ':', 3))
    where idempotency_key like 'before-%'`,
    [deskId],
  );
  const { text } =
    (await readMigrations()).find(({ file }) => file.endsWith("-keys-of-a-reach.sql")) ??
    assert.fail("the migration is there");
  const plain = text.replaceAll(/^--.*$/gm, "").split(/;\s*$/m);
  const moves = plain.map((part) => part.trim()).filter((part) => /^(update|insert)/.test(part));
  assert.equal(moves.length, 3);
  await runOnRecords(pool, moves);
  for (const { by, request, idempotencyKey } of tried) {
    const again = await create(by, request, idempotencyKey);
    assert.ok(again.status === 200 && isReplay(again), `${by.name} ${request.path}: ${again.text}`);
  }
});
