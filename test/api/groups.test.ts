import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { expiryBuckets, heldStates, membersMax } from "../../src/firms/group-rules.ts";
import { newId } from "../../src/kernel/ids.ts";
import { schemes } from "../../src/kernel/scheme.ts";
import { firmBody } from "../support/client-firms.ts";
import { assertAbsent, checkDoors } from "../support/doors.ts";
import { addCredits, addFirm, listAuditRecords, type TestCredit } from "../support/holdings.ts";
import { readSlug, type Service, startService } from "../support/service.ts";

const noGroup = "grp_01jd2m7q4x8r5v6w9y0abcdefg";
const noFirm = "frm_01jd2m7q4x8r5v6w9y0abcdefg";

async function openDesk(service: Service) {
  const { api_key: key, firm_id: deskId, key_id: keyId } = await service.issue();
  const send = (method: string, path: string, expect: number, body?: unknown, headers = {}) =>
    service.send(method, path, { key, body, expect, headers });
  let groups = 0;
  const group = async (): Promise<string> =>
    (await send("POST", "/v1/groups", 201, { name: `Group ${++groups}` })).body.group_id;
  return { key, keyId, deskId, send, group, firm: () => addFirm(service, { deskId }) };
}

test("groups", async (t) => {
  const service = await startService(t);

  await t.test("every group route checks key, scope, rate and body", async (t) => {
    const name = { name: "Sahyadri Group" };
    const group = `/v1/groups/${noGroup}`;
    await checkDoors(t, service, [
      { method: "POST", path: "/v1/groups", scope: "firms", body: name },
      { method: "GET", path: "/v1/groups", scope: "firms", orScope: "orders:read" },
      { method: "GET", path: group, scope: "firms" },
      { method: "PATCH", path: group, scope: "firms", body: name },
      { method: "DELETE", path: group, scope: "firms" },
      { method: "GET", path: `${group}/members`, scope: "firms" },
      { method: "PUT", path: `${group}/members/${noFirm}`, scope: "firms" },
      { method: "DELETE", path: `${group}/members/${noFirm}`, scope: "firms" },
      { method: "GET", path: `${group}/positions`, scope: "orders:read" },
    ]);
  });

  await t.test("a created group is answered and can be read", async () => {
    const desk = await openDesk(service);
    const { body } = await desk.send("POST", "/v1/groups", 201, { name: "Sahyadri" });
    assert.match(body.group_id, /^grp_/);
    assert.deepEqual(body, {
      group_id: body.group_id,
      name: "Sahyadri",
      member_count: 0,
      created_at: "2026-11-15T14:45:00.000+05:30",
      updated_at: "2026-11-15T14:45:00.000+05:30",
      version: 1,
      allowed_actions: ["update", "add_member", "delete"],
    });
    assert.deepEqual((await desk.send("GET", `/v1/groups/${body.group_id}`, 200)).body, body);
    assert.deepEqual((await desk.send("GET", "/v1/groups", 200)).body, { groups: [body] });
  });

  await t.test("a desk's group names are unique, and the conflict names the group", async () => {
    const desk = await openDesk(service);
    const first = (await desk.send("POST", "/v1/groups", 201, { name: "One" })).body.group_id;
    const second = (await desk.send("POST", "/v1/groups", 201, { name: "Two" })).body.group_id;
    const created = await desk.send("POST", "/v1/groups", 409, { name: "One" });
    assert.equal(readSlug(created), "conflict");
    assert.deepEqual(created.body.detail, { reason: "name_taken", group_id: first });
    const tried = await desk.send("POST", "/v1/groups", 409, { name: "One" }, { "x-dry-run": "1" });
    assert.equal(tried.text, created.text);
    const renamed = await desk.send("PATCH", `/v1/groups/${second}`, 409, { name: "One" });
    assert.equal(renamed.body.detail.group_id, first);
    const elsewhere = await openDesk(service);
    await elsewhere.send("POST", "/v1/groups", 201, { name: "One" });
  });

  await t.test("concurrent creations of one name make one group", async () => {
    const desk = await openDesk(service);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        service.send("POST", "/v1/groups", { key: desk.key, body: { name: "Raced" } }),
      ),
    );
    const [created, ...rest] = answers.toSorted((a, b) => a.status - b.status);
    assert.equal(created?.status, 201);
    for (const { status, body } of rest) {
      assert.equal(status, 409);
      assert.equal(body.detail.group_id, created?.body.group_id);
    }
  });

  await t.test("an idempotency key creates one group, even after it was deleted", async () => {
    const desk = await openDesk(service);
    const headers = { "idempotency-key": "g-1" };
    const create = (expect: number, name = "Once") =>
      desk.send("POST", "/v1/groups", expect, { name }, headers);
    const first = (await create(201)).body;
    const path = `/v1/groups/${first.group_id}`;
    await desk.send("PATCH", path, 200, { name: "Renamed" });
    const again = await create(200);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    assert.equal(again.body.name, "Renamed");
    const reused = await create(409, "Other");
    assert.deepEqual(reused.body.detail, {
      reason: "idempotency_key_reused",
      group_id: first.group_id,
      differs: ["name"],
    });
    await desk.send("DELETE", path, 200);
    assert.deepEqual((await create(409)).body.detail, {
      reason: "deleted",
      group_id: first.group_id,
    });
  });

  await t.test("an invalid name is refused with its field", async () => {
    const desk = await openDesk(service);
    const group = await desk.group();
    for (const name of [undefined, null, "", "   ", 7, "x".repeat(201)]) {
      for (const [method, path] of [
        ["POST", "/v1/groups"],
        ["PATCH", `/v1/groups/${group}`],
      ] as const) {
        const { body } = await desk.send(method, path, 422, { name });
        assert.equal(body.code, "unprocessable");
        assert.equal(body.detail.fields[0].path, "name");
      }
    }
    // Characters outside the basic plane count twice here and once in the column: it still fits.
    await desk.send("PATCH", `/v1/groups/${group}`, 200, { name: "𝄞".repeat(100) });
  });

  await t.test("renaming raises the version once, and only for another name", async () => {
    const desk = await openDesk(service);
    const path = `/v1/groups/${await desk.group()}`;
    const dry = await desk.send("PATCH", path, 200, { name: "New" }, { "x-dry-run": "1" });
    assert.equal(dry.body.name, "New");
    assert.equal((await desk.send("GET", path, 200)).body.name, "Group 1");
    assert.equal((await desk.send("PATCH", path, 200, { name: "New" })).body.version, 2);
    assert.equal((await desk.send("PATCH", path, 200, { name: "New" })).body.version, 2);
  });

  await t.test("lists are paged when asked, newest first", async () => {
    const desk = await openDesk(service);
    const made: string[] = [];
    for (let n = 0; n < 5; n++) {
      made.unshift(await desk.group());
      service.clock.advance({ ms: 1 });
    }
    const pickIds = (rows: { group_id: string }[]) => rows.map(({ group_id }) => group_id);
    const first = (await desk.send("GET", "/v1/groups?limit=3", 200)).body;
    assert.deepEqual(pickIds(first.groups), made.slice(0, 3));
    assert.deepEqual([first.count, first.total, first.has_more], [3, 5, true]);
    const next = `/v1/groups?limit=3&cursor=${first.next_cursor}`;
    const last = (await desk.send("GET", next, 200)).body;
    assert.deepEqual(pickIds(last.groups), made.slice(3));
    assert.deepEqual(
      [last.count, last.total, last.has_more, last.next_cursor],
      [2, 5, false, null],
    );
    const elsewhere = await openDesk(service);
    assert.equal(readSlug(await elsewhere.send("GET", next, 400)), "bad_request");
    for (const query of ["limit=0", "limit=501", "limit=x", "page=2"]) {
      const refused = await desk.send("GET", `/v1/groups?${query}`, 422);
      assert.equal(readSlug(refused), "validation_error");
      await desk.send("GET", `/v1/groups/${made[0]}/members?${query}`, 422);
    }
  });

  await t.test("repeated joins and leaves of a member change the group once", async () => {
    const desk = await openDesk(service);
    const group = await desk.group();
    const firm = await desk.firm();
    const member = `/v1/groups/${group}/members/${firm}`;
    const tried = await desk.send("PUT", member, 200, undefined, { "x-dry-run": "1" });
    assert.equal(tried.body.member_count, 1);
    assert.deepEqual((await desk.send("GET", `/v1/groups/${group}/members`, 200)).body, {
      members: [],
    });
    for (let n = 0; n < 2; n++) {
      const { body } = await desk.send("PUT", member, 200);
      assert.deepEqual([body.member_count, body.version], [1, 2]);
      assert.deepEqual(body.allowed_actions, ["update", "add_member", "remove_member"]);
    }
    assert.deepEqual((await desk.send("GET", `/v1/groups/${group}/members`, 200)).body, {
      members: [{ firm_id: firm, legal_name: "Client firm", connection_state: "authorized" }],
    });
    await desk.send("DELETE", member, 200, undefined, { "x-dry-run": "1" });
    for (let n = 0; n < 2; n++) {
      const { body } = await desk.send("DELETE", member, 200);
      assert.deepEqual([body.member_count, body.version], [0, 3]);
    }
  });

  await t.test("the desk's own firm can be a member; members are paged", async () => {
    const desk = await openDesk(service);
    const group = await desk.group();
    service.clock.advance({ ms: 1 });
    const firm = await desk.firm();
    await desk.send("PUT", `/v1/groups/${group}/members/${desk.deskId}`, 200);
    await desk.send("PUT", `/v1/groups/${group}/members/${firm}`, 200);
    const path = `/v1/groups/${group}/members?limit=1`;
    const first = (await desk.send("GET", path, 200)).body;
    assert.equal(first.members[0].firm_id, firm);
    const last = (await desk.send("GET", `${path}&cursor=${first.next_cursor}`, 200)).body;
    assert.equal(last.members[0].firm_id, desk.deskId);
    assert.deepEqual([last.total, last.has_more], [2, false]);
    const other = await desk.group();
    const misused = `/v1/groups/${other}/members?cursor=${first.next_cursor}`;
    assert.equal(readSlug(await desk.send("GET", misused, 400)), "bad_request");
  });

  await t.test("a firm is in one group at a time", async () => {
    const desk = await openDesk(service);
    const [one, two] = [await desk.group(), await desk.group()];
    const firm = await desk.firm();
    await desk.send("PUT", `/v1/groups/${one}/members/${firm}`, 200);
    const refused = await desk.send("PUT", `/v1/groups/${two}/members/${firm}`, 409);
    assert.deepEqual(refused.body.detail, { reason: "in_another_group", group_id: one });
    await desk.send("DELETE", `/v1/groups/${two}/members/${firm}`, 200);
    assert.equal((await desk.send("GET", `/v1/groups/${one}`, 200)).body.member_count, 1);
  });

  await t.test("a firm that two groups add concurrently joins one", async () => {
    const desk = await openDesk(service);
    const groups = [await desk.group(), await desk.group(), await desk.group()];
    for (let round = 0; round < 5; round++) {
      const firm = await desk.firm();
      const answers = await Promise.all(
        groups.map((group) =>
          service.send("PUT", `/v1/groups/${group}/members/${firm}`, { key: desk.key }),
        ),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 409, 409],
      );
    }
  });

  await t.test("an offboarded firm cannot join", async () => {
    const desk = await openDesk(service);
    const firm = await addFirm(service, { deskId: desk.deskId, state: "offboarded" });
    const refused = await desk.send("PUT", `/v1/groups/${await desk.group()}/members/${firm}`, 409);
    assert.equal(refused.body.detail.reason, "firm_offboarded");
  });

  await t.test("a full group takes no more members, even concurrently", async () => {
    const desk = await openDesk(service);
    const group = await desk.group();
    const { pool } = service.ctx.db;
    const waiting = await Promise.all(Array.from({ length: 4 }, () => desk.firm()));
    const now = service.clock.now();
    await pool.query(
      `insert into firms (
        firm_id, environment, desk_id, legal_name, connection_state, authorized_at, group_id,
        created_at, updated_at
      )
      select id, 'sandbox', $1, id, 'authorized', $3, $2, $3, $3 from unnest($4::text[]) as id`,
      [desk.deskId, group, now, Array.from({ length: membersMax - 1 }, () => newId("frm", now))],
    );
    const answers = await Promise.all(
      waiting.map((firm) =>
        service.send("PUT", `/v1/groups/${group}/members/${firm}`, { key: desk.key }),
      ),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409, 409],
    );
    const refused = answers.find(({ status }) => status === 409);
    assert.equal(refused?.body.detail.reason, "group_full");
    const { body } = await desk.send("GET", `/v1/groups/${group}/positions`, 200);
    assert.equal(body.members.length, membersMax);
  });

  await t.test("only a group without members is deleted", async () => {
    const desk = await openDesk(service);
    const path = `/v1/groups/${await desk.group()}`;
    const member = `${path}/members/${await desk.firm()}`;
    await desk.send("PUT", member, 200);
    const refused = await desk.send("DELETE", path, 409);
    assert.deepEqual(refused.body.detail, {
      reason: "group_not_empty",
      member_count: 1,
      allowed_actions: ["update", "add_member", "remove_member"],
    });
    await desk.send("DELETE", member, 200);
    await desk.send("DELETE", path, 200, undefined, { "x-dry-run": "1" });
    await desk.send("DELETE", path, 200);
    await desk.send("GET", path, 404);
    await desk.send("DELETE", path, 404);
  });

  await t.test("another desk's groups and members are not found", async () => {
    const [mine, theirs] = [await openDesk(service), await openDesk(service)];
    const [myGroup, myFirm] = [await mine.group(), await mine.firm()];
    const [group, firm] = [await theirs.group(), await theirs.firm()];
    const deleted = await mine.group();
    await mine.send("DELETE", `/v1/groups/${deleted}`, 200);
    const live = await service.issue({ environment: "live" });
    const paths: [string, (group: string, firm: string) => string][] = [
      ["GET", (group) => `/v1/groups/${group}`],
      ["PATCH", (group) => `/v1/groups/${group}`],
      ["DELETE", (group) => `/v1/groups/${group}`],
      ["GET", (group) => `/v1/groups/${group}/members`],
      ["GET", (group) => `/v1/groups/${group}/positions`],
      ["PUT", (group, firm) => `/v1/groups/${group}/members/${firm}`],
      ["DELETE", (group, firm) => `/v1/groups/${group}/members/${firm}`],
    ];
    for (const [method, buildPath] of paths) {
      const body = method === "PATCH" ? { name: "Taken over" } : undefined;
      const send = (path: string, key = mine.key) => service.send(method, path, { key, body });
      const absent = [group, deleted, noGroup, "no-id-at-all"];
      await assertAbsent(absent.map((one) => send(buildPath(one, myFirm))));
      await assertAbsent([send(buildPath(group, firm)), send(buildPath(noGroup, noFirm))]);
      await assertAbsent(
        [buildPath(myGroup, myFirm), buildPath(noGroup, noFirm)].map((path) =>
          send(path, live.api_key),
        ),
      );
    }
    for (const method of ["PUT", "DELETE"]) {
      await assertAbsent(
        [firm, noFirm, "no-id-at-all", theirs.deskId].map((firm) =>
          service.send(method, `/v1/groups/${myGroup}/members/${firm}`, { key: mine.key }),
        ),
      );
    }
  });

  await t.test("a sub_account key cannot use groups", async () => {
    const desk = await openDesk(service);
    const group = await desk.group();
    const firm = await desk.firm();
    const minted = await desk.send("POST", "/v1/keys", 201, {
      name: "client",
      kind: "sub_account",
      scopes: ["*"],
      firm_id: firm,
    });
    const key = minted.body.api_key;
    const path = `/v1/groups/${group}`;
    for (const [method, target, body] of [
      ["POST", "/v1/groups", { name: "Mine" }],
      ["GET", "/v1/groups"],
      ["GET", path],
      ["PATCH", path, { name: "Mine" }],
      ["DELETE", path],
      ["GET", `${path}/members`],
      ["PUT", `${path}/members/${firm}`],
      ["DELETE", `${path}/members/${firm}`],
      ["GET", `${path}/positions`],
    ] as const) {
      const refused = await service.send(method, target, { key, body, expect: 403 });
      assert.deepEqual(
        [refused.body.error, refused.body.code, refused.body.detail.reason],
        ["request_error", "forbidden", "sub_account_key"],
      );
    }
    await service.send("GET", `/v1/groups/${noGroup}`, { key, expect: 403 });
  });

  await t.test(
    "every change is audited with actor, action and origin; a dry run leaves nothing",
    async () => {
      const desk = await openDesk(service);
      const firm = await desk.firm();
      const step = (method: string, path: string, id: string, body?: unknown) =>
        desk.send(method, path, method === "POST" ? 201 : 200, body, { "x-request-id": id });
      const { group_id } = (await step("POST", "/v1/groups", "r1", { name: "A" })).body;
      const path = `/v1/groups/${group_id}`;
      await step("PATCH", path, "r2", { name: "B" });
      await step("PUT", `${path}/members/${firm}`, "r3");
      await step("PUT", `${path}/members/${firm}`, "r3 again");
      await step("DELETE", `${path}/members/${firm}`, "r4");
      await desk.send("DELETE", path, 200, undefined, { "x-dry-run": "1" });
      await step("DELETE", path, "r5");
      const trail = await listAuditRecords(service, desk.deskId);
      assert.deepEqual(
        trail.map((row) => [row.request_id, row.action, row.entity_id, row.entity_version]),
        [
          ["r1", "group.created", group_id, 1],
          ["r2", "group.updated", group_id, 2],
          ["r3", "firm.group_changed", firm, 2],
          ["r3", "group.member_added", group_id, 3],
          ["r4", "firm.group_changed", firm, 3],
          ["r4", "group.member_removed", group_id, 4],
          ["r5", "group.deleted", group_id, 4],
        ],
      );
      for (const row of trail)
        assert.deepEqual([row.actor_kind, row.actor_id], ["key", desk.keyId]);
      const ofGroup = trail.filter(({ entity_type }) => entity_type === "group");
      assert.equal(ofGroup.at(-1)?.after_hash, null);
      const digests = ofGroup.map(({ after_hash }) => after_hash);
      assert.equal(new Set(digests).size, digests.length, "each change has the group as it became");
    },
  );

  await t.test(
    "a change of a firm's group_id changes both groups and their audit trails",
    async () => {
      const desk = await openDesk(service);
      const group = async (name: string): Promise<string> =>
        (await desk.send("POST", "/v1/groups", 201, { name })).body.group_id;
      const [from, to] = [await group("From"), await group("To")];
      const body = firmBody({ group_id: from });
      const { firm_id } = (await desk.send("POST", "/v1/firms", 201, body)).body;
      await desk.send("PATCH", `/v1/firms/${firm_id}`, 200, { group_id: to });
      await desk.send("PATCH", `/v1/firms/${firm_id}`, 200, { group_id: to });
      await desk.send("PATCH", `/v1/firms/${firm_id}`, 200, { group_id: null });
      await desk.send("PATCH", `/v1/firms/${firm_id}`, 404, { group_id: noGroup });
      const trail = (await listAuditRecords(service, desk.deskId)).filter(
        ({ entity_type, action }) => entity_type === "group" && action !== "group.created",
      );
      assert.deepEqual(
        trail.map((row) => `${row.action} ${row.entity_id} ${row.entity_version}`).toSorted(),
        [
          `group.member_added ${from} 2`,
          `group.member_added ${to} 2`,
          `group.member_removed ${from} 3`,
          `group.member_removed ${to} 3`,
        ].toSorted(),
      );
      for (const id of [from, to]) {
        const { version, member_count } = (await desk.send("GET", `/v1/groups/${id}`, 200)).body;
        assert.deepEqual([version, member_count], [3, 0]);
        const [joined, left] = trail.filter(({ entity_id }) => entity_id === id);
        assert.notEqual(left?.after_hash, joined?.after_hash);
      }
    },
  );
});

const today = "2026-11-15";

function dayAfter(days: number): string {
  return new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10);
}

const anyState = [
  ...heldStates,
  "declared",
  "rejected",
  "transferred",
  "suspended",
  "cancelled",
  "expired",
  "used",
  "withdrawn",
] as const;

const holdings = fc.array(
  fc.record({
    firm: fc.nat(3),
    scheme: fc.constantFrom(...schemes),
    facePaise: fc.integer({ min: 1, max: 2 ** 40 }),
    days: fc.oneof(
      fc.constantFrom(-1, 0, 30, 31, 60, 61, 90, 91, 180, 181, 365, 366),
      fc.integer({ min: -40, max: 800 }),
    ),
    state: fc.constantFrom(...heldStates, ...anyState),
  }),
  { maxLength: 60 },
);

const duties = fc.array(
  fc.record({
    firm: fc.nat(3),
    scheme: fc.constantFrom(...schemes, null),
    amountPaise: fc.integer({ min: 1, max: 2 ** 40 }),
    days: fc.integer({ min: -3, max: 60 }),
  }),
  { maxLength: 25 },
);

test("a group's position is the sum of its members' positions, line by line", async (t) => {
  const service = await startService(t);
  await fc.assert(
    fc.asyncProperty(holdings, duties, async (held, owed) => {
      const desk = await openDesk(service);
      const group = await desk.group();
      // The last firm is on the desk and not in the group: nothing of it may count.
      const firms = [await desk.firm(), await desk.firm(), await desk.firm(), await desk.firm()];
      for (const firm of firms.slice(0, 3)) {
        await desk.send("PUT", `/v1/groups/${group}/members/${firm}`, 200);
      }
      const pickFirm = (index: number) => firms[index] ?? "";
      await addCredits(
        service,
        desk.deskId,
        held.map(({ firm, days, ...credit }): TestCredit => {
          return { ...credit, firmId: pickFirm(firm), expiresOn: dayAfter(days) };
        }),
      );
      await service.ctx.db.pool.query(
        `insert into requirements (
          requirement_id, environment, desk_id, firm_id, scheme, amount_paise, due_on, reference,
          version, created_at, updated_at
        )
        select id, 'sandbox', $1, firm, scheme, amount, due_on, id, 1, $2, $2
        from unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::date[])
          as r (id, firm, scheme, amount, due_on)`,
        [
          desk.deskId,
          service.clock.now(),
          owed.map(() => newId("rqm", service.clock.now())),
          owed.map(({ firm }) => pickFirm(firm)),
          owed.map(({ scheme }) => scheme),
          owed.map(({ amountPaise }) => amountPaise),
          owed.map(({ days }) => dayAfter(days)),
        ],
      );

      const { body } = await desk.send("GET", `/v1/groups/${group}/positions`, 200);
      assert.equal(body.as_of, "2026-11-15T14:45:00.000+05:30");
      assert.deepEqual(
        body.members.map(({ firm_id }: { firm_id: string }) => firm_id).toSorted(),
        firms.slice(0, 3).toSorted(),
      );
      const isHeld = ({ state, days }: (typeof held)[number]) =>
        (heldStates as readonly string[]).includes(state) && days >= 0;
      const check = (shown: typeof body, ofFirm: (firm: number) => boolean) => {
        const credits = held.filter((credit) => isHeld(credit) && ofFirm(credit.firm));
        const duty = owed.filter(({ firm, days }) => ofFirm(firm) && days >= 0);
        const filterDuty = (scheme: string | null) => duty.filter((row) => row.scheme === scheme);
        const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
        const sums = (rows: typeof credits) => ({
          credit_count: rows.length,
          face_paise: sum(rows.map(({ facePaise }) => facePaise)),
          available_paise: sum(
            rows.filter(({ state }) => state === "listed").map(({ facePaise }) => facePaise),
          ),
        });
        const dues = (rows: typeof duty) => ({
          requirement_count: rows.length,
          requirement_paise: sum(rows.map(({ amountPaise }) => amountPaise)),
        });
        const expected = schemes.map((scheme) => {
          const mine = credits.filter((credit) => credit.scheme === scheme);
          const totals = { ...sums(mine), ...dues(filterDuty(scheme)) };
          let from = 0;
          const buckets = expiryBuckets.map((bucket) => {
            const until = bucket.days_max ?? Infinity;
            const inside = mine.filter(({ days }) => days >= from && days <= until);
            from = until + 1;
            return { ...bucket, ...sums(inside) };
          });
          const net_paise = totals.face_paise - totals.requirement_paise;
          return { scheme, ...totals, net_paise, buckets };
        });
        assert.deepEqual(shown.schemes, expected);
        assert.deepEqual(shown.any_scheme, dues(filterDuty(null)));
      };
      check(body, (firm) => firm < 3);
      for (const member of body.members) check(member, (firm) => pickFirm(firm) === member.firm_id);
    }),
    { numRuns: 40 },
  );
});

test("a sum beyond 2^53 is shown with all its digits", async (t) => {
  const service = await startService(t);
  const desk = await openDesk(service);
  const group = await desk.group();
  const firm = await desk.firm();
  await desk.send("PUT", `/v1/groups/${group}/members/${firm}`, 200);
  const credit = {
    firmId: firm,
    scheme: "RODTEP",
    expiresOn: dayAfter(9),
    state: "listed",
  } as const;
  const positions = `/v1/groups/${group}/positions`;
  await addCredits(service, desk.deskId, [
    { ...credit, facePaise: Number.MAX_SAFE_INTEGER - 5 },
    { ...credit, facePaise: 5 },
  ]);
  const { body } = await desk.send("GET", positions, 200);
  assert.equal(body.schemes[0].face_paise, Number.MAX_SAFE_INTEGER);
  await addCredits(service, desk.deskId, [{ ...credit, facePaise: 1 }]);
  const { text } = await desk.send("GET", positions, 200);
  assert.match(text, /"face_paise":9007199254740992,/);
});

test("a position never shows half of a change", async (t) => {
  const service = await startService(t);
  const desk = await openDesk(service);
  const group = await desk.group();
  const [one, two] = [await desk.firm(), await desk.firm()];
  for (const firm of [one, two]) await desk.send("PUT", `/v1/groups/${group}/members/${firm}`, 200);
  const facePaise = 1_000;
  await addCredits(service, desk.deskId, [
    { firmId: one, scheme: "RODTEP", facePaise, expiresOn: dayAfter(9), state: "listed" },
  ]);
  const stop = new AbortController();
  let moves = 0;
  // The credit and a requirement of its size travel together from one firm to the other.
  await desk.send("POST", `/v1/firms/${one}/requirements`, 201, {
    scheme: "RODTEP",
    amount_paise: facePaise,
    due_on: today,
    reference: "together",
  });
  const moving = (async () => {
    while (!stop.signal.aborted) {
      const to = moves++ % 2 === 0 ? two : one;
      const client = await service.ctx.db.pool.connect();
      await client.query("begin");
      await client.query("update credits set firm_id = $1", [to]);
      await client.query("update requirements set firm_id = $1", [to]);
      await client.query("commit");
      client.release();
    }
  })();
  for (let reads = 0; reads < 60; reads++) {
    const { body } = await desk.send("GET", `/v1/groups/${group}/positions`, 200);
    assert.equal(body.schemes[0].credit_count, 1);
    for (const member of body.members) assert.equal(member.schemes[0].net_paise, 0);
  }
  // Control: two statements with a move in between see the credit here and its duty there.
  const readFirmId = async (table: string) =>
    (await service.ctx.db.pool.query(`select firm_id from ${table}`)).rows[0].firm_id as string;
  let torn = 0;
  for (let tries = 0; torn === 0 && tries < 1_000; tries++) {
    const holder = await readFirmId("credits");
    await new Promise((resolve) => setImmediate(resolve));
    if (holder !== (await readFirmId("requirements"))) torn += 1;
  }
  stop.abort();
  await moving;
  assert.equal(torn, 1);
  assert.ok(moves > 10, "the credit was on the move while positions were read");
});
