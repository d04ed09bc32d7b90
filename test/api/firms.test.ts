import assert from "node:assert/strict";
import { test } from "node:test";

import type { Blocker } from "../../src/firms/offboard-firm.ts";
import { openAccountNo } from "../../src/firms/particulars.ts";
import { makeSyntheticPan } from "../../src/kernel/identifiers.ts";
import { findFirm } from "../../src/firms/store.ts";
import { attestQuestions } from "../../src/outside/answer-questions.ts";
import { readOpenQuestions, setOutage } from "../../src/outside/ask.ts";
import { operator } from "../../src/kernel/actor.ts";
import { resumeFirm, suspendFirm } from "../../src/firms/change-firm.ts";
import { toOperatorRequester } from "../../src/firms/find-firms.ts";
import { offboarding } from "../../src/hooks.ts";
import { sql } from "../../src/platform/postgres/postgres.ts";
import { appliers } from "../../src/workers.ts";
import { bank, firmBody, firmThatIs, mandate } from "../support/client-firms.ts";
import { type Answer, readSlug, startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const nobody = "frm_00000000000000000000000000";

test("client firms", async (t) => {
  const business: Blocker[] = [];

  const service = await startService(t, {
    offboarding: {
      blockers: [async (_tx, _deskId, firmId) => business.filter(({ id }) => id === firmId)],
      money: offboarding.money,
      onOffboard: offboarding.onOffboard,
    },
  });
  const key = (await service.issue()).api_key;
  const otherKey = (await service.issue()).api_key;

  const post = async (path: string, body: unknown, expect?: number, as = key) =>
    await service.send("POST", path, { key: as, body, ...(expect && { expect }) });
  const patch = async (firmId: string, body: unknown, expect?: number) =>
    await service.send("PATCH", `/v1/firms/${firmId}`, { key, body, ...(expect && { expect }) });
  const get = async (path: string, as = key) => await service.send("GET", path, { key: as });
  const pickPaths = ({ body }: Answer) =>
    body.detail.fields.map(({ path }: { path: string }) => path) as string[];
  const listFirmEvents = async (firmId: string) => {
    const { body } = await get("/v1/events");
    return body.events
      .filter((event: { entity: { id: string } }) => event.entity.id === firmId)
      .map((e: { event: string; from: string | null; to: string }) => [e.event, e.from, e.to]);
  };
  const settle = async () => {
    service.clock.advance({ seconds: 1 });
    await service.work();
  };

  await t.test("registering answers 201 with the firm, its identifiers normalized", async () => {
    const pan = makeSyntheticPan("spelling");
    const { body } = await post(
      "/v1/firms",
      {
        legal_name: "  Acme   Exports ",
        iec: pan.toLowerCase(),
        pan: ` ${pan.slice(0, 5)} ${pan.slice(5)} `,
        email: "Accounts@Acme.Example",
        phone: "98200 12345",
        role: "both",
        external_id: "ERP-1",
        bank: { account_no: "5020 0012 3456 78", ifsc: "hdfc0000001", name: "Acme Exports" },
      },
      201,
    );
    assert.equal(body.legal_name, "Acme Exports");
    assert.deepEqual([body.iec, body.pan], [pan, pan]);
    assert.equal(body.email, "accounts@acme.example");
    assert.equal(body.phone, "+919820012345");
    assert.deepEqual(body.bank, {
      account_no_masked: "XXXXXX5678",
      ifsc: "HDFC0000001",
      name: "Acme Exports",
    });
    assert.equal(body.connection_state, "registered");
    assert.equal(body.version, 1);
    assert.deepEqual(body.allowed_actions, ["verify", "offboard", "drain"]);
    assert.deepEqual((await get(`/v1/firms/${body.firm_id}`)).body, body);
    assert.deepEqual(await listFirmEvents(body.firm_id), [["firm.registered", null, "registered"]]);
  });

  await t.test("every invalid identifier is refused with its field", async () => {
    const pan = "AAPFU0939F";
    const answer = await post("/v1/firms", {
      legal_name: "  ",
      iec: "12345",
      pan,
      gstin: "29AAGCB7383J1Z4",
      cin: "U51909KA2015PTC082321",
      email: "nowhere",
      phone: "12",
      role: "both",
      external_id: " ",
      bank: { account_no: "12", ifsc: "X", name: " " },
    });
    assert.equal(answer.status, 422);
    assert.equal(readSlug(answer), "unprocessable");
    assert.deepEqual(pickPaths(answer), [
      "legal_name",
      "iec",
      "gstin",
      "cin",
      "email",
      "phone",
      "external_id",
      "bank.account_no",
      "bank.ifsc",
      "bank.name",
    ]);
    const missing = await post("/v1/firms", {});
    assert.equal(missing.status, 422);
    assert.deepEqual(pickPaths(missing), ["legal_name", "iec", "pan", "email", "role"]);
    assert.equal((await post("/v1/firms", firmBody({ role: "broker" }))).status, 400);
    assert.equal((await post("/v1/firms", firmBody({ colour: "red" }))).status, 400);
    assert.equal((await post("/v1/firms", "[]")).status, 400);
    assert.equal((await post("/v1/firms", firmBody({ bank: { iban: "1" } }))).status, 400);
    assert.equal((await post("/v1/firms", firmBody({ pan: 7 }))).status, 422);
    const form = { key, body: "{}", headers: { "content-type": "text/plain" } };
    assert.equal((await service.send("POST", "/v1/firms", form)).status, 415);
  });

  await t.test(
    "the same IEC or external id twice on a desk is a conflict that names the firm",
    async () => {
      const first = (await post("/v1/firms", firmBody({ external_id: "twin" }), 201)).body;
      const sameIec = await post("/v1/firms", firmBody({ iec: first.iec, pan: first.pan }));
      assert.equal(sameIec.status, 409);
      assert.deepEqual(sameIec.body.detail, { reason: "duplicate_iec", firm_id: first.firm_id });
      const sameName = await post("/v1/firms", firmBody({ external_id: "twin" }), 409);
      assert.deepEqual(sameName.body.detail, {
        reason: "duplicate_external_id",
        firm_id: first.firm_id,
      });
      const second = (await post("/v1/firms", firmBody(), 201)).body;
      const patched = await patch(second.firm_id, { iec: first.iec, pan: first.pan }, 409);
      assert.deepEqual(patched.body.detail, { reason: "duplicate_iec", firm_id: first.firm_id });
      const named = await patch(second.firm_id, { external_id: "twin" }, 409);
      assert.equal(named.body.detail.reason, "duplicate_external_id");
      const elsewhere = firmBody({ iec: first.iec, pan: first.pan, external_id: "twin" });
      await post("/v1/firms", elsewhere, 201, otherKey);
    },
  );

  await t.test("200 registrations of one IEC at once make one firm", async () => {
    const pan = makeSyntheticPan("contended");
    const body = firmBody({ iec: pan, pan });
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => await post("/v1/firms", body)),
    );
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    assert.equal(created.length, 1);
    assert.equal(refused.length, 199);
    for (const answer of refused) {
      assert.equal(answer.body.detail.firm_id, created[0]?.body.firm_id);
    }
  });

  await t.test("a registration sent again under its idempotency key is the same firm", async () => {
    const body = firmBody({ bank: bank("Again") });
    const headers = { "idempotency-key": "register-1" };
    const first = await service.send("POST", "/v1/firms", { key, body, headers, expect: 201 });
    const again = await service.send("POST", "/v1/firms", { key, body, headers, expect: 200 });
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    assert.deepEqual(again.body, first.body);
    const other = { ...body, bank: bank("Again", "50200012345679") };
    const reused = await service.send("POST", "/v1/firms", { key, body: other, headers });
    assert.equal(reused.status, 409);
    assert.deepEqual(reused.body.detail.differs, ["bank"]);
    assert.equal(reused.body.detail.firm_id, first.body.firm_id);
  });

  await t.test("a dry run answers as the call would and stores nothing", async () => {
    const body = firmBody();
    const headers = { "x-dry-run": "1" };
    const tried = await service.send("POST", "/v1/firms", { key, body, headers, expect: 200 });
    assert.equal(tried.headers.get("x-dry-run"), "1");
    assert.equal((await get(`/v1/firms/${tried.body.firm_id}`)).status, 404);
    const firm = await firmThatIs(service, key, "authorized");
    const path = `/v1/firms/${firm.firm_id}`;
    const suspended = await service.send("POST", `${path}/suspend`, {
      key,
      headers,
      body: { reason: "trying" },
      expect: 200,
    });
    assert.equal(suspended.body.connection_state, "suspended");
    await service.send("PATCH", path, { key, headers, body: { legal_name: "Else" }, expect: 200 });
    await service.send("POST", `${path}/offboard`, { key, headers, body: {}, expect: 200 });
    assert.deepEqual((await get(path)).body, firm);
  });

  await t.test(
    "a sandbox firm is verified and authorized, with an event for each step",
    async () => {
      const firm = (
        await post("/v1/firms", firmBody({ legal_name: "Walk", bank: bank("WALK") }), 201)
      ).body;
      const path = `/v1/firms/${firm.firm_id}`;
      const verifying = (await post(`${path}/verify`, {}, 200)).body;
      assert.equal(verifying.connection_state, "verifying");
      assert.deepEqual(
        verifying.checks.map((c: { check: string; outcome: string }) => `${c.check} ${c.outcome}`),
        [
          "IEC_ACTIVE pending",
          "PAN_MATCH pending",
          "BANK_NAME_MATCH pending",
          "FLAGGED_IEC pending",
        ],
      );
      assert.deepEqual((await post(`${path}/verify`, {}, 200)).body, verifying);
      await service.work();
      assert.equal((await get(path)).body.connection_state, "verifying");
      await settle();
      const verified = (await get(`${path}/connection`)).body;
      assert.equal(verified.connection_state, "verified");
      assert.ok(
        verified.checks.every(
          (c: { outcome: string; as_of: string }) => c.outcome === "pass" && c.as_of,
        ),
      );
      assert.deepEqual(verified.ports, [
        { port: "registry", state: "up", since: null },
        { port: "bank", state: "up", since: null },
      ]);
      assert.deepEqual(verified.allowed_actions, [
        "change_identity",
        "authorize",
        "offboard",
        "drain",
      ]);
      assert.ok(verified.as_of.endsWith("+05:30"));
      const authorized = (await post(`${path}/authorize`, { mandate }, 200)).body;
      assert.equal(authorized.connection_state, "authorized");
      assert.equal(authorized.mandate.valid_until, "2027-03-31T23:59:59.000+05:30");
      assert.deepEqual((await post(`${path}/authorize`, { mandate }, 200)).body, authorized);
      await post(`${path}/authorize`, { mandate: { ...mandate, reference: "another" } }, 409);
      await post(`${path}/suspend`, { reason: "audit" }, 200);
      const resumed = (await post(`${path}/resume`, {}, 200)).body;
      assert.equal(resumed.connection_state, "authorized");
      assert.equal(resumed.suspension, null);
      assert.deepEqual(await listFirmEvents(firm.firm_id), [
        ["firm.registered", null, "registered"],
        ["firm.verified", "verifying", "verified"],
        ["firm.authorized", "verified", "authorized"],
        ["firm.suspended", "authorized", "suspended"],
        ["firm.resumed", "suspended", "authorized"],
      ]);
    },
  );

  await t.test("only actions without required fields may be sent without a body", async () => {
    const firm = await firmThatIs(service, key, "registered");
    const path = `/v1/firms/${firm.firm_id}`;
    await service.send("POST", `${path}/verify`, { key, expect: 200 });
    assert.equal((await post(`${path}/verify`, "null")).status, 400);
    assert.equal((await post(`${path}/verify`, { now: true })).status, 400);
    assert.equal((await service.send("POST", `${path}/authorize`, { key })).status, 400);
  });

  await t.test(
    "a failed check names its cure, and the corrected firm is verified again",
    async () => {
      const bad = makeSyntheticPan("mismatch").replace(/\d{4}/, "9999");
      const firm = (
        await post("/v1/firms", firmBody({ iec: bad, pan: bad, bank: bank("Elsewhere") }), 201)
      ).body;
      const path = `/v1/firms/${firm.firm_id}`;
      await post(`${path}/verify`, {}, 200);
      await settle();
      const stuck = (await get(path)).body;
      assert.equal(stuck.connection_state, "action_required");
      const failed = stuck.checks.filter((c: { outcome: string }) => c.outcome === "fail");
      assert.deepEqual(
        failed.map((c: { check: string }) => c.check),
        ["PAN_MATCH", "BANK_NAME_MATCH"],
      );
      assert.ok(failed.every((c: { cure: string | null }) => c.cure));
      assert.equal((await post(`${path}/authorize`, { mandate })).status, 409);
      const good = makeSyntheticPan("match");
      const corrected = await patch(
        firm.firm_id,
        { iec: good, pan: good, bank: bank(firm.legal_name) },
        200,
      );
      assert.equal(corrected.body.connection_state, "action_required");
      await post(`${path}/verify`, {}, 200);
      await settle();
      assert.equal((await get(path)).body.connection_state, "verified");
      assert.deepEqual(
        (await listFirmEvents(firm.firm_id)).map(([name]: [string]) => name),
        ["firm.registered", "firm.action_required", "firm.bank_changed", "firm.verified"],
      );
    },
  );

  await t.test("a firm with a flagged IEC is rejected and can only be offboarded", async () => {
    const flagged = makeSyntheticPan("flagged").replace(/\d{4}/, "9998");
    const firm = (await post("/v1/firms", firmBody({ iec: flagged, pan: flagged }), 201)).body;
    const path = `/v1/firms/${firm.firm_id}`;
    await post(`${path}/verify`, {}, 200);
    await settle();
    const rejected = (await get(path)).body;
    assert.equal(rejected.connection_state, "rejected");
    assert.deepEqual(rejected.allowed_actions, ["offboard", "drain"]);
    assert.equal((await post(`${path}/verify`, {})).status, 409);
    assert.equal((await patch(firm.firm_id, { email: "new@firm.example" })).status, 409);
    assert.deepEqual((await listFirmEvents(firm.firm_id)).at(-1), [
      "firm.rejected",
      "verifying",
      "rejected",
    ]);
    assert.equal((await post(`${path}/offboard`, {}, 200)).body.connection_state, "offboarded");
  });

  await t.test("an action in the wrong state is a conflict with the allowed actions", async () => {
    const firm = await firmThatIs(service, key, "registered");
    const path = `/v1/firms/${firm.firm_id}`;
    for (const [action, body] of [
      ["authorize", { mandate }],
      ["suspend", { reason: "x" }],
      ["resume", {}],
    ] as const) {
      const answer = await post(`${path}/${action}`, body);
      assert.equal(answer.status, 409, action);
      assert.equal(readSlug(answer), "conflict");
      assert.equal(answer.body.detail.state, "registered");
      assert.deepEqual(answer.body.detail.allowed_actions, ["verify", "offboard", "drain"]);
    }
    const authorized = await firmThatIs(service, key, "authorized");
    assert.equal((await post(`/v1/firms/${authorized.firm_id}/verify`, {})).status, 409);
    assert.equal((await post(`/v1/firms/${authorized.firm_id}/resume`, {})).status, 409);
  });

  await t.test("a mandate needs all its fields and a future end", async () => {
    const firm = await firmThatIs(service, key, "verified");
    const path = `/v1/firms/${firm.firm_id}/authorize`;
    const wrong = { signatory_name: " ", reference: " ", valid_until: "tomorrow" };
    const answer = await post(path, { mandate: wrong }, 422);
    assert.deepEqual(pickPaths(answer), [
      "mandate.signatory_name",
      "mandate.reference",
      "mandate.valid_until",
    ]);
    await post(path, { mandate: { ...mandate, valid_until: "2026-11-14" } }, 422);
    await post(path, { mandate: { ...mandate, valid_until: "2027-02-30" } }, 422);
    await post(path, {}, 422);
    const day = await post(path, { mandate: { ...mandate, valid_until: "2026-11-15" } }, 200);
    assert.equal(day.body.mandate.valid_until, "2026-11-15T23:59:59.000+05:30");
    const reason = `/v1/firms/${firm.firm_id}/suspend`;
    await post(reason, { reason: "  " }, 422);
    await post(reason, {}, 422);
  });

  await t.test(
    "a changed bank account holds payouts for a day, and trading continues meanwhile",
    async () => {
      const firm = await firmThatIs(service, key, "authorized", {
        legal_name: "Moving",
        bank: bank("Moving"),
      });
      const path = `/v1/firms/${firm.firm_id}`;
      assert.deepEqual(firm.holds, []);
      const same = await patch(firm.firm_id, { bank: bank("Moving") }, 200);
      assert.deepEqual(same.body, firm);
      const moved = (await patch(firm.firm_id, { bank: bank("Moving", "60200087654321") }, 200))
        .body;
      assert.equal(moved.connection_state, "authorized");
      assert.equal(moved.bank.account_no_masked, "XXXXXX4321");
      const until = "2026-11-16T";
      assert.equal(moved.holds[0].reason, "beneficiary_change");
      assert.ok(moved.holds[0].until.startsWith(until), moved.holds[0].until);
      assert.deepEqual(moved.holds[1], { on: "payouts", reason: "bank_not_verified", until: null });
      assert.deepEqual((await get(`${path}/connection`)).body.holds, moved.holds);
      await settle();
      const confirmed = (await get(path)).body;
      assert.deepEqual(confirmed.holds, [moved.holds[0]]);
      const wrong = await patch(
        firm.firm_id,
        { bank: bank("Somebody Else", "60200087654322") },
        200,
      );
      assert.equal(wrong.body.connection_state, "authorized");
      await settle();
      const unpaid = (await get(path)).body;
      assert.equal(unpaid.connection_state, "authorized");
      assert.equal(unpaid.holds[1].reason, "bank_not_verified");
      assert.deepEqual((await listFirmEvents(firm.firm_id)).at(-1), [
        "firm.action_required",
        "authorized",
        "authorized",
      ]);
      const removed = (await patch(firm.firm_id, { bank: null }, 200)).body;
      assert.equal(removed.bank, null);
      service.clock.advance({ days: 1 });
      assert.deepEqual((await get(path)).body.holds, []);
    },
  );

  await t.test(
    "a firm that changes its identity is verified again and loses its mandate",
    async () => {
      for (const change of [
        { legal_name: "New Name" },
        { gstin: "29AAGCB7383J1Z4", iec: "AAGCB7383J", pan: "AAGCB7383J" },
        { iec: "0388012345" },
      ]) {
        const firm = await firmThatIs(service, key, "authorized");
        const changed = (await patch(firm.firm_id, change, 200)).body;
        assert.equal(changed.connection_state, "verifying");
        assert.equal(changed.mandate, null);
        assert.equal(changed.holds.length, "iec" in change ? 1 : 0);
        await settle();
        const again = (await get(`/v1/firms/${firm.firm_id}`)).body;
        assert.equal(again.connection_state, "verified");
        await post(`/v1/firms/${firm.firm_id}/authorize`, { mandate }, 200);
      }
    },
  );

  await t.test(
    "contact details change without a question, even while others are open",
    async () => {
      const firm = await firmThatIs(service, key, "verifying");
      const changed = await patch(
        firm.firm_id,
        { email: "new@firm.example", phone: "9820012345", legal_name: firm.legal_name },
        200,
      );
      assert.equal(changed.body.connection_state, "verifying");
      assert.equal(changed.body.version, firm.version + 1);
      await settle();
      const verified = (await get(`/v1/firms/${firm.firm_id}`)).body;
      assert.equal(verified.connection_state, "verified");
      assert.equal((await patch(firm.firm_id, { phone: null }, 200)).body.phone, null);
    },
  );

  await t.test("a change of identity during verification starts a new question", async () => {
    const bad = makeSyntheticPan("late mismatch").replace(/\d{4}/, "9999");
    const firm = await firmThatIs(service, key, "verifying", { iec: bad, pan: bad });
    const good = makeSyntheticPan("late match");
    await patch(firm.firm_id, { iec: good, pan: good }, 200);
    await settle();
    assert.equal((await get(`/v1/firms/${firm.firm_id}`)).body.connection_state, "verified");
  });

  await t.test("a change is validated together with the stored fields", async () => {
    const firm = await firmThatIs(service, key, "registered");
    const path = firm.firm_id as string;
    assert.deepEqual(pickPaths(await patch(path, { pan: makeSyntheticPan("x") }, 422)), ["iec"]);
    assert.deepEqual(pickPaths(await patch(path, { gstin: "29AAGCB7383J1Z4" }, 422)), ["gstin"]);
    const blank = { gstin: "", cin: "", phone: "" };
    assert.deepEqual(pickPaths(await patch(path, blank, 422)).toSorted(), [
      "cin",
      "gstin",
      "phone",
    ]);
    assert.deepEqual(pickPaths(await patch(path, { email: "x" }, 422)), ["email"]);
    assert.equal((await patch(path, { connection_state: "authorized" })).status, 400);
    assert.equal((await patch(path, { role: "x" })).status, 400);
    assert.equal((await patch(path, { group_id: "grp_00000000000000000000000000" })).status, 404);
    const inGroup = firmBody({ group_id: "grp_00000000000000000000000000" });
    assert.equal((await post("/v1/firms", inGroup)).status, 404);
    const suspended = await firmThatIs(service, key, "authorized");
    await post(`/v1/firms/${suspended.firm_id}/suspend`, { reason: "x" }, 200);
    assert.equal((await patch(suspended.firm_id, { legal_name: "Sly" })).status, 409);
  });

  await t.test("a firm that the operator suspended is resumed by the operator only", async () => {
    const firm = await firmThatIs(service, key, "authorized");
    const path = `/v1/firms/${firm.firm_id}`;
    await post(`${path}/suspend`, { reason: "ours" }, 200);
    const requester = await toOperatorRequester(service.ctx, firm.firm_id);
    await suspendFirm(service.ctx, requester, { firmId: firm.firm_id, reason: "theirs" });
    const refused = await post(`${path}/resume`, {});
    assert.equal(refused.status, 403);
    assert.equal(refused.body.error, "request_error");
    assert.equal(
      (await post(`${path}/suspend`, { reason: "again" }, 200)).body.suspension.by,
      "operator",
    );
    const resumed = await resumeFirm(service.ctx, requester, firm.firm_id);
    assert.equal(resumed.connection_state, "authorized");
  });

  await t.test("the list is newest first, filters, and pages with one total", async () => {
    const desk = await service.issue();
    const as = desk.api_key;
    for (let n = 0; n < 5; n++) {
      service.clock.advance({ ms: 1 });
      const body = firmBody({ external_id: `list-${n}`, role: n < 2 ? "importer" : "exporter" });
      await post("/v1/firms", body, 201, as);
    }
    const all = (await get("/v1/firms", as)).body;
    assert.deepEqual(Object.keys(all), ["firms"]);
    const ids = all.firms.map((f: { firm_id: string }) => f.firm_id);
    assert.equal(ids.length, 6);
    assert.equal(ids.at(-1), desk.firm_id);
    const paged: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page++) {
      const { body } = await get(`/v1/firms?limit=2${cursor}`, as);
      assert.equal(body.total, 6);
      paged.push(...body.firms.map((f: { firm_id: string }) => f.firm_id));
      cursor = `&cursor=${body.next_cursor}`;
      assert.equal(body.has_more, page < 2);
    }
    assert.deepEqual(paged, ids);
    const first = (await get("/v1/firms?limit=2", as)).body;
    const countFirms = async (query: string) =>
      (await get(`/v1/firms?${query}`, as)).body.firms.length;
    assert.equal(await countFirms("role=importer"), 2);
    assert.equal(await countFirms("external_id=list-3"), 1);
    assert.equal(await countFirms(`iec=${all.firms[0].iec.toLowerCase()}`), 1);
    assert.equal(await countFirms("connection_state=registered"), 5);
    assert.equal(await countFirms("group_id=none"), 0);
    assert.equal(
      (await get(`/v1/firms?cursor=${first.next_cursor}&role=importer`, as)).status,
      400,
    );
    assert.equal((await get("/v1/firms?role=broker", as)).status, 400);
    assert.equal((await get("/v1/firms?limit=0", as)).status, 422);
    assert.equal((await get("/v1/firms?limit=501", as)).status, 422);
  });

  await t.test(
    "another desk's firm, an unknown firm and an invalid id get the same 404 on every route",
    async () => {
      const firm = await firmThatIs(service, key, "verified");
      const routes: [string, string, unknown][] = [
        ["GET", "", undefined],
        ["PATCH", "", { email: "new@firm.example" }],
        ["GET", "/connection", undefined],
        ["POST", "/verify", {}],
        ["POST", "/authorize", { mandate }],
        ["POST", "/suspend", { reason: "x" }],
        ["POST", "/resume", {}],
        ["POST", "/offboard", {}],
      ];
      for (const [method, suffix, body] of routes) {
        const texts = await Promise.all(
          [firm.firm_id, nobody, "frm_x", "%00"].map(async (id) => {
            const path = `/v1/firms/${id}${suffix}`;
            return (await service.send(method, path, { key: otherKey, body, expect: 404 })).text;
          }),
        );
        assert.equal(new Set(texts).size, 1, `${method} ${suffix}`);
        const path = `/v1/firms/${firm.firm_id}${suffix}`;
        assert.equal((await service.send(method, path, { body })).status, 401);
        const { api_key } = await service.issue({ scopes: ["quote"] });
        assert.equal((await service.send(method, path, { key: api_key, body })).status, 403);
      }
      assert.equal((await get(`/v1/firms/${firm.firm_id}`)).body.version, firm.version);
    },
  );

  await t.test("a sub_account key sees and changes its own firm and no other", async () => {
    const own = await firmThatIs(service, key, "registered");
    const other = await firmThatIs(service, key, "registered");
    const minted = await post(
      "/v1/keys",
      { name: "sub", kind: "sub_account", scopes: ["firms"], firm_id: own.firm_id },
      201,
    );
    const sub = minted.body.api_key as string;
    const { body } = await get("/v1/firms?limit=10", sub);
    assert.deepEqual([body.total, body.firms[0].firm_id], [1, own.firm_id]);
    assert.equal((await get(`/v1/firms/${own.firm_id}`, sub)).status, 200);
    assert.equal((await get(`/v1/firms/${other.firm_id}`, sub)).status, 404);
    assert.equal((await post(`/v1/firms/${other.firm_id}/verify`, {}, 404, sub)).status, 404);
    assert.equal((await post(`/v1/firms/${own.firm_id}/verify`, {}, 200, sub)).status, 200);
    assert.equal((await post("/v1/firms", firmBody(), 403, sub)).body.error, "request_error");
    assert.equal((await post(`/v1/firms/${own.firm_id}/offboard`, {}, 403, sub)).status, 403);
    assert.equal((await post(`/v1/firms/${other.firm_id}/offboard`, {}, 404, sub)).status, 404);
    assert.equal((await post("/v1/firms", {}, 422, sub)).status, 422);
    const taken = await service.send("PATCH", `/v1/firms/${own.firm_id}`, {
      key: sub,
      body: { iec: other.iec, pan: other.pan },
      expect: 409,
    });
    assert.deepEqual(taken.body.detail, { reason: "duplicate_iec" }, "the sibling is not named");
  });

  await t.test(
    "offboarding masks personal data, destroys the account number and revokes the firm's keys",
    async () => {
      const firm = await firmThatIs(service, key, "authorized", {
        legal_name: "Leaving",
        phone: "9820012345",
        bank: bank("Leaving"),
      });
      const path = `/v1/firms/${firm.firm_id}`;
      const scopes = { name: "sub", kind: "sub_account", scopes: ["firms"], firm_id: firm.firm_id };
      const sub = (await post("/v1/keys", scopes, 201)).body;
      const gone = (await post(`${path}/offboard`, {}, 200)).body;
      assert.equal(gone.connection_state, "offboarded");
      assert.deepEqual(gone.allowed_actions, []);
      assert.equal(gone.email, "a***@***");
      assert.equal(gone.phone, "XXXXXX45");
      assert.deepEqual(gone.bank, {
        account_no_masked: "XXXXXX5678",
        ifsc: "HDFC0000001",
        name: "***",
      });
      assert.equal(gone.mandate.signatory_name, "***");
      const desk = (await get("/v1/whoami")).body.desk_id;
      assert.equal((await findFirm(service.ctx.db, desk, firm.firm_id))?.bank_sealed, null);
      assert.equal((await get(path, sub.api_key)).status, 401);
      assert.equal((await get(`/v1/keys/${sub.key_id}`)).body.status, "revoked");
      assert.deepEqual((await listFirmEvents(sub.key_id)).at(-1), [
        "key.revoked",
        "active",
        "revoked",
      ]);
      assert.deepEqual((await post(`${path}/offboard`, {}, 200)).body, gone);
      assert.equal((await post("/v1/keys", scopes, 409)).body.detail.reason, "firm_offboarded");
      assert.equal((await patch(firm.firm_id, { email: "x@y.example" })).status, 409);
      await post("/v1/firms", firmBody({ iec: firm.iec, pan: firm.pan }), 201);
    },
  );

  await t.test("open business blocks offboarding and is named, or is waited for", async () => {
    const firm = await firmThatIs(service, key, "authorized");
    const path = `/v1/firms/${firm.firm_id}`;
    business.push({ type: "order", id: firm.firm_id, href: "/v1/orders/x" });
    const blocked = await post(`${path}/offboard`, {}, 409);
    assert.equal(blocked.body.detail.reason, "open_business");
    assert.deepEqual(blocked.body.detail.blockers, business);
    assert.equal((await post(`${path}/offboard`, { mode: "now" })).status, 400);
    const draining = (await post(`${path}/offboard`, { mode: "drain" }, 200)).body;
    assert.equal(draining.connection_state, "offboarding");
    assert.deepEqual(draining.allowed_actions, []);
    await service.work();
    assert.equal((await get(path)).body.connection_state, "offboarding");
    business.length = 0;
    await service.work();
    assert.equal((await get(path)).body.connection_state, "offboarded");
    assert.deepEqual((await listFirmEvents(firm.firm_id)).at(-1), [
      "firm.offboarded",
      "offboarding",
      "offboarded",
    ]);
  });

  await t.test(
    "a desk's own firm is read like any other, and cannot be renamed or closed by its key",
    async () => {
      const desk = await service.issue();
      const path = `/v1/firms/${desk.firm_id}`;
      const own = (await get(path, desk.api_key)).body;
      assert.equal(own.connection_state, "authorized");
      const renamed = await service.send("PATCH", path, {
        key: desk.api_key,
        body: { legal_name: "Other Desk" },
      });
      assert.equal(renamed.status, 403);
      assert.equal((await post(`${path}/offboard`, {}, 403, desk.api_key)).status, 403);
    },
  );

  await t.test("an account number is stored sealed, and opens for its own firm only", async () => {
    const number = "91827364554637281";
    const firm = await firmThatIs(service, key, "authorized", {
      legal_name: "Sealed",
      bank: bank("Sealed", number),
    });
    const desk = (await get("/v1/whoami")).body.desk_id;
    const row = await findFirm(service.ctx.db, desk, firm.firm_id);
    assert.ok(row);
    assert.equal(openAccountNo(row, service.ctx.sealKey), number);
    assert.throws(() => openAccountNo({ ...row, firm_id: nobody }, service.ctx.sealKey));
    for (const table of ["firms", "events", "audit_records", "questions", "idempotency_keys"]) {
      const { rows } = await askJournal(
        service.ctx.db.pool,
        `select count(*)::int as found from ${table} as t where t::text like $1`,
        [`%${number.slice(0, 12)}%`],
      );
      assert.equal(rows[0].found, 0, table);
    }
  });

  await t.test("every change has an audit record with actor, action and digests", async () => {
    const headers = { "x-request-id": "audit-me" };
    const body = firmBody();
    const made = await service.send("POST", "/v1/firms", { key, body, headers, expect: 201 });
    const path = `/v1/firms/${made.body.firm_id}/verify`;
    await service.send("POST", path, { key, body: {}, headers, expect: 200 });
    await settle();
    const { key_id } = (await get("/v1/whoami")).body;
    const { rows } = await askJournal<Record<string, string | null>>(
      service.ctx.db.pool,
      `select action, actor_kind, actor_id, request_id
      from audit_records
      where entity_id = $1
      order by entity_version`,
      [made.body.firm_id],
    );
    assert.deepEqual(
      rows.map((row) => [row["action"], row["actor_kind"], row["actor_id"], row["request_id"]]),
      [
        ["firm.register", "key", key_id, "audit-me"],
        ["firm.verify", "key", key_id, "audit-me"],
        ["firm.confirm", "worker", "simulation", null],
      ],
    );
  });

  await t.test("issuing, minting, re-issuing and revoking keys is audited", async () => {
    const { api_key, key_id } = await service.issue();
    const minted = await post(
      "/v1/keys",
      { name: "a", kind: "app", scopes: ["firms"] },
      201,
      api_key,
    );
    const child = minted.body.key_id;
    await post(`/v1/keys/${child}/reissue`, undefined, 200, api_key);
    await service.send("DELETE", `/v1/keys/${child}`, { key: api_key, expect: 200 });
    await service.send("DELETE", `/v1/keys/${child}`, { key: api_key, expect: 200 });
    const { body } = await get("/v1/events", api_key);
    assert.deepEqual(
      body.events.map((e: { event: string; entity: { id: string } }) => [e.event, e.entity.id]),
      [
        ["key.created", key_id],
        ["key.created", child],
        ["key.updated", child],
        ["key.revoked", child],
      ],
    );
    assert.doesNotMatch(JSON.stringify(body), /service_test_[0-9a-z]{26}/);
    const { rows } = await askJournal<{ action: string; actor_kind: string }>(
      service.ctx.db.pool,
      `select action, actor_kind
      from audit_records
      where entity_id = any($1::text[])
      order by action`,
      [[key_id, child]],
    );
    assert.deepEqual(
      rows.map(({ action, actor_kind }) => `${action} by ${actor_kind}`),
      ["key.issue by operator", "key.mint by key", "key.reissue by key", "key.revoke by key"],
    );
  });

  await t.test("during an outage questions wait, and the firm shows since when", async () => {
    const target = { environment: "sandbox", port: "registry" } as const;
    const firm = await firmThatIs(service, key, "verifying", { bank: bank("Other") });
    const path = `/v1/firms/${firm.firm_id}`;
    await setOutage(service.ctx, target, "portal is down");
    await settle();
    const { body } = await get(`${path}/connection`);
    assert.equal(body.connection_state, "verifying");
    assert.equal(body.ports[0].state, "outage");
    assert.ok(body.ports[0].since);
    await setOutage(service.ctx, target, undefined);
    await service.work();
    assert.equal((await get(path)).body.connection_state, "action_required");
  });

  await t.test(
    "firms verified in one set get one event each, with no gap in the sequence",
    async () => {
      const desk = await service.issue();
      const as = desk.api_key;
      const firms = await Promise.all(
        Array.from(
          { length: 30 },
          async () => (await post("/v1/firms", firmBody({ bank: bank("x") }), 201, as)).body,
        ),
      );
      await Promise.all(
        firms.map(async ({ firm_id }) => await post(`/v1/firms/${firm_id}/verify`, {}, 200, as)),
      );
      await settle();
      const { body } = await get("/v1/events", as);
      const sequences = body.events.map((e: { sequence: number }) => e.sequence);
      assert.deepEqual(
        sequences,
        sequences.map((_: number, index: number) => index + 1),
      );
      const told = body.events.filter((e: { event: string }) => e.event === "firm.action_required");
      assert.equal(told.length, 30);
    },
  );

  await t.test(
    "concurrent changes and answers of a firm lock in one order and lose nothing",
    async () => {
      const firms = await Promise.all(
        Array.from({ length: 12 }, async () => await firmThatIs(service, key, "registered")),
      );
      await Promise.all(
        firms.map(async ({ firm_id }) => await post(`/v1/firms/${firm_id}/verify`, {}, 200)),
      );
      for (let round = 0; round < 4; round++) {
        service.clock.advance({ seconds: 1 });
        const changes = firms.map(async ({ firm_id, legal_name }, index) => {
          const account = `50200${round}${String(index).padStart(6, "0")}`;
          const change =
            index % 2 === 0
              ? { legal_name: `Renamed ${round} ${index}` }
              : { bank: bank(legal_name, account) };
          await patch(firm_id, change, 200);
        });
        await Promise.all([service.work(), ...changes, service.work(), service.work()]);
      }
      await settle();
      for (const { firm_id } of firms) {
        const { body } = await get(`/v1/firms/${firm_id}`);
        assert.equal(body.connection_state, "verified");
        assert.ok(body.checks.every((check: { outcome: string }) => check.outcome === "pass"));
      }
    },
  );

  await t.test(
    "a live firm waits for the operator, who attests each answer with a reference",
    async () => {
      const live = (
        await service.issue({ environment: "live", plan: "desk", firmName: "Live Desk" })
      ).api_key;
      const firm = await post(
        "/v1/firms",
        firmBody({ gstin: undefined, bank: bank("Live") }),
        201,
        live,
      );
      const path = `/v1/firms/${firm.body.firm_id}`;
      await post(`${path}/verify`, {}, 200, live);
      service.clock.advance({ days: 3 });
      await service.work();
      assert.equal((await get(path, live)).body.connection_state, "verifying");
      const questions = await readOpenQuestions(service.ctx, { environment: "live", port: null });
      assert.deepEqual(questions.map(({ kind }) => kind).toSorted(), [
        "bank_account",
        "firm_identity",
      ]);
      for (const question of questions) {
        const checks =
          question.kind === "bank_account"
            ? (["BANK_NAME_MATCH"] as const)
            : (["IEC_ACTIVE", "PAN_MATCH", "FLAGGED_IEC"] as const);
        const answer = {
          checks: checks.map((check) => ({ check, outcome: "pass" as const, cure: null })),
        };
        const attestation = { questionId: question.question_id, answer, reference: "TICKET-7" };
        await attestQuestions(service.ctx, operator, [attestation], appliers);
      }
      assert.equal((await get(path, live)).body.connection_state, "verified");
      const [row] = await service.ctx.db.rows<{ answered_by: string; reference: string }>(sql`
      select answered_by, reference
      from questions
      where subject_id = ${firm.body.firm_id}`);
      assert.deepEqual(row, { answered_by: "cli", reference: "TICKET-7" });
    },
  );

  await t.test(
    "a live desk without identifiers cannot be verified before it has them",
    async () => {
      const desk = await service.issue({
        environment: "live",
        plan: "desk",
        firmName: "Bare Desk",
      });
      const path = `/v1/firms/${desk.firm_id}`;
      const answer = await post(`${path}/verify`, {}, 409, desk.api_key);
      assert.deepEqual(answer.body.detail.missing, ["iec", "pan"]);
      const pan = makeSyntheticPan("bare desk");
      await service.send("PATCH", path, {
        key: desk.api_key,
        body: { iec: pan, pan },
        expect: 200,
      });
      await post(`${path}/verify`, {}, 200, desk.api_key);
    },
  );

  await t.test("the state table of firms is published", async () => {
    const { body } = await get("/v1/meta/states");
    const firms = body.lifecycles.find(({ noun }: { noun: string }) => noun === "firm");
    assert.equal(firms.states.length, 9);
    assert.deepEqual(firms.initial, ["registered"]);
  });
});
