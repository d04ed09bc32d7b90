import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { newId } from "../../src/kernel/ids.ts";
import { parseApiKey } from "../../src/access/key-rules.ts";
import { addClientFirm, mintChild } from "../support/keys.ts";
import { readSlug, type Service, startService } from "../support/service.ts";

const app = { name: "ERP Pune", kind: "app", scopes: ["quote", "orders:read"] };

async function expectDead({ send }: Service, key: string): Promise<void> {
  assert.equal(readSlug(await send("GET", "/v1/whoami", { key, expect: 401 })), "unauthorized");
}

test("a root key mints a child that works at once with what was asked for", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const root = await service.issue();
  const asked = {
    ...app,
    expires_at: "2027-03-31T23:59:59+05:30",
    ip_allowlist: ["127.0.0.0/8", "2001:db8::/32"],
    limits: { per_minute: 30, monthly_quota: 1_000, max_order_paise: 5, daily_notional_paise: 9 },
    buy_side: true,
  };
  const { body, headers } = await send("POST", "/v1/keys", {
    key: root.api_key,
    body: asked,
    expect: 201,
  });
  const { api_key, key_id, masked_key, ...rest } = body;
  assert.deepEqual(rest, {
    ...asked,
    expires_at: "2027-03-31T23:59:59.000+05:30",
    environment: "sandbox",
    firm_id: root.firm_id,
    parent_key_id: root.key_id,
    plan: null,
    status: "active",
    revoked_at: null,
    created_at: "2026-11-15T14:45:00.000+05:30",
    updated_at: "2026-11-15T14:45:00.000+05:30",
    version: 1,
    last_used_at: null,
    allowed_actions: ["reissue", "update", "revoke"],
  });
  assert.equal(parseApiKey(api_key)?.keyId, key_id);
  assert.equal(parseApiKey(api_key)?.environment, "sandbox");
  assert.equal(masked_key, `service_test_…${api_key.slice(-4)}`);
  assert.equal(headers.get("cache-control"), "no-store");
  const me = await send("GET", "/v1/whoami", { key: api_key, expect: 200 });
  assert.deepEqual(me.body, {
    key_id,
    kind: "app",
    environment: "sandbox",
    firm_id: root.firm_id,
    desk_id: root.firm_id,
    parent_key_id: root.key_id,
    scopes: app.scopes,
    buy_side: true,
  });
  assert.ok(clock.now() < new Date(rest.expires_at));
});

test("whoami of a root key names its own desk and no parent", async (t) => {
  const service = await startService(t);
  const root = await service.issue({ scopes: ["quote"], buySide: false, environment: "live" });
  const { body } = await service.send("GET", "/v1/whoami", { key: root.api_key, expect: 200 });
  assert.deepEqual(body, {
    key_id: root.key_id,
    kind: "root",
    environment: "live",
    firm_id: root.firm_id,
    desk_id: root.firm_id,
    parent_key_id: null,
    scopes: ["quote"],
    buy_side: false,
  });
});

test("a child key can neither mint, read nor revoke keys", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const child = await mintChild(service, root.api_key, { scopes: ["*"] });
  const { key_id, api_key: key } = child;
  const tries = [
    ["POST", "/v1/keys", app],
    ["GET", "/v1/keys"],
    ["GET", `/v1/keys/${key_id}`],
    ["DELETE", `/v1/keys/${key_id}`],
    ["POST", `/v1/keys/${key_id}/reissue`],
  ] as const;
  for (const [method, path, body] of tries) {
    const answer = await service.send(method, path, { key, body, expect: 403 });
    assert.deepEqual([answer.body.error, answer.body.code], ["forbidden", "forbidden"]);
  }
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
});

test("a child never gets a scope or the buy side that its parent does not hold", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue({
    scopes: ["quote", "orders:read"],
    buySide: false,
  });
  const mint = (body: object) =>
    service.send("POST", "/v1/keys", { key, body: { ...app, ...body }, expect: 403 });

  for (const scopes of [["firms"], ["*"], ["quote", "orders:write"]]) {
    const { body } = await mint({ scopes });
    assert.deepEqual([body.error, body.code], ["request_error", "forbidden"]);
    assert.equal(body.detail.reason, "scope_not_held");
    assert.deepEqual(
      body.detail.scopes,
      scopes.filter((scope) => scope !== "quote"),
    );
  }
  assert.equal((await mint({ buy_side: true })).body.detail.reason, "buy_side_not_held");
  await service.send("POST", "/v1/keys", { key, body: app, expect: 201 });
});

test("an invalid mint is refused with its field", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const cases: readonly [object, number, string, string][] = [
    [{ scopes: ["admin"] }, 400, "bad_request", "scopes.0"],
    [{ kind: "root" }, 400, "bad_request", "kind"],
    [{ colour: "red" }, 400, "bad_request", "colour"],
    [{ limits: { per_second: 1 } }, 400, "bad_request", "limits.per_second"],
    [{ scopes: [] }, 422, "unprocessable", "scopes"],
    [{ scopes: undefined }, 422, "unprocessable", "scopes"],
    [{ scopes: "quote" }, 422, "unprocessable", "scopes"],
    [{ name: "" }, 422, "unprocessable", "name"],
    [{ name: "x".repeat(101) }, 422, "unprocessable", "name"],
    [{ kind: "sub_account" }, 422, "unprocessable", "firm_id"],
    [{ firm_id: newId("frm", service.clock.now()) }, 422, "unprocessable", "firm_id"],
    [{ expires_at: "tomorrow" }, 422, "unprocessable", "expires_at"],
    [{ expires_at: "2027-02-31T00:00:00Z" }, 422, "unprocessable", "expires_at"],
    [{ expires_at: "2027-03-31T00:00:00" }, 422, "unprocessable", "expires_at"],
    [{ expires_at: "2026-11-15T14:45:00+05:30" }, 422, "unprocessable", "expires_at"],
    [{ ip_allowlist: ["10.0.0.0/33"] }, 422, "unprocessable", "ip_allowlist.0"],
    [{ ip_allowlist: ["203.0.113.7/0"] }, 422, "unprocessable", "ip_allowlist.0"],
    [{ ip_allowlist: ["10.0.0.1", "::/0"] }, 422, "unprocessable", "ip_allowlist.1"],
    [{ ip_allowlist: ["10.0.0.1", "example.com"] }, 422, "unprocessable", "ip_allowlist.1"],
    [{ limits: { per_minute: 0 } }, 422, "unprocessable", "limits.per_minute"],
    [{ limits: { per_minute: 1.5 } }, 422, "unprocessable", "limits.per_minute"],
    [{ limits: { max_order_paise: 2 ** 53 } }, 422, "unprocessable", "limits.max_order_paise"],
    [{ limits: { monthly_quota: "100" } }, 422, "unprocessable", "limits.monthly_quota"],
    [{ buy_side: "yes" }, 422, "unprocessable", "buy_side"],
  ];
  for (const [change, status, slug, field] of cases) {
    const body = { ...app, ...change };
    const answer = await service.send("POST", "/v1/keys", { key, body });
    const what = `${JSON.stringify(change)} answered ${answer.text}`;
    assert.equal(answer.status, status, what);
    assert.equal(readSlug(answer), slug, what);
    const named = answer.body.detail.field ?? answer.body.detail.fields[0].path;
    assert.equal(named, field, what);
  }
  const unknown = await service.send("POST", "/v1/keys", { key, body: { ...app, scopes: ["x"] } });
  assert.ok(unknown.body.detail.allowed.includes("orders:write"));
  const { body } = await service.send("GET", "/v1/keys", { key, expect: 200 });
  assert.equal(body.keys.length, 1, "what was refused left no key");
});

test("a sub_account key is bound to a client firm of its own desk", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const other = await service.issue();
  const client = await addClientFirm(service, root.firm_id);
  const body = { ...app, kind: "sub_account" };
  const key = root.api_key;

  const minted = await mintChild(service, key, { ...body, firm_id: client });
  const me = await service.send("GET", "/v1/whoami", { key: minted.api_key, expect: 200 });
  assert.deepEqual(
    [me.body.kind, me.body.firm_id, me.body.desk_id],
    ["sub_account", client, root.firm_id],
  );
  const foreign = [other.firm_id, await addClientFirm(service, other.firm_id)];
  for (const firm_id of [...foreign, newId("frm", service.clock.now()), "frm_x", root.key_id]) {
    const answer = await service.send("POST", "/v1/keys", {
      key,
      body: { ...body, firm_id },
      expect: 404,
    });
    assert.equal(answer.body.code, "not_found");
  }
  const own = { ...body, firm_id: root.firm_id };
  const answer = await service.send("POST", "/v1/keys", { key, body: own, expect: 422 });
  assert.equal(answer.body.detail.fields[0].path, "firm_id", "the desk's own firm is no client");
});

test("a child's scopes are its grant limited by its parent's current scopes", async (t) => {
  const service = await startService(t);
  const root = await service.issue({ scopes: ["quote", "firms", "orders:read"] });
  const some = await mintChild(service, root.api_key, {
    scopes: ["quote", "firms"],
    buy_side: true,
  });
  const whole = await service.issue();
  const all = await mintChild(service, whole.api_key, { scopes: ["*"], buy_side: true });
  const readGrants = async (key: string) => {
    const { body } = await service.send("GET", "/v1/whoami", { key, expect: 200 });
    return [body.scopes, body.buy_side];
  };
  assert.deepEqual(await readGrants(some.api_key), [["quote", "firms"], true]);
  assert.deepEqual(await readGrants(all.api_key), [["*"], true]);

  // An operator narrows the roots; nothing was said about the children.
  await service.ctx.db.pool.query(
    "update api_keys set scopes = '{quote,orders:read}', buy_side = false where kind = 'root'",
  );
  assert.deepEqual(await readGrants(some.api_key), [["quote"], false]);
  assert.deepEqual(await readGrants(all.api_key), [["quote", "orders:read"], false]);
});

test("keys are listed newest first, masked, by page or at once, and only those of the desk", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const { api_key: key, key_id } = await service.issue();
  const stranger = await service.issue();
  const minted: string[] = [key_id];
  for (let count = 0; count < 4; count++) {
    clock.advance({ seconds: 1 });
    minted.unshift((await mintChild(service, key)).key_id);
  }
  const pickIds = (keys: { key_id: string }[]) => keys.map((each) => each.key_id);

  const whole = await send("GET", "/v1/keys", { key, expect: 200 });
  assert.deepEqual(Object.keys(whole.body), ["keys"]);
  assert.deepEqual(pickIds(whole.body.keys), minted);

  const first = (await send("GET", "/v1/keys?limit=2", { key, expect: 200 })).body;
  assert.deepEqual(pickIds(first.keys), minted.slice(0, 2));
  assert.deepEqual([first.count, first.total, first.has_more], [2, 5, true]);
  const next = `/v1/keys?limit=2&cursor=${first.next_cursor}`;
  const second = (await send("GET", next, { key, expect: 200 })).body;
  assert.deepEqual(pickIds(second.keys), minted.slice(2, 4));
  const last = (
    await send("GET", `/v1/keys?limit=2&cursor=${second.next_cursor}`, { key, expect: 200 })
  ).body;
  assert.deepEqual(pickIds(last.keys), minted.slice(4));
  assert.deepEqual([last.next_cursor, last.has_more, last.total], [null, false, 5]);

  const stolen = await send("GET", next, { key: stranger.api_key, expect: 400 });
  assert.equal(stolen.body.detail.field, "cursor");
});

test("a key's secret is shown once: no list, read, replay or dry run shows it", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: key, key_id: rootId } = await service.issue();
  const headers = { "idempotency-key": "mint-1" };
  const first = await send("POST", "/v1/keys", { key, body: app, headers, expect: 201 });
  const { api_key, key_id } = first.body;
  const secret = parseApiKey(api_key)?.secret ?? "";
  assert.equal(secret.length, 32);

  const replay = await send("POST", "/v1/keys", { key, body: app, headers, expect: 200 });
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  assert.equal(replay.body.key_id, key_id);
  const dry = { "x-dry-run": "1" };
  const tried = await send("POST", "/v1/keys", { key, body: app, headers: dry, expect: 200 });
  const answers = [
    replay,
    tried,
    await send("POST", `/v1/keys/${key_id}/reissue`, { key, headers: dry, expect: 200 }),
    await send("GET", "/v1/keys", { key, expect: 200 }),
    await send("GET", "/v1/keys?limit=500", { key, expect: 200 }),
    await send("GET", `/v1/keys/${key_id}`, { key, expect: 200 }),
    await send("GET", "/v1/whoami", { key: api_key, expect: 200 }),
    await send("GET", "/v1/usage", { key, expect: 200 }),
    await send("DELETE", `/v1/keys/${key_id}`, { key, expect: 200 }),
  ];
  for (const { text } of answers) {
    assert.equal(text.includes("api_key"), false);
    assert.equal(text.includes(secret), false);
    assert.equal(text.includes(key), false);
  }
  const listed = (await send("GET", "/v1/keys", { key, expect: 200 })).body.keys;
  assert.deepEqual(
    new Set(listed.map((each: { key_id: string }) => each.key_id)),
    new Set([rootId, key_id]),
    "a mint that was only tried left no key",
  );
});

/** Every row of every table as text, bytes in hexadecimal. */
async function wholeDatabase({ ctx }: Service): Promise<string> {
  const { pool } = ctx.db;
  // Partitions are read through their table.
  const tables = await pool.query<{ name: string }>(
    `select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ line: string }>(`select t::text as line from ${name} as t`);
    texts.push(...rows.map(({ line }) => line));
  }
  return texts.join("\n");
}

function isIn(database: string, secret: string): boolean {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("hex"), bytes.toString("base64").slice(0, -4)].some((form) =>
    database.includes(form),
  );
}

test("a secret is stored only as a salted hash", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const child = await mintChild(service, root.api_key);
  const reissued = await service.send("POST", `/v1/keys/${child.key_id}/reissue`, {
    key: root.api_key,
    headers: { "idempotency-key": "once" },
    expect: 200,
  });
  const keys = [root.api_key, child.api_key, reissued.body.api_key as string];
  const database = await wholeDatabase(service);
  for (const key of keys) {
    const secret = parseApiKey(key)?.secret ?? "";
    assert.equal(isIn(database, secret), false);
    // Not even a fast hash without its salt, which a table of hashes could be searched for.
    for (const text of [secret, key]) {
      const bare = createHash("sha256").update(text).digest("hex");
      assert.equal(database.includes(bare), false);
    }
  }
  const { rows } = await service.ctx.db.pool.query<{ salt: Buffer; secret_hash: Buffer }>(
    "select salt, secret_hash from api_keys where key_id = $1",
    [child.key_id],
  );
  const secret = parseApiKey(keys[2] ?? "")?.secret ?? "";
  const expected = createHash("sha256").update(rows[0]!.salt).update(secret).digest();
  assert.deepEqual(rows[0]!.secret_hash, expected);
  const salts = await service.ctx.db.pool.query("select distinct salt from api_keys");
  assert.equal(salts.rowCount, 2);

  // The search finds a secret that is there.
  const planted = parseApiKey(root.api_key)?.secret ?? "";
  await mintChild(service, root.api_key, { name: planted });
  assert.equal(isIn(await wholeDatabase(service), planted), true);
});

test("revoking takes effect on the next request on every node, and repeating it is no conflict", async (t) => {
  const service = await startService(t);
  const otherNode = await startService(t, { beside: service });
  const { api_key: key } = await service.issue();
  const child = await mintChild(service, key);
  await otherNode.send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });

  service.clock.advance({ seconds: 5 });
  const revoked = await service.send("DELETE", `/v1/keys/${child.key_id}`, { key, expect: 200 });
  assert.equal(revoked.body.status, "revoked");
  assert.equal(revoked.body.revoked_at, "2026-11-15T14:45:05.000+05:30");
  assert.equal(revoked.body.version, 2);
  assert.deepEqual(revoked.body.allowed_actions, []);
  await expectDead(otherNode, child.api_key);
  await expectDead(service, child.api_key);

  service.clock.advance({ seconds: 5 });
  const again = await otherNode.send("DELETE", `/v1/keys/${child.key_id}`, { key, expect: 200 });
  assert.deepEqual(again.body, revoked.body);
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
});

test("revoking a root key revokes its own children only", async (t) => {
  const service = await startService(t);
  const first = await service.issue({ firmName: "One Desk" });
  const second = await service.issue({ firmName: "One Desk" });
  assert.equal(first.firm_id, second.firm_id);
  const children = [
    await mintChild(service, first.api_key),
    await mintChild(service, first.api_key),
  ];
  const cousin = await mintChild(service, second.api_key);

  await service.send("DELETE", `/v1/keys/${first.key_id}`, { key: first.api_key, expect: 200 });
  for (const { api_key } of [first, ...children]) await expectDead(service, api_key);
  for (const { api_key } of [second, cousin]) {
    await service.send("GET", "/v1/whoami", { key: api_key, expect: 200 });
  }
  for (const { key_id } of children) {
    const path = `/v1/keys/${key_id}`;
    const { body } = await service.send("GET", path, { key: second.api_key, expect: 200 });
    assert.equal(body.status, "revoked");
  }
});

test("a new secret replaces the old one on the next request, on every node", async (t) => {
  const service = await startService(t);
  const otherNode = await startService(t, { beside: service });
  const { api_key: key, key_id: rootId } = await service.issue();
  const child = await mintChild(service, key);
  await otherNode.send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });

  const path = `/v1/keys/${child.key_id}/reissue`;
  const { body } = await service.send("POST", path, { key, expect: 200 });
  assert.equal(body.key_id, child.key_id);
  assert.equal(body.version, 2);
  assert.notEqual(body.api_key, child.api_key);
  await expectDead(otherNode, child.api_key);
  await expectDead(service, child.api_key);
  const me = await otherNode.send("GET", "/v1/whoami", { key: body.api_key, expect: 200 });
  assert.equal(me.body.key_id, child.key_id);

  // A root key may replace its own secret; its children keep theirs.
  const own = await service.send("POST", `/v1/keys/${rootId}/reissue`, { key, expect: 200 });
  await expectDead(otherNode, key);
  await otherNode.send("GET", "/v1/keys", { key: own.body.api_key, expect: 200 });
  await otherNode.send("GET", "/v1/whoami", { key: body.api_key, expect: 200 });
});

test("a key is refused from its expiry on; it can be revoked but not re-issued", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const { api_key: key } = await service.issue();
  const expires_at = "2026-11-15T14:46:00+05:30";
  const child = await mintChild(service, key, { expires_at });
  const path = `/v1/keys/${child.key_id}`;

  clock.advance({ ms: 59_999 });
  await send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });
  clock.advance({ ms: 1 });
  await expectDead(service, child.api_key);
  const { body } = await send("GET", path, { key, expect: 200 });
  assert.deepEqual([body.status, body.allowed_actions], ["expired", ["revoke"]]);

  const reissue = await send("POST", `${path}/reissue`, { key, expect: 409 });
  assert.deepEqual(reissue.body.detail, {
    reason: "wrong_state",
    state: "expired",
    allowed_actions: ["revoke"],
  });
  await send("DELETE", path, { key, expect: 200 });
  const dead = await send("POST", `${path}/reissue`, { key, expect: 409 });
  assert.deepEqual([dead.body.detail.state, dead.body.detail.allowed_actions], ["revoked", []]);
});

test("a dry run of a revocation or a new secret changes nothing", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const child = await mintChild(service, key);
  const path = `/v1/keys/${child.key_id}`;
  const headers = { "x-dry-run": "1" };
  const revoked = await service.send("DELETE", path, { key, headers, expect: 200 });
  assert.equal(revoked.body.status, "revoked");
  assert.equal(revoked.headers.get("x-dry-run"), "1");
  const reissued = await service.send("POST", `${path}/reissue`, { key, headers, expect: 200 });
  assert.equal(reissued.body.version, 2);
  await service.send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });
  const { body } = await service.send("GET", path, { key, expect: 200 });
  assert.deepEqual([body.status, body.version], ["active", 1]);
});

test("a key with an allow-list works from its networks only", async (t) => {
  const service = await startService(t, { trustProxy: ["127.0.0.1"] });
  const { api_key: root } = await service.issue();
  const { api_key: key } = await mintChild(service, root, {
    ip_allowlist: ["203.0.113.0/24", "2001:db8::/32"],
  });
  const from = async (address: string) => {
    const headers = { "x-forwarded-for": address };
    return await service.send("GET", "/v1/whoami", { key, headers });
  };
  for (const address of [
    "203.0.113.7",
    "203.0.113.7:4711",
    "[2001:db8::1]:4711",
    "2001:db8::1",
    "198.51.100.1, 203.0.113.255",
  ]) {
    assert.equal((await from(address)).status, 200, address);
  }
  for (const address of ["203.0.114.1", "2001:db9::1", "203.0.113.7, 198.51.100.1"]) {
    const answer = await from(address);
    assert.equal(answer.status, 403, address);
    assert.deepEqual([answer.body.error, answer.body.code], ["forbidden", "forbidden"]);
    assert.ok(answer.headers.has("x-ratelimit-plan"));
  }
  assert.equal((await service.send("GET", "/v1/whoami", { key })).status, 403, "the proxy itself");
  await service.send("GET", "/v1/whoami", {
    key: root,
    headers: { "x-forwarded-for": "198.51.100.1" },
    expect: 200,
  });
});

test("a forwarded address from an untrusted proxy is ignored", async (t) => {
  const service = await startService(t);
  const { api_key: root } = await service.issue();
  const { api_key: key } = await mintChild(service, root, { ip_allowlist: ["203.0.113.7"] });
  const headers = { "x-forwarded-for": "203.0.113.7" };
  await service.send("GET", "/v1/whoami", { key, headers, expect: 403 });
});

test("a live key is accepted over https or loopback, and refused over plain http", async (t) => {
  const service = await startService(t, { trustProxy: ["127.0.0.1"] });
  const live = await service.issue({ environment: "live" });
  const sandbox = await service.issue();
  const call = (key: string, headers: Record<string, string>) =>
    service.send("GET", "/v1/whoami", { key, headers });
  const far = { "x-forwarded-for": "203.0.113.7" };

  const refused = await call(live.api_key, far);
  assert.equal(refused.status, 403);
  assert.equal(readSlug(refused), "forbidden");
  for (const entry of ["127.0.0.1, 203.0.113.7", "127.evil", "unknown"]) {
    assert.equal((await call(live.api_key, { "x-forwarded-for": entry })).status, 403, entry);
  }
  const plain = { ...far, "x-forwarded-proto": "http" };
  assert.equal((await call(live.api_key, plain)).status, 403);

  assert.equal((await call(live.api_key, { ...far, "x-forwarded-proto": "https" })).status, 200);
  assert.equal((await call(live.api_key, {})).status, 200);
  assert.equal((await call(sandbox.api_key, far)).status, 200);
});

test("reading, revoking or re-issuing an unknown key answers 404", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  for (const id of [newId("key", service.clock.now()), "key_", "nothing"]) {
    for (const [method, path] of [
      ["GET", `/v1/keys/${id}`],
      ["DELETE", `/v1/keys/${id}`],
      ["POST", `/v1/keys/${id}/reissue`],
    ] as const) {
      const { body } = await service.send(method, path, { key, expect: 404 });
      assert.deepEqual([body.error, body.code], ["request_error", "not_found"]);
    }
  }
});

test("concurrent calls with one idempotency key mint one key", async (t) => {
  const service = await startService(t);
  const otherNode = await startService(t, { beside: service });
  const { api_key: key } = await service.issue();
  const headers = { "idempotency-key": "race" };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      (index % 2 ? service : otherNode).send("POST", "/v1/keys", { key, body: app, headers }),
    ),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => b - a);
  assert.deepEqual(statuses, [201, ...Array.from({ length: 11 }, () => 200)]);
  assert.equal(new Set(answers.map(({ body }) => body.key_id)).size, 1);
  assert.equal(answers.filter(({ body }) => body.api_key !== undefined).length, 1);

  const body = { ...app, name: "Another" };
  const reused = await service.send("POST", "/v1/keys", { key, body, headers, expect: 409 });
  assert.deepEqual(reused.body.detail, {
    reason: "idempotency_key_reused",
    key_id: answers[0]?.body.key_id,
    differs: ["name"],
  });
});
