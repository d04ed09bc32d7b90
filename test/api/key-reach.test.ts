// Keys of one desk that differ in what they may do, each in front of each: who holds less than a key
// must not be able to read it, take it over or end it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { setPlan } from "../../src/access/plans.ts";
import { mintChild } from "../support/keys.ts";
import { readSlug, type Service, startService } from "../support/service.ts";

type Held = { readonly scopes: readonly string[]; readonly buySide: boolean };
type Known = Held & { readonly name: string; readonly api_key: string; readonly key_id: string };
type Child = Known & { readonly madeBy: string };

const grants: Readonly<Record<string, Held>> = {
  everything: { scopes: ["*"], buySide: true },
  "everything but the buy side": { scopes: ["*"], buySide: false },
  "quotes and orders": { scopes: ["quote", "orders:write", "orders:read"], buySide: true },
  "orders, read only": { scopes: ["orders:read"], buySide: false },
  quotes: { scopes: ["quote"], buySide: false },
  "quotes with the buy side": { scopes: ["quote"], buySide: true },
  markets: { scopes: ["market:read"], buySide: false },
};

const allScopes = [
  "firms",
  "quote",
  "orders:write",
  "orders:read",
  "market:read",
  "webhooks:write",
  "*",
];

/** The rule, written a second time. */
function reaches(caller: Known, target: Known | Child): boolean {
  if (caller.key_id === target.key_id) return true;
  if ("madeBy" in target && target.madeBy === caller.key_id) return true;
  const held = new Set(caller.scopes.includes("*") ? allScopes : caller.scopes);
  const coversScopes = target.scopes.every((scope) => held.has(scope));
  return coversScopes && (caller.buySide || !target.buySide);
}

/** A desk with a root key and a child of each grant. */
async function furnishKeys(service: Service): Promise<{ roots: Known[]; children: Child[] }> {
  const roots: Known[] = [];
  const children: Child[] = [];
  for (const [name, held] of Object.entries(grants)) {
    const root = await service.issue({ firmName: "Konkan Desk", ...held, name });
    roots.push({ name, ...held, ...root });
  }
  for (const root of roots) {
    const asked = { name: `child of ${root.name}`, scopes: root.scopes, buy_side: root.buySide };
    const child = await mintChild(service, root.api_key, asked);
    children.push({ ...root, ...child, name: asked.name, madeBy: root.key_id });
  }
  return { roots, children };
}

test("a key is managed by keys that hold its scopes or minted it, and is not found by others", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { roots, children } = await furnishKeys(service);
  const targets: (Known | Child)[] = [...roots, ...children];
  const refused = { dry: { "x-dry-run": "1" } };
  let cells = 0;
  for (const caller of roots) {
    const key = caller.api_key;
    const visible = targets.filter((target) => reaches(caller, target)).map((one) => one.key_id);
    const { body } = await send("GET", "/v1/keys", { key, expect: 200 });
    const listed = body.keys.map((one: Known) => one.key_id);
    assert.deepEqual(listed.toSorted(), visible.toSorted(), `the list of ${caller.name}`);
    const paged = await send("GET", "/v1/keys?limit=2", { key, expect: 200 });
    assert.equal(paged.body.total, visible.length, `the total of ${caller.name}`);
    for (const target of targets) {
      const path = `/v1/keys/${target.key_id}`;
      const expected = reaches(caller, target) ? 200 : 404;
      const answers = [
        await send("GET", path, { key }),
        await send("POST", `${path}/reissue`, { key, headers: refused.dry }),
        await send("DELETE", path, { key, headers: refused.dry }),
        // What is refused is refused in earnest too.
        ...(expected === 404
          ? [await send("POST", `${path}/reissue`, { key }), await send("DELETE", path, { key })]
          : []),
      ];
      for (const answer of answers) {
        assert.equal(answer.status, expected, `${caller.name} on ${target.name}`);
        cells += 1;
      }
    }
  }
  // Nobody's key was changed by any of it.
  for (const { api_key, name } of targets) {
    assert.equal((await send("GET", "/v1/whoami", { key: api_key })).status, 200, name);
  }
  t.diagnostic(`${cells} cells`);
});

test("a re-issued key keeps its scopes and limits", async (t) => {
  const service = await startService(t);
  const wide = await service.issue({ firmName: "Konkan Desk" });
  const narrow = await service.issue({
    firmName: "Konkan Desk",
    scopes: ["quote"],
    buySide: false,
  });
  const path = `/v1/keys/${narrow.key_id}/reissue`;
  const { body } = await service.send("POST", path, { key: wide.api_key, expect: 200 });
  const me = await service.send("GET", "/v1/whoami", { key: body.api_key, expect: 200 });
  assert.deepEqual([me.body.scopes, me.body.buy_side], [["quote"], false]);
});

test("a cursor over keys is valid for its own key only", async (t) => {
  const service = await startService(t);
  const { roots } = await furnishKeys(service);
  const [wide, , , , narrow] = roots as [Known, Known, Known, Known, Known];
  const first = await service.send("GET", "/v1/keys?limit=2", { key: wide.api_key, expect: 200 });
  const next = `/v1/keys?limit=2&cursor=${encodeURIComponent(first.body.next_cursor)}`;
  await service.send("GET", next, { key: wide.api_key, expect: 200 });
  const answer = await service.send("GET", next, { key: narrow.api_key, expect: 400 });
  assert.equal(readSlug(answer), "bad_request");
});

test("a desk has as many child keys as its plan allows, whichever root key mints them", async (t) => {
  const service = await startService(t);
  const { send } = service;
  await setPlan(service.ctx, {
    name: "two",
    perMinute: 1_000,
    monthlyQuota: 1_000,
    childKeysMax: 2,
  });
  const desk = { firmName: "Konkan Desk", environment: "live", plan: "two" } as const;
  const root = await service.issue(desk);
  const second = await service.issue(desk);
  const soon = new Date(service.clock.now().getTime() + 60_000).toISOString();
  const ending = await mintChild(service, root.api_key, { expires_at: soon });
  const ended = await mintChild(service, second.api_key);
  const body = { name: "one more", kind: "app", scopes: ["quote"] };
  const mint = async (expect: number, headers = {}) =>
    await send("POST", "/v1/keys", { key: root.api_key, body, headers, expect });

  const { detail } = (await mint(409)).body;
  assert.deepEqual(detail, { reason: "child_keys_used_up", child_keys_max: 2 });
  await mint(409, { "x-dry-run": "1" });
  await send("DELETE", `/v1/keys/${ended.key_id}`, { key: root.api_key, expect: 200 });
  const again = { "idempotency-key": "again" };
  await mint(201, again);
  await mint(200, again); // What exists is not one more.
  await mint(409);
  service.clock.advance({ seconds: 61 });
  await send("GET", "/v1/whoami", { key: ending.api_key, expect: 401 });
  await mint(201);
  // A smaller plan takes no key away; a larger one lets more in.
  await setPlan(service.ctx, {
    name: "two",
    perMinute: 1_000,
    monthlyQuota: 1_000,
    childKeysMax: 1,
  });
  const listed = await send("GET", "/v1/keys", { key: root.api_key, expect: 200 });
  const active = listed.body.keys.filter((one: { status: string }) => one.status === "active");
  assert.equal(active.length, 4, "two root keys and two children");
  await mint(409);
  await setPlan(service.ctx, {
    name: "two",
    perMinute: 1_000,
    monthlyQuota: 1_000,
    childKeysMax: 3,
  });
  await mint(201);
});

test("concurrent mints do not exceed the plan's number of child keys", async (t) => {
  const service = await startService(t);
  await setPlan(service.ctx, {
    name: "few",
    perMinute: 1_000,
    monthlyQuota: 1_000,
    childKeysMax: 3,
  });
  const desk = { firmName: "Konkan Desk", environment: "live", plan: "few" } as const;
  const roots = [await service.issue(desk), await service.issue(desk)];
  const body = { name: "racer", kind: "app", scopes: ["quote"] };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      service.send("POST", "/v1/keys", { key: roots[at % 2]?.api_key, body }),
    ),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [...Array(3).fill(201), ...Array(9).fill(409)]);
});

test("the plans start with 5, 25, 100 and 1,000 child keys, and a changed plan keeps its number", async (t) => {
  const { ctx } = await startService(t);
  const { rows } = await ctx.db.pool.query("select name, child_keys_max from plans order by name");
  assert.deepEqual(
    Object.fromEntries(rows.map(({ name, child_keys_max }) => [name, child_keys_max])),
    { starter: 5, growth: 25, scale: 100, desk: 1_000, sandbox: 1_000 },
  );
  const kept = await setPlan(ctx, { name: "scale", perMinute: 301, monthlyQuota: 500_000 });
  assert.equal(kept.child_keys_max, 100);
});
