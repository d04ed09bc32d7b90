import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAbsent, checkDoors } from "../support/doors.ts";
import { addFirm, listAuditRecords } from "../support/holdings.ts";
import { readSlug, type Service, startService } from "../support/service.ts";

const noFirm = "frm_01jd2m7q4x8r5v6w9y0abcdefg";
const noRequirement = "rqm_01jd2m7q4x8r5v6w9y0abcdefg";

const duty = {
  scheme: "RODTEP",
  amount_paise: 25_000_000,
  due_on: "2026-12-31",
  reference: "BE-2026-004711",
};

async function openDesk(service: Service) {
  const { api_key: key, firm_id: deskId, key_id: keyId } = await service.issue();
  const firm = await addFirm(service, { deskId });
  const path = `/v1/firms/${firm}/requirements`;
  const send = (method: string, path: string, expect: number, body?: unknown, headers = {}) =>
    service.send(method, path, { key, body, expect, headers });
  const declare = async (fields: object = {}): Promise<string> =>
    (await send("POST", path, 201, { ...duty, ...fields })).body.requirement_id;
  return { key, keyId, deskId, firm, path, send, declare };
}

test("requirements", async (t) => {
  const service = await startService(t);

  await t.test("every requirement route checks key, scope, rate and body", async (t) => {
    const list = `/v1/firms/${noFirm}/requirements`;
    const one = `${list}/${noRequirement}`;
    await checkDoors(t, service, [
      { method: "POST", path: list, scope: "firms", body: duty },
      { method: "GET", path: list, scope: "firms", orScope: "orders:read" },
      { method: "GET", path: one, scope: "firms", orScope: "orders:read" },
      { method: "PATCH", path: one, scope: "firms", body: { amount_paise: 1 } },
      { method: "DELETE", path: one, scope: "firms" },
    ]);
  });

  await t.test("a declared requirement is answered and can be read", async () => {
    const desk = await openDesk(service);
    const { body } = await desk.send("POST", desk.path, 201, duty);
    assert.match(body.requirement_id, /^rqm_/);
    assert.deepEqual(body, {
      requirement_id: body.requirement_id,
      firm_id: desk.firm,
      ...duty,
      created_at: "2026-11-15T14:45:00.000+05:30",
      updated_at: "2026-11-15T14:45:00.000+05:30",
      version: 1,
      covered_paise: 0,
      uncovered_paise: duty.amount_paise,
      resting_paise: 0,
      order_ids: [],
      allowed_actions: ["update", "delete"],
    });
    const read = await desk.send("GET", `${desk.path}/${body.requirement_id}`, 200);
    assert.deepEqual(read.body, body);
    assert.deepEqual((await desk.send("GET", desk.path, 200)).body, { requirements: [body] });
  });

  await t.test(
    "a requirement may omit the scheme, and may belong to the desk's own firm",
    async () => {
      const desk = await openDesk(service);
      const { scheme: _, ...open } = duty;
      const { body } = await desk.send("POST", `/v1/firms/${desk.deskId}/requirements`, 201, open);
      assert.equal(body.scheme, null);
    },
  );

  await t.test(
    "a firm's references are unique, and the conflict names the requirement",
    async () => {
      const desk = await openDesk(service);
      const first = await desk.declare();
      const taken = { reason: "reference_taken", requirement_id: first };
      const dryRun = { "x-dry-run": "1" };
      assert.deepEqual((await desk.send("POST", desk.path, 409, duty)).body.detail, taken);
      assert.deepEqual((await desk.send("POST", desk.path, 409, duty, dryRun)).body.detail, taken);
      const second = `${desk.path}/${await desk.declare({ reference: "other" })}`;
      const renamed = await desk.send("PATCH", second, 409, { reference: duty.reference });
      assert.deepEqual(renamed.body.detail, taken);
      const sibling = await addFirm(service, { deskId: desk.deskId });
      await desk.send("POST", `/v1/firms/${sibling}/requirements`, 201, duty);
    },
  );

  await t.test("concurrent declarations of one reference make one requirement", async () => {
    const desk = await openDesk(service);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        service.send("POST", desk.path, { key: desk.key, body: duty }),
      ),
    );
    const [made, ...rest] = answers.toSorted((a, b) => a.status - b.status);
    assert.equal(made?.status, 201);
    for (const { status, body } of rest) {
      assert.equal(status, 409);
      assert.equal(body.detail.requirement_id, made?.body.requirement_id);
    }
  });

  await t.test(
    "an idempotency key declares once, on one firm, also when retried after the due day",
    async () => {
      const desk = await openDesk(service);
      const headers = { "idempotency-key": "r-1" };
      const body = { ...duty, due_on: "2026-11-15" };
      const made = (await desk.send("POST", desk.path, 201, body, headers)).body;
      service.clock.advance({ days: 1 });
      const again = await desk.send("POST", desk.path, 200, body, headers);
      service.clock.advance({ days: -1 });
      assert.deepEqual(again.body, made);
      assert.equal(again.headers.get("idempotent-replayed"), "true");
      const sibling = await addFirm(service, { deskId: desk.deskId });
      const elsewhere = `/v1/firms/${sibling}/requirements`;
      const reused = await desk.send("POST", elsewhere, 409, body, headers);
      assert.deepEqual(reused.body.detail.differs, ["firm_id"]);
      await desk.send("DELETE", `${desk.path}/${made.requirement_id}`, 200);
      const gone = await desk.send("POST", desk.path, 409, body, headers);
      assert.equal(gone.body.detail.reason, "deleted");
    },
  );

  await t.test("an invalid requirement is refused with its field", async () => {
    const desk = await openDesk(service);
    const path = `${desk.path}/${await desk.declare()}`;
    const bad: [string, unknown][] = [
      ["amount_paise", 0],
      ["amount_paise", -1],
      ["amount_paise", 1.5],
      ["amount_paise", "100"],
      ["amount_paise", 2 ** 53],
      ["amount_paise", null],
      ["due_on", "2026-11-14"],
      ["due_on", "2027-02-29"],
      ["due_on", "31-12-2026"],
      ["due_on", "2026-12-31T00:00:00+05:30"],
      ["due_on", "0000-01-01"],
      ["due_on", 20261231],
      ["reference", ""],
      ["reference", " "],
      ["reference", "x".repeat(101)],
    ];
    for (const [field, value] of bad) {
      for (const [method, target, body] of [
        ["POST", desk.path, { ...duty, reference: "new", [field]: value }],
        ["PATCH", path, { [field]: value }],
      ] as const) {
        const refused = await desk.send(method, target, 422, body);
        assert.equal(refused.body.code, "unprocessable");
        assert.equal(refused.body.detail.fields[0].path, field);
      }
    }
    for (const field of ["amount_paise", "due_on", "reference"]) {
      const refused = await desk.send("POST", desk.path, 422, { ...duty, [field]: undefined });
      assert.deepEqual(refused.body.detail.fields, [{ path: field, problem: "is required" }]);
    }
    for (const [method, target] of [
      ["POST", desk.path],
      ["PATCH", path],
    ] as const) {
      const refused = await desk.send(method, target, 400, { ...duty, scheme: "MEIS" });
      assert.equal(refused.body.detail.field, "scheme");
    }
    const largest = { reference: "most", amount_paise: Number.MAX_SAFE_INTEGER };
    await desk.declare(largest);
  });

  await t.test("a due day is past by the IST calendar", async () => {
    const desk = await openDesk(service);
    const at = service.clock.now();
    // Half past midnight on the 16th in IST is still the 15th in UTC.
    service.clock.set(new Date("2026-11-15T19:00:00Z"));
    await desk.send("POST", desk.path, 422, { ...duty, due_on: "2026-11-15" });
    await desk.send("POST", desk.path, 201, { ...duty, due_on: "2026-11-16" });
    service.clock.set(at);
  });

  await t.test("the version rises once per change, and not without one", async () => {
    const desk = await openDesk(service);
    const path = `${desk.path}/${await desk.declare()}`;
    const dryRun = { "x-dry-run": "1" };
    const tried = await desk.send("PATCH", path, 200, { amount_paise: 9 }, dryRun);
    assert.equal(tried.body.amount_paise, 9);
    assert.equal((await desk.send("GET", path, 200)).body.amount_paise, duty.amount_paise);
    const changed = await desk.send("PATCH", path, 200, { scheme: null, amount_paise: 9 });
    assert.deepEqual(
      [changed.body.scheme, changed.body.amount_paise, changed.body.version],
      [null, 9, 2],
    );
    for (const same of [{}, { amount_paise: 9 }, { scheme: null }]) {
      assert.deepEqual((await desk.send("PATCH", path, 200, same)).body, changed.body);
    }
  });

  await t.test("a requirement is deleted once", async () => {
    const desk = await openDesk(service);
    const path = `${desk.path}/${await desk.declare()}`;
    await desk.send("DELETE", path, 200, undefined, { "x-dry-run": "1" });
    assert.equal((await desk.send("DELETE", path, 200)).body.reference, duty.reference);
    await desk.send("DELETE", path, 404);
    await desk.send("GET", path, 404);
    await desk.declare();
  });

  await t.test("lists are filtered and paged, and a cursor keeps its filters", async () => {
    const desk = await openDesk(service);
    const made: string[] = [];
    for (let n = 0; n < 6; n++) {
      const scheme = n % 2 === 0 ? "RODTEP" : "ROSCTL";
      made.unshift(await desk.declare({ scheme, due_on: `2026-12-0${n + 1}`, reference: `R${n}` }));
      service.clock.advance({ ms: 1 });
    }
    const list = async (query: string) =>
      (await desk.send("GET", `${desk.path}?${query}`, 200)).body;
    const pickIds = (rows: { requirement_id: string }[]) =>
      rows.map(({ requirement_id }) => requirement_id);
    assert.deepEqual(
      pickIds((await list("scheme=ROSCTL")).requirements),
      made.filter((_, index) => index % 2 === 0),
    );
    assert.deepEqual(pickIds((await list("due_before=2026-12-03")).requirements), made.slice(4));
    const first = await list("scheme=RODTEP&due_before=2026-12-05&limit=1");
    assert.deepEqual([first.count, first.total, first.has_more], [1, 2, true]);
    const cursor = `limit=1&cursor=${first.next_cursor}`;
    const last = await list(`scheme=RODTEP&due_before=2026-12-05&${cursor}`);
    assert.deepEqual(
      [...pickIds(first.requirements), ...pickIds(last.requirements)],
      [made[3], made[5]],
    );
    assert.equal(last.next_cursor, null);
    for (const other of ["", "scheme=RODTEP&", "scheme=ROSCTL&due_before=2026-12-05&"]) {
      const refused = await desk.send("GET", `${desk.path}?${other}${cursor}`, 400);
      assert.equal(refused.body.detail.field, "cursor");
    }
    assert.equal(readSlug(await desk.send("GET", `${desk.path}?scheme=MEIS`, 400)), "bad_request");
    for (const query of ["due_before=2026-02-30", "due_before=0000-01-01", "limit=0", "x=1"]) {
      const refused = await desk.send("GET", `${desk.path}?${query}`, 422);
      assert.equal(readSlug(refused), "validation_error");
    }
  });

  await t.test(
    "an offboarded firm declares nothing new, and its requirements stay readable",
    async () => {
      const desk = await openDesk(service);
      const gone = await addFirm(service, { deskId: desk.deskId, state: "offboarded" });
      const refused = await desk.send("POST", `/v1/firms/${gone}/requirements`, 409, duty);
      assert.equal(refused.body.detail.reason, "firm_offboarded");
      await desk.send("GET", `/v1/firms/${gone}/requirements`, 200);
    },
  );

  await t.test("requirements of another desk or a sibling firm are not found", async () => {
    const [mine, theirs] = [await openDesk(service), await openDesk(service)];
    const [own, foreign] = [await mine.declare(), await theirs.declare()];
    const sibling = await addFirm(service, { deskId: mine.deskId });
    const deleted = await mine.declare({ reference: "deleted" });
    await mine.send("DELETE", `${mine.path}/${deleted}`, 200);
    const live = (await service.issue({ environment: "live" })).api_key;
    const minted = await mine.send("POST", "/v1/keys", 201, {
      name: "sibling",
      kind: "sub_account",
      scopes: ["firms"],
      firm_id: sibling,
    });
    const siblingKey = minted.body.api_key;
    for (const [method, body] of [
      ["GET", undefined],
      ["PATCH", { amount_paise: 1 }],
      ["DELETE", undefined],
    ] as const) {
      const send = (path: string, key = mine.key) => service.send(method, path, { key, body });
      await assertAbsent([
        send(`${theirs.path}/${foreign}`),
        send(`${mine.path}/${foreign}`),
        send(`${mine.path}/${deleted}`),
        send(`${mine.path}/${noRequirement}`),
        send(`${mine.path}/no-id-at-all`),
        send(`/v1/firms/${sibling}/requirements/${own}`),
        send(`/v1/firms/${noFirm}/requirements/${own}`),
        send(`${mine.path}/${own}`, live),
        send(`${mine.path}/${own}`, siblingKey),
      ]);
    }
    for (const [method, body] of [
      ["GET", undefined],
      ["POST", duty],
    ] as const) {
      const send = (path: string, key = mine.key) => service.send(method, path, { key, body });
      await assertAbsent([
        send(theirs.path),
        send(`/v1/firms/${noFirm}/requirements`),
        send("/v1/firms/no-id-at-all/requirements"),
        send(mine.path, live),
        send(mine.path, siblingKey),
      ]);
    }
    const ofSibling = `/v1/firms/${sibling}/requirements`;
    await service.send("POST", ofSibling, { key: siblingKey, body: duty, expect: 201 });
  });

  await t.test(
    "every change is audited with actor, action and origin; a dry run leaves nothing",
    async () => {
      const desk = await openDesk(service);
      const from = (id: string) => ({ "x-request-id": id });
      const made = await desk.send("POST", desk.path, 201, duty, from("r1"));
      const id = made.body.requirement_id;
      const path = `${desk.path}/${id}`;
      await desk.send("PATCH", path, 200, { amount_paise: 5 }, { "x-dry-run": "1" });
      await desk.send("PATCH", path, 200, { amount_paise: 5 }, from("r2"));
      await desk.send("PATCH", path, 200, { amount_paise: 5 }, from("no-change"));
      await desk.send("DELETE", path, 200, undefined, from("r3"));
      const trail = await listAuditRecords(service, desk.deskId);
      assert.deepEqual(
        trail.map((row) => [row.request_id, row.action, row.entity_id, row.entity_version]),
        [
          ["r1", "requirement.declared", id, 1],
          ["r2", "requirement.updated", id, 2],
          ["r3", "requirement.deleted", id, 2],
        ],
      );
      for (const row of trail)
        assert.deepEqual([row.actor_kind, row.actor_id], ["key", desk.keyId]);
      const [declared, updated, deleted] = trail;
      assert.match(String(declared?.after_hash), /^[0-9a-f]{64}$/);
      assert.notEqual(updated?.after_hash, declared?.after_hash);
      assert.equal(deleted?.after_hash, null);
      const { body } = await desk.send("GET", "/v1/events", 200);
      const told = body.events.map(({ event }: { event: string }) => event);
      assert.deepEqual(told, ["key.created"], "the trail is the audit's; no event is told");
    },
  );
});
