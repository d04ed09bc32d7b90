// The letter of the contract at the edge: how a request may be written, and what an answer says and
// what it hides.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { clientFirm } from "../support/firms.ts";
import { mintChild } from "../support/keys.ts";
import { rawAnswers } from "../support/raw.ts";
import { fileScope } from "../support/scope.ts";
import {
  type Answer,
  readSlug,
  type RequestOptions,
  type Service,
  startService,
} from "../support/service.ts";

const scope = fileScope();

let service: Service;
let key: string;
let deskId: string;

before(async () => {
  service = await startService(scope, {
    routes(app) {
      const fail = async () => {
        throw new Error("on purpose");
      };
      app.get("/v1/test/fault", { config: { demand: "any key" } }, fail);
      app.get("/test/fault", { config: { keyless: "free" } }, fail);
    },
  });
  ({ api_key: key, firm_id: deskId } = await service.issue());
});

async function send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  return await service.send(method, path, { key, ...options });
}

const child = { name: "child", kind: "app", scopes: ["quote"] };

async function mintAs(contentType: string): Promise<number> {
  const headers = { "content-type": contentType };
  const answer = await send("POST", "/v1/keys", { body: JSON.stringify(child), headers });
  return answer.status;
}

test("a secret sent in the wrong place is not echoed", async () => {
  const { api_key: other } = await service.issue();
  const secrets = [other, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
  for (const secret of secrets) {
    const answers = [
      await send("POST", "/v1/keys", { body: { ...child, [secret]: 1 }, expect: 400 }),
      await send("POST", "/v1/keys", { body: { ...child, kind: secret }, expect: 400 }),
      await send("POST", "/v1/keys", { body: { ...child, limits: { [secret]: 1 } }, expect: 400 }),
      await send("GET", `/v1/keys?${secret}=1`, { expect: 422 }),
      await send("GET", `/v1/whoami?${secret}`, { expect: 422 }),
      await send("GET", `/v1/keys?cursor=${secret}`, { expect: 400 }),
      await send("GET", `/v1/keys/${secret}`, { expect: 404 }),
      await send("GET", `/${secret}`, { expect: 404 }),
      await send("POST", "/v1/orders", {
        body: { side: "sell", scrip_no: "A", metadata: { [`${secret} `]: "1" } },
        expect: 422,
      }),
      await send("POST", "/v1/orders:batch", { body: { orders: [{ [secret]: 1 }] }, expect: 200 }),
      await send("GET", "/v1/whoami", { headers: { "x-request-id": secret }, expect: 200 }),
      await send("GET", "/nowhere", { headers: { "x-request-id": secret }, expect: 404 }),
    ];
    for (const { text, headers } of answers) {
      assert.ok(!text.includes(secret.slice(14)), text);
      assert.ok(!headers.get("x-request-id")?.includes(secret));
    }
  }
});

test("application/json with any parameters and any +json type are accepted", async () => {
  const taken = [
    "application/json",
    "application/json;",
    "application/json; version=1",
    'Application/JSON ; charset="utf-8"; x=y',
    "application/json; charset=iso-8859-1",
    "application/vnd.api+json",
    "application/merge-patch+json; a=b",
  ];
  for (const type of taken) assert.equal(await mintAs(type), 201, type);
  const refused = ["text/plain", "application/jsonp", "application/x+jsonx", "application/xml"];
  for (const type of refused) assert.equal(await mintAs(type), 415, type);
});

test("a colon of a path may be sent encoded", async () => {
  for (const path of ["/v1/orders:batch", "/v1/orders%3Abatch", "/v1/orders%3abatch"]) {
    const { body } = await send("POST", path, { body: { orders: [{}] }, expect: 200 });
    assert.equal(body.failed, 1);
  }
  await send("GET", "/v1/keys?cursor=%3A", { expect: 400 });
});

test("null for an optional field means that it is left out, also in an item of a list", async () => {
  const limits = { per_minute: null, monthly_quota: 5 };
  const minted = await send("POST", "/v1/keys", {
    body: { ...child, limits, expires_at: null, ip_allowlist: null },
    expect: 201,
  });
  assert.deepEqual(minted.body.limits, { monthly_quota: 5 });
  const order = { side: "sell", scrip_no: "NOBODYS-1", client_ref: null, metadata: null };
  const alone = await send("POST", "/v1/orders", { body: order, expect: 404 });
  const { body } = await send("POST", "/v1/orders:batch", {
    body: { orders: [{ ...order, quote_ref: null, idempotency_key: null }] },
    expect: 200,
  });
  assert.equal(body.results[0].status, alone.status);
  const credit = { scrip_no: "NULL-1", scheme: "RODTEP", face_paise: 100_000, port_code: null };
  const declared = await send("POST", `/v1/firms/${deskId}/credits`, {
    body: { credits: [{ ...credit, issued_on: "2026-10-01", expires_on: "2028-10-01" }] },
    expect: 200,
  });
  assert.equal(declared.body.accepted, 1, declared.text);
});

test("null where a field is required, or not known, is refused as before", async () => {
  const required = await send("POST", "/v1/keys", { body: { ...child, name: null }, expect: 422 });
  assert.equal(required.body.detail.fields[0].path, "name");
  await send("POST", "/v1/keys", { body: { ...child, nothing: null }, expect: 400 });
  const metadata = { a: null };
  const order = { side: "sell", scrip_no: "A", metadata };
  await send("POST", "/v1/orders", { body: order, expect: 422 });
});

test("null in a PATCH clears, and where nothing can be cleared it is refused", async () => {
  const { firmId } = await clientFirm(service, deskId, { state: "registered" });
  const path = `/v1/firms/${firmId}`;
  const named = await send("PATCH", path, { body: { external_id: "ERP-7" }, expect: 200 });
  assert.equal(named.body.external_id, "ERP-7");
  const cleared = await send("PATCH", path, { body: { external_id: null }, expect: 200 });
  assert.equal(cleared.body.external_id, null);
  await send("PATCH", path, { body: { legal_name: null }, expect: 422 });
});

test("a metadata value that is not a string is 422, under any name", async () => {
  const order = { side: "sell", scrip_no: "NOBODYS-2" };
  for (const metadata of [{ "po ref": { n: 1 } }, { ref: { n: 1 } }, { ref: 1 }, { é: "x" }]) {
    const refused = await send("POST", "/v1/orders", { body: { ...order, metadata }, expect: 422 });
    assert.match(refused.body.detail.fields[0].path, /^metadata/);
  }
  await send("POST", "/v1/orders", { body: { ...order, metadata: { ref: "1" } }, expect: 404 });
});

test("unknown query names are refused under /v1 and ignored under /public", async () => {
  for (const path of ["/v1/keys", "/v1/whoami", "/v1/openapi.json", "/v1/meta/states"]) {
    const refused = await send("GET", `${path}?utm_source=x`, { expect: 422 });
    assert.equal(readSlug(refused), "validation_error");
  }
  for (const path of ["/public/rates", "/public/rates/RODTEP", "/public/rates/RODTEP/history"]) {
    await service.send("GET", `${path}?utm_source=x&fbclid=%00`, { expect: 200 });
  }
  const history = "/public/rates/RODTEP/history?from=soon&utm_source=x";
  await service.send("GET", history, { expect: 422 });
});

test("an If-None-Match hit is 304 without a Content-Length", async () => {
  const first = await service.send("GET", "/public/rates", { expect: 200 });
  const [unchanged] = await rawAnswers(
    service.url,
    `GET /public/rates HTTP/1.1\r\nHost: x\r\nIf-None-Match: ${first.headers.get("etag")}\r\nConnection: close\r\n\r\n`,
  );
  assert.equal(unchanged?.status, 304);
  assert.equal(unchanged.headers.get("content-length"), null);
});

test("a fault is internal behind the key and internal_error at the edge, both without Retry-After", async () => {
  const inside = await send("GET", "/v1/test/fault", { expect: 500 });
  const outside = await service.send("GET", "/test/fault", { expect: 500 });
  const slugs = { internal: inside, internal_error: outside };
  for (const [slug, { body, headers }] of Object.entries(slugs)) {
    const { message, ...rest } = body;
    assert.ok(message);
    assert.deepEqual(rest, { error: slug, request_id: headers.get("x-request-id") });
    assert.equal(headers.get("retry-after"), null);
  }
});

test("an inbound request id of up to 200 visible characters is echoed, also on an aborted request", async () => {
  const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join("");
  for (const id of [visible, "x".repeat(200)]) {
    const answer = await send("GET", "/v1/whoami", { headers: { "x-request-id": id } });
    assert.equal(answer.headers.get("x-request-id"), id);
  }
  for (const id of ["x".repeat(201), "a b", ""]) {
    const answer = await send("GET", "/v1/whoami", { headers: { "x-request-id": id } });
    assert.match(answer.headers.get("x-request-id") ?? "", /^req_/);
  }
  const [cut] = await rawAnswers(
    service.url,
    `POST /v1/keys HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\nX-Request-ID: mine/1\r\n`,
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    "zz\r\nno chunk\r\n",
  );
  assert.equal(cut?.status, 400);
  assert.equal(cut.headers.get("x-request-id"), "mine/1");
  assert.equal(cut.body.request_id, "mine/1");
});

test("one condition has one reason on every route", async () => {
  const { api_key: seller } = await mintChild(service, key, { scopes: ["*"] });
  const buy = { side: "buy", scheme: "RODTEP", requirement_paise: 100_000_000 };
  const named = { counterparty_iec: "AABCT1234K", scheme: "RODTEP", face_paise: 1_000_000_000 };
  const block = { kind: "block", side: "buy", ...named };
  const findReason = async (path: string, body: object) => {
    const answer = await send("POST", path, { key: seller, body });
    const refused = answer.body.results?.[0].error ?? answer.body;
    return refused.detail?.reason;
  };
  assert.deepEqual(
    [
      await findReason("/v1/quote", buy),
      await findReason("/v1/orders", buy),
      await findReason("/v1/orders:batch", { orders: [buy] }),
      await findReason("/v1/cross/quote", block),
    ],
    Array.from({ length: 4 }, () => "buy_side_not_enabled"),
  );
  const { firmId } = await clientFirm(service, deskId, { state: "offboarded" });
  const credit = { scrip_no: "LEFT-1", scheme: "RODTEP", face_paise: 100_000 };
  const dated = { ...credit, issued_on: "2026-10-01", expires_on: "2028-10-01" };
  const requirement = { amount_paise: 1_000, due_on: "2026-12-31", reference: "BE-1" };
  const gone = [
    await send("POST", `/v1/firms/${firmId}/credits`, { body: { credits: [dated] } }),
    await send("POST", `/v1/firms/${firmId}/requirements`, { body: requirement }),
    await send("POST", "/v1/keys", { body: { ...child, kind: "sub_account", firm_id: firmId } }),
  ];
  for (const answer of gone) {
    assert.equal(answer.body.detail?.reason, "firm_offboarded", answer.text);
  }
});
