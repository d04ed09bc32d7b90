// The conventions, errors and limits of the contract, through the front door.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { selfSignedCertificate } from "../support/certificate.ts";
import { rawAnswers } from "../support/raw.ts";
import { fileScope } from "../support/scope.ts";
import {
  type Answer,
  readSlug,
  type RequestOptions,
  type Service,
  startService,
} from "../support/service.ts";

const bytesMax = 1_048_576;
const scope = fileScope();
const secretText = "the password is hunter2";

let service: Service;
let root: { api_key: string; key_id: string };
let key: string;

before(async () => {
  service = await startService(scope, {
    routes(app) {
      const faults: Record<string, () => unknown> = {
        error: () => new Error(secretText),
        rejected: () => Object.assign(new Error(secretText), { statusCode: 418, code: "TEAPOT" }),
        framework: () =>
          Object.assign(new Error(secretText), { statusCode: 500, code: "FST_ERR_X" }),
        text: () => secretText,
        nothing: () => undefined,
      };
      for (const [name, fault] of Object.entries(faults)) {
        app.get(`/test/faults/${name}`, { config: { keyless: "free" } }, async () => {
          throw fault();
        });
      }
    },
  });
  root = await service.issue();
  key = root.api_key;
});

function send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  return service.send(method, path, { key, ...options });
}

const child = { name: "child", kind: "app", scopes: ["quote"] };

async function mint(more: object = {}, options: RequestOptions = {}): Promise<Answer> {
  return await send("POST", "/v1/keys", { body: { ...child, ...more }, ...options });
}

/** A live child key that may call once a minute, and has. */
async function spentKey(): Promise<string> {
  const live = await service.issue({ environment: "live" });
  const minted = await mint({ limits: { per_minute: 1 } }, { key: live.api_key, expect: 201 });
  await send("GET", "/v1/whoami", { key: minted.body.api_key, expect: 200 });
  return minted.body.api_key;
}

async function childKey(): Promise<string> {
  return (await mint({}, { expect: 201 })).body.api_key;
}

function assertForm(
  answer: Answer,
  form: "trading" | "edge" | "transport",
  status: number,
  slug: string,
): void {
  const { detail, ...body } = answer.body;
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
  assert.ok(typeof body.message === "string" && body.message.length > 0);
  assert.ok(detail === undefined || typeof detail === "object");
  const { message } = body;
  const id = answer.headers.get("x-request-id");
  const forms = {
    trading: { error: "request_error", code: slug, message },
    edge: { error: slug, code: slug, message },
    transport: { error: slug, message, request_id: id },
  };
  assert.deepEqual(body, forms[form]);
}

/** `{extra0: 0, extra1: 1, …}` */
function numbered(name: string, count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at]));
}

function buildStream(size: number, text = " "): ReadableStream {
  const piece = Buffer.alloc(65_536, " ");
  let left = size - text.length;
  return new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(text)),
    pull(controller) {
      if (left > 0) controller.enqueue(piece.subarray(0, Math.min(left, piece.length)));
      else controller.close();
      left -= piece.length;
    },
  });
}

describe("every answer carries X-Request-ID", () => {
  const answers: Record<string, (headers: Record<string, string>) => Promise<Answer>> = {
    "200 keyless": (headers) => service.send("GET", "/healthz", { headers, expect: 200 }),
    "200 keyed": (headers) => send("GET", "/v1/whoami", { headers, expect: 200 }),
    "200 to HEAD": (headers) => send("HEAD", "/v1/whoami", { headers, expect: 200 }),
    "200 page": (headers) => service.send("GET", "/docs/", { headers, expect: 200 }),
    "201": (headers) => mint({}, { headers, expect: 201 }),
    "400": (headers) => send("POST", "/v1/keys", { headers, body: "{", expect: 400 }),
    "401": (headers) => service.send("GET", "/v1/whoami", { headers, expect: 401 }),
    "403": async (headers) =>
      await send("GET", "/v1/keys", { headers, key: await childKey(), expect: 403 }),
    "404 route": (headers) => send("GET", "/nowhere", { headers, expect: 404 }),
    "404 path that cannot be decoded": (headers) => send("GET", "/%zz", { headers, expect: 404 }),
    "404 resource": (headers) => send("GET", "/v1/keys/none", { headers, expect: 404 }),
    "413": (headers) =>
      send("POST", "/v1/keys", { headers, body: "x".repeat(bytesMax + 1), expect: 413 }),
    "415": (headers) =>
      mint({}, { headers: { ...headers, "content-type": "text/plain" }, expect: 415 }),
    "422 body": (headers) => mint({ name: 1 }, { headers, expect: 422 }),
    "422 query": (headers) => send("GET", "/v1/keys?limit=0", { headers, expect: 422 }),
    "429": async (headers) =>
      await send("GET", "/v1/whoami", { headers, key: await spentKey(), expect: 429 }),
    "500": (headers) => send("GET", "/test/faults/error", { headers, expect: 500 }),
  };
  for (const [name, answer] of Object.entries(answers)) {
    test(`${name} echoes a well-formed request id and generates one otherwise`, async () => {
      const own = "Gate.way_1:2-3";
      const echoed = await answer({ "x-request-id": own });
      assert.equal(echoed.headers.get("x-request-id"), own);
      assert.ok(echoed.body?.request_id === undefined || echoed.body.request_id === own);
      for (const illFormed of ["", "a b", "é", "x".repeat(201)]) {
        const made = await answer({ "x-request-id": illFormed });
        assert.match(made.headers.get("x-request-id") ?? "", /^req_[0-9a-z]{26}$/);
      }
    });
  }

  test("an id of 200 characters is echoed, and generated ids are unique", async () => {
    const longest = "x".repeat(200);
    const echoed = await send("GET", "/healthz", { headers: { "x-request-id": longest } });
    assert.equal(echoed.headers.get("x-request-id"), longest);
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await send("GET", "/healthz")).headers.get("x-request-id"),
      ),
    );
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe("error bodies have the form of the layer that refuses", () => {
  test("a business rule: request_error, the slug in code", async () => {
    assertForm(await mint({ name: "" }), "trading", 422, "unprocessable");
    assertForm(await mint({ kind: "other" }), "trading", 400, "bad_request");
    assertForm(await send("GET", "/v1/keys/none"), "trading", 404, "not_found");
    const poor = await service.issue({ scopes: ["quote"] });
    const refused = await mint({ scopes: ["firms"] }, { key: poor.api_key });
    assertForm(refused, "trading", 403, "forbidden");
  });

  test("an action the state does not allow says the state and what it allows", async () => {
    const { key_id } = (await mint({}, { expect: 201 })).body;
    await send("DELETE", `/v1/keys/${key_id}`, { expect: 200 });
    const refused = await send("POST", `/v1/keys/${key_id}/reissue`);
    assertForm(refused, "trading", 409, "conflict");
    assert.equal(refused.body.detail.state, "revoked");
    assert.deepEqual(refused.body.detail.allowed_actions, []);
    assert.equal(typeof refused.body.detail.reason, "string");
  });

  test("the key and the meter: the slug in error and code", async () => {
    assertForm(await service.send("GET", "/v1/whoami"), "edge", 401, "unauthorized");
    assertForm(await send("GET", "/v1/keys", { key: await childKey() }), "edge", 403, "forbidden");
    const limited = await send("GET", "/v1/whoami", { key: await spentKey() });
    assertForm(limited, "edge", 429, "rate_limited");
    assert.equal(limited.headers.get("retry-after"), "60");
    for (const name of ["plan", "limit", "remaining", "reset", "quota", "quota-used"]) {
      assert.ok(limited.headers.has(`x-ratelimit-${name}`), name);
    }
  });

  test("HTTP itself: the slug in error, no code, the request id in the body", async () => {
    assertForm(await send("GET", "/nowhere"), "transport", 404, "not_found");
    assertForm(await send("GET", "/%zz"), "transport", 404, "not_found");
    assertForm(await send("POST", "/v1/keys", { body: "{" }), "transport", 400, "bad_request");
    assertForm(await send("GET", "/v1/keys?limit=0"), "transport", 422, "validation_error");
    const typed = await mint({}, { headers: { "content-type": "text/xml" } });
    assertForm(typed, "transport", 415, "unsupported_media_type");
  });

  test("refusals and faults carry no Retry-After", async () => {
    for (const path of ["/nowhere", "/v1/keys?limit=0", "/test/faults/error"]) {
      assert.equal((await send("GET", path)).headers.get("retry-after"), null);
    }
  });

  test("every answer to a known key carries the rate-limit headers, errors too; an unknown key gets none", async () => {
    const known = [
      await send("GET", "/v1/keys", { key: await childKey() }),
      await send("GET", "/v1/keys/none"),
      await send("POST", "/v1/keys", { body: "{" }),
      await mint({ name: 1 }),
      await mint({}, { headers: { "content-type": "text/plain" } }),
    ];
    for (const { headers } of known) assert.equal(headers.get("x-ratelimit-plan"), "sandbox");
    const unknown = await service.send("GET", "/v1/whoami");
    assert.equal(unknown.headers.get("x-ratelimit-plan"), null);
  });
});

describe("checks run in one order: each request breaks every later rule too", () => {
  const everything = { "content-type": "text/plain", "x-dry-run": "maybe" };
  const tooLong = "x".repeat(bytesMax + 1);

  test("size, before the route", async () => {
    const answer = await service.send("POST", "/nowhere", { body: tooLong, headers: everything });
    assertForm(answer, "transport", 413, "request_too_large");
  });
  test("route, before the key", async () => {
    const answer = await service.send("POST", "/nowhere", { body: "{", headers: everything });
    assertForm(answer, "transport", 404, "not_found");
  });
  test("key, before the meter", async () => {
    const answer = await service.send("POST", "/v1/keys", { body: "{", headers: everything });
    assertForm(answer, "edge", 401, "unauthorized");
  });
  test("meter, before the scope", async () => {
    const spent = await spentKey();
    const answer = await send("POST", "/v1/keys", { key: spent, body: "{", headers: everything });
    assertForm(answer, "edge", 429, "rate_limited");
  });
  test("scope, before the content type", async () => {
    const poor = await childKey();
    const answer = await send("POST", "/v1/keys", { key: poor, body: "{", headers: everything });
    assertForm(answer, "edge", 403, "forbidden");
  });
  test("content type, before parsing", async () => {
    const answer = await send("POST", "/v1/keys", { body: "{", headers: everything });
    assertForm(answer, "transport", 415, "unsupported_media_type");
  });
  test("parsing, before the shape", async () => {
    const headers = { "x-dry-run": "maybe" };
    const answer = await send("POST", "/v1/keys", { body: '{"name":1,"name":2}', headers });
    assertForm(answer, "transport", 400, "bad_request");
  });
  test("shape, before the firm's state", async () => {
    const answer = await mint({ kind: "sub_account", firm_id: "frm_unknown", name: 1 });
    assertForm(answer, "trading", 422, "unprocessable");
    const later = await mint({ kind: "sub_account", firm_id: "frm_unknown" });
    assertForm(later, "trading", 404, "not_found");
  });
});

describe("a body over 1 MiB is refused before it is read, for any key and route", () => {
  const places: readonly [what: string, line: string, withKey: boolean][] = [
    ["with a key", "POST /v1/keys", true],
    ["without a key", "POST /v1/keys", false],
    ["on an unknown route", "POST /nowhere", false],
    ["on a path that cannot be decoded", "POST /%zz", false],
    ["on a read", "GET /v1/whoami", true],
    ["on a keyless route", "GET /healthz", false],
  ];
  for (const [what, line, withKey] of places) {
    const head = () =>
      `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      (withKey ? `X-Service-Key: ${key}\r\n` : "");
    const assertTooLarge = ([answer]: Awaited<ReturnType<typeof rawAnswers>>) => {
      assert.ok(answer);
      assertForm(answer, "transport", 413, "request_too_large");
      assert.match(answer.body.message, /1048576/);
      assert.equal(answer.body.detail, undefined);
    };
    test(`${what}, by its Content-Length alone`, async () => {
      const length = `Content-Length: ${bytesMax + 1}\r\n\r\n`;
      assertTooLarge(await rawAnswers(service.url, head() + length));
    });
    test(`${what}, by counting its chunks`, async () => {
      const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
      const chunks = [...Array.from({ length: 16 }, () => chunk), "1\r\n \r\n0\r\n\r\n"];
      const framing = "Transfer-Encoding: chunked\r\n\r\n";
      assertTooLarge(await rawAnswers(service.url, head() + framing, ...chunks));
    });
  }

  test("exactly 1048576 bytes are accepted, with a length and in chunks", async () => {
    const text = JSON.stringify(child);
    await send("POST", "/v1/keys", { body: text.padEnd(bytesMax), expect: 201 });
    await send("POST", "/v1/keys", { body: buildStream(bytesMax, text), expect: 201 });
    const over = await send("POST", "/v1/keys", { body: buildStream(bytesMax + 1, text) });
    assertForm(over, "transport", 413, "request_too_large");
  });
});

describe("a body is JSON and says so", () => {
  for (const type of [
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application",
    "*/*",
    ";",
  ]) {
    test(`415 for ${type}`, async () => {
      const answer = await mint({}, { headers: { "content-type": type } });
      assertForm(answer, "transport", 415, "unsupported_media_type");
    });
  }
  test("415 without a content type", async () => {
    const text = JSON.stringify(child);
    const head = `POST /v1/keys HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\nConnection: close\r\n`;
    for (const framed of [
      `Content-Length: ${text.length}\r\n\r\n${text}`,
      `Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    ]) {
      const [answer] = await rawAnswers(service.url, head + framed);
      assert.ok(answer);
      assertForm(answer, "transport", 415, "unsupported_media_type");
    }
  });
  test("415 for a compressed body", async () => {
    for (const encoding of ["gzip", "br", "deflate", "identity, gzip"]) {
      const answer = await mint({}, { headers: { "content-encoding": encoding } });
      assertForm(answer, "transport", 415, "unsupported_media_type");
    }
  });
  for (const type of [
    "application/json",
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    'application/json ; charset="UTF-8"',
  ]) {
    test(`201 for ${type}`, async () => {
      await mint({}, { headers: { "content-type": type }, expect: 201 });
    });
  }
  test("a write that takes no body needs no content type", async () => {
    const { key_id } = (await mint({}, { expect: 201 })).body;
    await send("POST", `/v1/keys/${key_id}/reissue`, { expect: 200 });
    await send("DELETE", `/v1/keys/${key_id}`, { expect: 200 });
  });
});

describe("a body that parsers could read differently is refused", () => {
  const valid = JSON.stringify(child).slice(0, -1);
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const malformed: Record<string, string | Uint8Array> = {
    "text that is no JSON": "{name:1}",
    "half an object": valid,
    "two objects": "{}{}",
    "a trailing comma": `${valid},}`,
    "a comment": `${valid}/* */}`,
    "a byte order mark": `\uFEFF${valid}}`,
    NaN: `${valid},"buy_side":NaN}`,
    "an array": "[]",
    "a string": '"text"',
    "a number": "1",
    null: "null",
    nothing: "",
    "white space": " \n",
    "a name twice": `${valid},"name":"other"}`,
    "a name twice, once escaped": `${valid},"n\\u0061me":"other"}`,
    "a name twice in a member": `${valid},"limits":{"per_minute":1,"per_minute":2}}`,
    "a name twice in a list": `${valid},"ip_allowlist":[{"a":1,"a":1}]}`,
    __proto__: `${valid},"__proto__":{"buy_side":true}}`,
    "__proto__ in a member": `${valid},"limits":{"__proto__":{"per_minute":1}}}`,
    "__proto__, escaped": `${valid},"__proto\\u005f_":1}`,
    "NUL in a value": `{"name":"a\\u0000b","kind":"app","scopes":["quote"]}`,
    "NUL in a name": `${valid},"\\u0000":1}`,
    "a lone high surrogate": `{"name":"\\ud800","kind":"app","scopes":["quote"]}`,
    "a lone low surrogate": `{"name":"\\udc00x","kind":"app","scopes":["quote"]}`,
    "a lone surrogate in a name": `${valid},"\\ud800":1}`,
    "bytes that are not UTF-8": Buffer.from(`${valid},"x":"\u00ff"}`, "latin1"),
    "an overlong encoding": Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    "UTF-16": Buffer.from(`${valid}}`, "utf16le"),
    "33 levels": `${valid},"x":${nested(32)}}`,
    "half a million levels": "[".repeat(500_000),
  };
  for (const [name, body] of Object.entries(malformed)) {
    test(`400 for ${name}`, async () => {
      const answer = await send("POST", "/v1/keys", { body });
      assertForm(answer, "transport", 400, "bad_request");
      assert.equal(answer.body.detail, undefined);
    });
  }
  test("32 levels are read, and then the unknown field is refused", async () => {
    const answer = await send("POST", "/v1/keys", { body: `${valid},"x":${nested(31)}}` });
    assertForm(answer, "trading", 400, "bad_request");
    assert.equal(answer.body.detail.field, "x");
  });
  test("colons, quotes and braces inside text are only text", async () => {
    const name = '":{}[]," \\" \\\\":"😀';
    const minted = await mint({ name }, { expect: 201 });
    assert.equal(minted.body.name, name);
  });
});

test("an operation without a declared body refuses one, except an empty object", async () => {
  const { key_id } = (await mint({}, { expect: 201 })).body;
  const answer = await send("POST", `/v1/keys/${key_id}/reissue`, { body: { grace_s: 60 } });
  assertForm(answer, "trading", 400, "bad_request");
  assert.equal(answer.body.detail.field, "grace_s");
  await send("POST", `/v1/keys/${key_id}/reissue`, { body: {}, expect: 200 });
});

describe("an invalid value is refused with its field", () => {
  const tooLarge = 9_007_199_254_740_992;
  const invalid: readonly [what: string, more: object, paths: string[]][] = [
    ["a missing field", { name: undefined }, ["name"]],
    ["several missing fields", { name: undefined, scopes: undefined }, ["name", "scopes"]],
    ["an empty name", { name: "" }, ["name"]],
    ["a name of 101 characters", { name: "x".repeat(101) }, ["name"]],
    ["a number for a text", { name: 5 }, ["name"]],
    ["null for a text", { name: null }, ["name"]],
    ["no scopes", { scopes: [] }, ["scopes"]],
    ["a text for a list", { scopes: "quote" }, ["scopes"]],
    ["a text for a boolean", { buy_side: "true" }, ["buy_side"]],
    ["a text for a number", { limits: { per_minute: "10" } }, ["limits.per_minute"]],
    ["a fraction", { limits: { per_minute: 1.5 } }, ["limits.per_minute"]],
    ["zero", { limits: { max_order_paise: 0 } }, ["limits.max_order_paise"]],
    ["a negative amount", { limits: { max_order_paise: -1 } }, ["limits.max_order_paise"]],
    ["2^53", { limits: { max_order_paise: tooLarge } }, ["limits.max_order_paise"]],
    [
      "two fields at once",
      { limits: { per_minute: 0, monthly_quota: "1" } },
      ["limits.per_minute", "limits.monthly_quota"],
    ],
    ["a list for an object", { limits: [] }, ["limits"]],
    ["a day that does not exist", { expires_at: "2027-02-29T00:00:00Z" }, ["expires_at"]],
    ["a time without an offset", { expires_at: "2027-03-01T00:00:00" }, ["expires_at"]],
    ["a time past the year 9999 in IST", { expires_at: "9999-12-31T23:59:59Z" }, ["expires_at"]],
    ["a time that is over", { expires_at: "2020-01-01T00:00:00Z" }, ["expires_at"]],
    ["an address that is none", { ip_allowlist: ["10.0.0.0/33"] }, ["ip_allowlist.0"]],
    ["fields that do not go together", { firm_id: "frm_x" }, ["firm_id"]],
  ];
  for (const [what, more, paths] of invalid) {
    test(`422 for ${what}`, async () => {
      const answer = await mint(more);
      assertForm(answer, "trading", 422, "unprocessable");
      const fields: { path: string; problem: string }[] = answer.body.detail.fields;
      assert.deepEqual(fields.map(({ path }) => path).toSorted(), paths.toSorted());
      for (const { problem } of fields) assert.ok(problem.length > 0);
    });
  }
  test("422 for a number that JSON cannot hold", async () => {
    const valid = JSON.stringify(child).slice(0, -1);
    for (const number of ["1e999", "-1e999", "9007199254740993", "1e-7"]) {
      const body = `${valid},"limits":{"max_order_paise":${number}}}`;
      assertForm(await send("POST", "/v1/keys", { body }), "trading", 422, "unprocessable");
    }
  });
  test("2^53 - 1 is accepted exactly", async () => {
    const limits = { max_order_paise: Number.MAX_SAFE_INTEGER };
    assert.deepEqual((await mint({ limits }, { expect: 201 })).body.limits, limits);
  });
  test("an unknown field is 400 and is named, nested ones too", async () => {
    for (const [more, field] of [
      [{ scope: ["quote"] }, "scope"],
      [{ limits: { per_hour: 1 } }, "limits.per_hour"],
      [{ constructor: 1 }, "constructor"],
      [numbered("extra", 8), "extra0"],
      [numbered("extra", 900), "extra0"],
    ] as const) {
      const answer = await mint(more);
      assertForm(answer, "trading", 400, "bad_request");
      assert.equal(answer.body.detail.field, field);
    }
    assertForm(await mint(numbered("extra", 5_000)), "transport", 400, "bad_request");
  });
  test("an unknown field is named though every field is missing", async () => {
    const answer = await send("POST", "/v1/firms", { body: JSON.stringify(numbered("extra", 8)) });
    assertForm(answer, "trading", 400, "bad_request");
    assert.equal(answer.body.detail.field, "extra0");
  });
  test("an unknown value of an enumeration is 400 and names the allowed ones", async () => {
    const kind = await mint({ kind: "root" });
    assertForm(kind, "trading", 400, "bad_request");
    assert.deepEqual(kind.body.detail, { field: "kind", allowed: ["sub_account", "app"] });
    const scopes = await mint({ scopes: ["quote", "everything"] });
    assertForm(scopes, "trading", 400, "bad_request");
    assert.equal(scopes.body.detail.field, "scopes.1");
    assert.ok(scopes.body.detail.allowed.includes("orders:write"));
  });
});

describe("a query that breaks its rule is 422 validation_error in the transport form", () => {
  const numbers = "0 501 -1 abc 1.5 1e1 0x10 true %201 1n null 1&limit=2 %00 99999999999999999999";
  for (const query of [
    ...numbers.split(" ").map((text) => `limit=${text}`),
    "limit=",
    "limit[]=1",
    "page=2",
    "__proto__=1",
    "constructor=1",
    "cursor=",
    "cursor=a&cursor=b",
    `cursor=${"a".repeat(1_025)}`,
  ]) {
    test(query.slice(0, 40), async () => {
      const answer = await send("GET", `/v1/keys?${query}`);
      assertForm(answer, "transport", 422, "validation_error");
      assert.ok(answer.body.detail.fields.length > 0);
    });
  }
  for (const month of ["2026-00", "2026-13", "2026-1", "0000-01", "x", "2026-11-01", ""]) {
    test(`month=${month}`, async () => {
      const answer = await send("GET", `/v1/usage?month=${month}`);
      assertForm(answer, "transport", 422, "validation_error");
    });
  }
  test("an operation without query parameters refuses any", async () => {
    const answer = await send("GET", "/v1/whoami?verbose=1");
    assertForm(answer, "transport", 422, "validation_error");
    assert.deepEqual(answer.body.detail.fields, [
      { path: "verbose", problem: "is not known here" },
    ]);
  });
  test("the smallest and the largest page size are accepted", async () => {
    for (const limit of [1, 500]) await send("GET", `/v1/keys?limit=${limit}`, { expect: 200 });
    for (const month of ["2000-01", "2999-12"]) {
      await send("GET", `/v1/usage?month=${month}`, { expect: 200 });
    }
  });
});

describe("an unknown path or method is 404", () => {
  for (const [method, path] of [
    ["PUT", "/v1/keys"],
    ["PATCH", "/v1/keys"],
    ["OPTIONS", "/v1/keys"],
    ["DELETE", "/v1/keys"],
    ["POST", "/v1/whoami"],
    ["PROPFIND", "/v1/keys"],
    ["GET", "/v1/whoami/"],
    ["GET", "/V1/keys"],
    ["GET", "//v1/keys"],
    ["GET", "/v1//keys"],
    ["GET", "/v1/keys;x=1"],
    ["POST", "/"],
    ["GET", "/v1/%zz"],
    ["GET", "/v2/keys"],
  ] as const) {
    test(`${method} ${path}`, async () => {
      assertForm(await send(method, path), "transport", 404, "not_found");
    });
  }
  test("an id of any length needs a key and is not found", async () => {
    for (const id of ["x", "x".repeat(101), "x".repeat(8_000), "%00", "key_é"]) {
      assertForm(await send("GET", `/v1/keys/${id}`), "trading", 404, "not_found");
      assertForm(await service.send("GET", `/v1/keys/${id}`), "edge", 401, "unauthorized");
    }
  });
  test("HEAD answers as GET without a body, and demands the same key", async () => {
    assert.equal((await send("HEAD", "/v1/keys", { expect: 200 })).text, "");
    await service.send("HEAD", "/v1/keys", { expect: 401 });
    await send("HEAD", "/v1/keys", { key: await childKey(), expect: 403 });
  });
});

describe("an internal fault reveals nothing internal", () => {
  for (const fault of ["error", "rejected", "framework", "text", "nothing"]) {
    test(fault, async () => {
      const answer = await send("GET", `/test/faults/${fault}`);
      assertForm(answer, "transport", 500, "internal_error");
      assert.equal(answer.body.detail, undefined);
      for (const secret of [secretText, "hunter2", "TEAPOT", "FST_", "stack", ".ts", "Error"]) {
        assert.ok(!answer.text.includes(secret), secret);
      }
    });
  }
});

test("overload is answered with a retryable 500, and the service recovers by itself", async (t) => {
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve()); // A failing test must not leave the service waiting when it closes.
  const bothInside = Promise.withResolvers<void>();
  let inside = 0;
  const small = await startService(t, {
    inFlightMax: 2,
    routes(app) {
      app.get("/test/wait", { config: { demand: "quote" } }, async () => {
        inside += 1;
        if (inside === 2) bothInside.resolve();
        await gate.promise;
        return {};
      });
    },
  });
  const keys = [await small.issue(), await small.issue({ environment: "live" })];
  const waiting = keys.map(({ api_key }) => small.send("GET", "/test/wait", { key: api_key }));
  await bothInside.promise;
  for (const path of ["/docs/", "/v1/whoami", "/nowhere", "/%zz"]) {
    const shed = await small.send("GET", path);
    assertForm(shed, "transport", 500, "internal_error");
    assert.equal(shed.headers.get("retry-after"), null);
  }
  await small.send("GET", "/healthz", { expect: 200 });
  gate.resolve();
  for (const { status } of await Promise.all(waiting)) assert.equal(status, 200);
  for (let round = 0; round < 5; round++) await small.send("GET", "/docs/", { expect: 200 });
});

describe("X-Dry-Run", () => {
  const tables = ["api_keys", "idempotency_keys", "firms"];
  async function contents(): Promise<string> {
    const texts = tables.map((table) => `(select json_agg(t order by t::text) from ${table} as t)`);
    const { rows } = await service.ctx.db.pool.query(`select ${texts.join(", ")}`);
    return JSON.stringify(rows);
  }

  test("1 answers as a real call would and writes nothing", async () => {
    const { key_id } = (await mint({}, { expect: 201 })).body;
    const before = await contents();
    const headers = { "x-dry-run": "1", "idempotency-key": "tried" };
    const tried = await mint({ name: "tried" }, { headers, expect: 200 });
    assert.equal(tried.headers.get("x-dry-run"), "1");
    assert.equal(tried.body.name, "tried");
    assert.equal(tried.body.api_key, undefined);
    const reissued = await send("POST", `/v1/keys/${key_id}/reissue`, { headers, expect: 200 });
    assert.equal(reissued.body.api_key, undefined);
    const revoked = await send("DELETE", `/v1/keys/${key_id}`, { headers, expect: 200 });
    assert.equal(revoked.body.status, "revoked");
    assert.equal(await contents(), before);
    await send("GET", `/v1/keys/${tried.body.key_id}`, { expect: 404 });
  });

  test("1 refuses what a real call would refuse", async () => {
    const headers = { "x-dry-run": "1" };
    assertForm(await mint({ name: "" }, { headers }), "trading", 422, "unprocessable");
    assertForm(await send("DELETE", "/v1/keys/none", { headers }), "trading", 404, "not_found");
  });

  test("a misspelt value is refused and runs nothing", async () => {
    const before = await contents();
    for (const value of ["true", "yes", "", "01", "1 1", "TRUE"]) {
      const answer = await mint({}, { headers: { "x-dry-run": value } });
      assertForm(answer, "trading", 400, "bad_request");
      assert.equal(answer.body.detail.field, "X-Dry-Run");
    }
    assert.equal(await contents(), before);
  });

  test("0 is a real call", async () => {
    const real = await mint({}, { headers: { "x-dry-run": "0" }, expect: 201 });
    assert.equal(real.headers.get("x-dry-run"), null);
  });
});

describe("Idempotency-Key on POST /v1/keys", () => {
  let used = 0;
  const fresh = () => ({ "idempotency-key": `edge-${++used}` });

  test("the first call creates, the same call again finds the original without its secret", async () => {
    const headers = fresh();
    const first = await mint({ name: "once" }, { headers, expect: 201 });
    assert.equal(first.headers.get("idempotent-replayed"), null);
    assert.ok(first.body.api_key);
    const again = await mint({ name: "once" }, { headers, expect: 200 });
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    const { api_key: _shownOnce, ...rest } = first.body;
    assert.deepEqual(again.body, rest);
  });

  test("the same request is the same whatever the order of its members", async () => {
    const headers = fresh();
    const first = await mint({}, { headers, expect: 201 });
    const body = ` {"scopes" : ["quote"], "kind":"app",\n"name":"\\u0063hild"}`;
    const again = await send("POST", "/v1/keys", { body, headers, expect: 200 });
    assert.equal(again.body.key_id, first.body.key_id);
  });

  test("a replay shows the original as it is now", async () => {
    const headers = fresh();
    const { key_id } = (await mint({}, { headers, expect: 201 })).body;
    await send("DELETE", `/v1/keys/${key_id}`, { expect: 200 });
    assert.equal((await mint({}, { headers, expect: 200 })).body.status, "revoked");
  });

  test("another body under the same key is a conflict that names the differing fields", async () => {
    const headers = fresh();
    const { key_id } = (await mint({}, { headers, expect: 201 })).body;
    const reused = await mint({ name: "other", buy_side: true }, { headers });
    assertForm(reused, "trading", 409, "conflict");
    assert.deepEqual(reused.body.detail, {
      reason: "idempotency_key_reused",
      key_id,
      differs: ["buy_side", "name"],
    });
  });

  test("a call that failed binds nothing", async () => {
    const headers = fresh();
    await mint({ name: "" }, { headers, expect: 422 });
    await mint({ kind: "sub_account", firm_id: "frm_unknown" }, { headers, expect: 404 });
    await mint({}, { headers: { ...headers, "x-dry-run": "1" }, expect: 200 });
    const made = await mint({ name: "corrected" }, { headers, expect: 201 });
    assert.equal(made.headers.get("idempotent-replayed"), null);
  });

  test("a key belongs to its desk: other desks may use the same one, and a re-issued root key keeps it", async () => {
    const headers = fresh();
    const mine = await service.issue();
    const first = await mint({}, { key: mine.api_key, headers, expect: 201 });
    const stranger = await service.issue();
    const theirs = await mint({}, { key: stranger.api_key, headers, expect: 201 });
    assert.notEqual(theirs.body.key_id, first.body.key_id);
    const renewed = await service.send("POST", `/v1/keys/${mine.key_id}/reissue`, {
      key: mine.api_key,
      expect: 200,
    });
    const again = await mint({}, { key: renewed.body.api_key, headers, expect: 200 });
    assert.equal(again.body.key_id, first.body.key_id);
  });

  test("50 concurrent calls with one key on two nodes create one key, and all get it", async (t) => {
    const beside = await startService(t, { beside: service });
    const headers = fresh();
    const nodes = [service, beside];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        nodes[index % 2]!.send("POST", "/v1/keys", {
          key,
          body: { ...child, name: "twin" },
          headers,
        }),
      ),
    );
    assert.equal(new Set(answers.map(({ body }) => body.key_id)).size, 1);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [...Array.from({ length: 49 }, () => 200), 201],
    );
    assert.equal(answers.filter(({ body }) => body.api_key !== undefined).length, 1);
    const { keys } = (await send("GET", "/v1/keys", { expect: 200 })).body;
    assert.equal(keys.filter(({ name }: { name: string }) => name === "twin").length, 1);
  });

  test("1 to 255 visible characters are accepted, anything else is refused", async () => {
    await mint({}, { headers: { "idempotency-key": "!" }, expect: 201 });
    await mint({}, { headers: { "idempotency-key": "~".repeat(255) }, expect: 201 });
    for (const text of ["", "x".repeat(256), "a b", "é"]) {
      const answer = await mint({}, { headers: { "idempotency-key": text } });
      assertForm(answer, "trading", 400, "bad_request");
      assert.equal(answer.body.detail.field, "Idempotency-Key");
    }
  });
});

describe("paging", () => {
  async function deskWith(children: number): Promise<{ key: string; ids: string[] }> {
    const desk = await service.issue();
    const ids = [desk.key_id];
    for (let made = 0; made < children; made++) {
      service.clock.advance({ seconds: 1 });
      ids.push((await mint({}, { key: desk.api_key, expect: 201 })).body.key_id);
    }
    return { key: desk.api_key, ids: ids.toReversed() };
  }
  const pickIds = ({ body }: Answer): string[] =>
    body.keys.map(({ key_id }: { key_id: string }) => key_id);

  test("a walk by cursor shows every row once, newest first, with the total it began with", async () => {
    const desk = await deskWith(7);
    const seen: string[] = [];
    let query = "limit=3";
    for (const [count, hasMore] of [
      [3, true],
      [3, true],
      [2, false],
    ] as const) {
      const page = await send("GET", `/v1/keys?${query}`, { key: desk.key, expect: 200 });
      const { keys: _rows, next_cursor, ...paging } = page.body;
      assert.deepEqual(paging, { count, total: 8, has_more: hasMore });
      assert.equal(typeof next_cursor, hasMore ? "string" : "object");
      seen.push(...pickIds(page));
      query = `limit=3&cursor=${next_cursor}`;
      // What is made during the walk is newer than where it is, so it neither shifts nor counts.
      service.clock.advance({ seconds: 1 });
      await mint({}, { key: desk.key, expect: 201 });
    }
    assert.deepEqual(seen, desk.ids);
  });

  test("rows of one instant are neither skipped nor repeated", async () => {
    const desk = await service.issue();
    for (let made = 0; made < 5; made++) await mint({}, { key: desk.api_key, expect: 201 });
    const seen: string[] = [];
    let query = "limit=2";
    for (let page = 0; page < 3; page++) {
      const answer = await send("GET", `/v1/keys?${query}`, { key: desk.api_key, expect: 200 });
      seen.push(...pickIds(answer));
      query = `limit=2&cursor=${answer.body.next_cursor}`;
    }
    assert.equal(new Set(seen).size, 6);
    assert.equal(seen.length, 6);
  });

  test("a cursor that was changed is refused", async () => {
    const desk = await deskWith(2);
    const page = await send("GET", "/v1/keys?limit=1", { key: desk.key, expect: 200 });
    const cursor: string = page.body.next_cursor;
    await send("GET", `/v1/keys?cursor=${cursor}`, { key: desk.key, expect: 200 });
    const changed = Array.from({ length: cursor.length }, (_, at) => {
      const other = cursor[at] === "A" ? "B" : "A";
      return cursor.slice(0, at) + other + cursor.slice(at + 1);
    });
    for (const text of [...changed, cursor.slice(0, -1), `${cursor}A`, "x", `${cursor}%3D`]) {
      const answer = await send("GET", `/v1/keys?cursor=${text}`, { key: desk.key });
      assertForm(answer, "trading", 400, "bad_request");
      assert.equal(answer.body.detail.field, "cursor");
    }
  });

  test("a cursor of another desk is refused", async () => {
    const desk = await deskWith(2);
    const stranger = await deskWith(2);
    const page = await send("GET", "/v1/keys?limit=1", { key: desk.key, expect: 200 });
    const answer = await send("GET", `/v1/keys?cursor=${page.body.next_cursor}`, {
      key: stranger.key,
    });
    assertForm(answer, "trading", 400, "bad_request");
    assert.equal(readSlug(answer), "bad_request");
  });

  test("without limit and cursor the answer is the named array alone", async () => {
    const desk = await deskWith(3);
    const answer = await send("GET", "/v1/keys", { key: desk.key, expect: 200 });
    assert.deepEqual(Object.keys(answer.body), ["keys"]);
    assert.deepEqual(pickIds(answer), desk.ids);
    assert.equal(answer.headers.get("x-truncated"), null);
  });

  test("a page has 100 rows unless asked, at most 500; an unpaged list ends at 1,000 and says so", async () => {
    const desk = await deskWith(1);
    await service.ctx.db.pool.query(
      `insert into api_keys (
         key_id, environment, desk_id, firm_id, kind, parent_key_id, name, scopes, buy_side,
         ip_allowlist, salt, secret_hash, hint, state, version, created_at, updated_at
       )
       select 'key_' || lpad(number::text, 26, '0'), environment, desk_id, firm_id, kind,
         parent_key_id, name, scopes, buy_side, ip_allowlist, salt, secret_hash, hint, state,
         version, created_at, updated_at
       from api_keys, generate_series(1, 1000) as number
       where key_id = $1`,
      [desk.ids[0]],
    );
    const whole = await send("GET", "/v1/keys", { key: desk.key, expect: 200 });
    assert.equal(whole.body.keys.length, 1_000);
    assert.equal(whole.headers.get("x-truncated"), "true");
    const largest = await send("GET", "/v1/keys?limit=500", { key: desk.key, expect: 200 });
    assert.equal(largest.body.count, 500);
    assert.equal(largest.body.total, 1_002);
    assert.equal(largest.headers.get("x-truncated"), null);
    const rest = await send("GET", `/v1/keys?cursor=${largest.body.next_cursor}`, {
      key: desk.key,
      expect: 200,
    });
    assert.equal(rest.body.count, 100);
  });
});

test("every time is ISO 8601 in IST", async () => {
  const expires_at = "2027-03-31T18:29:59Z";
  const { body } = await mint({ expires_at }, { expect: 201 });
  assert.equal(body.expires_at, "2027-03-31T23:59:59.000+05:30");
  const now = service.clock.now().getTime();
  for (const text of [body.created_at, body.updated_at]) {
    assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/);
    assert.equal(Date.parse(text), now);
  }
  const usage = await send("GET", "/v1/usage", { expect: 200 });
  assert.equal(usage.body.quota_resets_at, "2026-12-01T00:00:00.000+05:30");
});

test("HSTS is sent over TLS only", async (t) => {
  const certificate = await selfSignedCertificate();
  if (!certificate) {
    t.skip("no openssl on this machine");
    return;
  }
  const request = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const encrypted = await startService(t, { tls: certificate });
  const [secure] = await rawAnswers(encrypted.url, request);
  assert.equal(secure?.headers.get("strict-transport-security"), "max-age=31536000");
  const [plain] = await rawAnswers(service.url, request);
  assert.equal(plain?.headers.get("strict-transport-security"), null);
});
