import assert from "node:assert/strict";
import { test } from "node:test";

import pg from "pg";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { seedCredits } from "../../src/credits/seed-credits.ts";
import { attestQuestions } from "../../src/outside/answer-questions.ts";
import { readOpenQuestions, setOutage } from "../../src/outside/ask.ts";
import type { Actor } from "../../src/kernel/actor.ts";
import { appliers } from "../../src/workers.ts";
import { clientFirm } from "../support/firms.ts";
import { dealer } from "../support/orders.ts";
import { readSlug, type Service, startService } from "../support/service.ts";

// Answers have every shape; what a test expects is what it asserts.
type Any = Awaited<ReturnType<Service["send"]>>["body"];

const operator: Actor = { kind: "operator", id: "test", requestId: null };

/** The test clock says 15 November 2026. */
const credit = {
  scrip_no: "SCRIP0000001",
  scheme: "RODTEP",
  face_paise: 12_345_600,
  port_code: "INNSA1",
  issued_on: "2026-10-01",
  expires_on: "2028-09-30",
};

type Told = { event: string; from: string; to: string; data: Any };

async function desk(service: Service, environment: "sandbox" | "live" = "sandbox") {
  const { api_key: key, firm_id: deskId } = await service.issue(
    environment === "live"
      ? { environment, iec: "AAACA1234A", pan: "AAACA1234A" }
      : { environment },
  );
  const { firmId, iec } = await clientFirm(service, deskId, { environment });
  const send = async (method: string, path: string, expect: number, body?: unknown) =>
    await service.send(method, path, { key, body, expect });
  return {
    key,
    deskId,
    firmId,
    iec,
    send,
    declare: async (...credits: object[]) =>
      (await send("POST", `/v1/firms/${firmId}/credits`, 200, { credits })).body,
    read: async (scripNo: string) =>
      (await send("GET", `/v1/credits/${encodeURIComponent(scripNo)}`, 200)).body,
    import: async (csv: string) =>
      (await send("POST", `/v1/firms/${firmId}/credits:import`, 200, { csv })).body,
    events: async () => {
      const { events } = (await send("GET", "/v1/events", 200)).body as { events: Told[] };
      return events
        .filter(({ event }) => event.startsWith("credit."))
        .map(({ event, from, to, data }) => ({ event, from, to, data }));
    },
  };
}

test("a credit declared in the sandbox is listed at once, sellable, and announced by an event", async (t) => {
  const service = await startService(t);
  const { declare, read, events, firmId } = await desk(service);
  const answer = await declare(credit);
  assert.deepEqual(
    { accepted: answer.accepted, failed: answer.failed },
    { accepted: 1, failed: 0 },
  );
  const [result] = answer.results;
  assert.deepEqual(
    { index: result.index, ok: result.ok, status: result.status, error: result.error },
    { index: 0, ok: true, status: 201, error: null },
  );
  const shown = await read(credit.scrip_no);
  assert.deepEqual(shown, result.credit);
  const { credit_id, ...facts } = shown;
  assert.match(credit_id, /^crd_/);
  assert.deepEqual(facts, {
    ...credit,
    firm_id: firmId,
    issued_paise: 12_345_600,
    days_left: 685,
    status: "listed",
    sellable: true,
    not_sellable_reason: null,
    uses: [],
    used_elsewhere_paise: 0,
    balance_shown_on: "2026-11-15",
    as_of: "2026-11-15T14:45:00.000+05:30",
    version: 1,
    allowed_actions: ["withdraw", "use"],
  });
  const told = await events();
  assert.deepEqual(
    told.map(({ event, from, to }: { event: string; from: string; to: string }) => [
      event,
      from,
      to,
    ]),
    [["credit.listed", "declared", "listed"]],
  );
});

test("every item of a batch is answered as it would be alone", async (t) => {
  const service = await startService(t);
  const { declare } = await desk(service);
  const other = await desk(service);
  await other.declare({ ...credit, scrip_no: "HELDELSEWHERE" });
  await declare({ ...credit, scrip_no: "KNOWN-1" });
  const items: [object | string, number, string | undefined][] = [
    [{ ...credit, scrip_no: "NEW-0001" }, 201, undefined],
    [{ ...credit, scrip_no: " new-0001 " }, 200, undefined],
    [{ ...credit, scrip_no: "NEW-0001", face_paise: 5 }, 409, "facts_differ"],
    [{ ...credit, scrip_no: "KNOWN-1" }, 200, undefined],
    [{ ...credit, scrip_no: "KNOWN-1", expires_on: "2028-10-01" }, 409, "facts_differ"],
    [{ ...credit, scrip_no: "HELDELSEWHERE" }, 409, "held_elsewhere"],
    [{ ...credit, scheme: "MEIS" }, 400, undefined],
    [{ ...credit, colour: "red" }, 400, undefined],
    [{ ...credit, scrip_no: "short" }, 422, undefined],
    [{ ...credit, face_paise: 0 }, 422, undefined],
    [{ ...credit, face_paise: 1.5 }, 422, undefined],
    [{ ...credit, face_paise: "100" }, 422, undefined],
    [{ ...credit, face_paise: 2 ** 53 }, 422, undefined],
    [{ ...credit, issued_paise: 100 }, 422, undefined],
    [{ ...credit, issued_on: "2026-11-16" }, 422, undefined],
    [{ ...credit, issued_on: "2026-02-30" }, 422, undefined],
    [{ ...credit, expires_on: "2026-11-14" }, 422, undefined],
    [{ ...credit, expires_on: "99999-01-01" }, 422, undefined],
    [{ ...credit, port_code: "XXNSA1" }, 422, undefined],
    [{ ...credit, scrip_no: undefined }, 422, undefined],
    ["no object", 422, undefined],
  ];
  const answer = await declare(...(items.map(([item]) => item) as object[]));
  answer.results.forEach((result: Any, index: number) => {
    const [item, status, reason] = items[index]!;
    assert.equal(result.status, status, JSON.stringify([item, result]));
    assert.equal(result.ok, status < 400);
    assert.equal(result.index, index);
    assert.equal(result.error?.detail?.reason, reason);
    if (!result.ok) {
      assert.equal(result.error.error, "request_error");
      assert.equal(
        result.error.code,
        { 400: "bad_request", 409: "conflict", 422: "unprocessable" }[status as 400],
      );
      assert.equal(result.credit, undefined);
    }
  });
  assert.equal(answer.accepted, 3);
  assert.equal(answer.failed, items.length - 3);
});

test("a batch over its limit, an empty one and an unknown field are refused whole", async (t) => {
  const service = await startService(t);
  const { send, firmId } = await desk(service);
  const path = `/v1/firms/${firmId}/credits`;
  const credits = Array.from({ length: 501 }, (_, n) => ({ ...credit, scrip_no: `SCRIP-${n}0` }));
  const over = await send("POST", path, 400, { credits });
  assert.equal(readSlug(over), "bad_request");
  assert.equal(over.body.error, "request_error");
  assert.equal(readSlug(await send("POST", path, 422, { credits: [] })), "unprocessable");
  assert.equal(readSlug(await send("POST", path, 422, {})), "unprocessable");
  assert.equal(readSlug(await send("POST", path, 422, { credits: "x" })), "unprocessable");
  assert.equal(readSlug(await send("POST", path, 400, { credits: [credit], x: 1 })), "bad_request");
  assert.deepEqual((await send("GET", path, 200)).body, { credits: [] });
  assert.equal(
    (await send("POST", path, 200, { credits: credits.slice(0, 500) })).body.accepted,
    500,
  );
});

test("five hundred credits take a fixed number of statements", async (t) => {
  const service = await startService(t);
  const { declare } = await desk(service);
  await declare(credit);
  const bind = t.mock.method(pg.Connection.prototype, "bind");
  await declare(...Array.from({ length: 500 }, (_, n) => ({ ...credit, scrip_no: `BULK-${n}-X` })));
  const statements = bind.mock.callCount();
  bind.mock.restore();
  assert.ok(statements > 0 && statements <= 14, `${statements} statements`);
});

test("a number held by another desk or by a sibling firm gets the same refusal", async (t) => {
  const service = await startService(t);
  const holder = await desk(service);
  await holder.declare(credit);
  const stranger = await desk(service);
  const sibling = await clientFirm(service, holder.deskId);
  const foreign = (await stranger.declare(credit)).results[0];
  const near = (
    await holder.send("POST", `/v1/firms/${sibling.firmId}/credits`, 200, { credits: [credit] })
  ).body.results[0];
  assert.equal(foreign.status, 409);
  assert.deepEqual(near, foreign);
});

test("a foreign firm or credit is answered like one that does not exist", async (t) => {
  const service = await startService(t);
  const holder = await desk(service);
  await holder.declare(credit);
  const stranger = await desk(service);
  const absent = "frm_0000000000000000000000000z";
  const calls: [string, (id: { firm: string; scrip: string }) => string, unknown?][] = [
    ["GET", ({ firm }) => `/v1/firms/${firm}/credits`],
    ["POST", ({ firm }) => `/v1/firms/${firm}/credits`, { credits: [credit] }],
    ["POST", ({ firm }) => `/v1/firms/${firm}/credits:import`, { csv: "a,b\n1,2\n" }],
    ["POST", ({ firm }) => `/v1/firms/${firm}/credits:sync`],
    ["GET", ({ scrip }) => `/v1/credits/${scrip}`],
    ["POST", ({ scrip }) => `/v1/credits/${scrip}/withdraw`],
    ["POST", ({ scrip }) => `/v1/credits/${scrip}/use`],
  ];
  for (const [method, path, body] of calls) {
    const foreign = { firm: holder.firmId, scrip: credit.scrip_no };
    const a = await stranger.send(method, path(foreign), 404, body);
    const b = await stranger.send(method, path({ firm: absent, scrip: "ABSENT-1" }), 404, body);
    assert.equal(a.text, b.text);
  }
  assert.equal((await holder.read(credit.scrip_no)).status, "listed");
});

test("a key bound to one firm sees that firm's credits only", async (t) => {
  const service = await startService(t);
  const holder = await desk(service);
  await holder.declare(credit);
  const sibling = await clientFirm(service, holder.deskId);
  const minted = await holder.send("POST", "/v1/keys", 201, {
    name: "sub",
    kind: "sub_account",
    scopes: ["firms"],
    firm_id: sibling.firmId,
  });
  const key = minted.body.api_key;
  await service.send("GET", `/v1/firms/${holder.firmId}/credits`, { key, expect: 404 });
  await service.send("GET", `/v1/credits/${credit.scrip_no}`, { key, expect: 404 });
  await service.send("POST", `/v1/credits/${credit.scrip_no}/use`, { key, expect: 404 });
  await service.send("GET", `/v1/firms/${sibling.firmId}/credits`, { key, expect: 200 });
});

test("a number with a slash is read percent-encoded", async (t) => {
  const service = await startService(t);
  const { declare, read, send } = await desk(service);
  await declare({ ...credit, scrip_no: "0123/RODTEP/4567" });
  assert.equal((await read("0123/RODTEP/4567")).scrip_no, "0123/RODTEP/4567");
  assert.equal((await read("0123/rodtep/4567")).scrip_no, "0123/RODTEP/4567");
  await send("POST", "/v1/credits/0123%2FRODTEP%2F4567/withdraw", 200);
  await send("GET", "/v1/credits/%zz", 404);
  await send("GET", `/v1/credits/${"A".repeat(3000)}`, 404);
});

test("a withdrawn credit may be declared again, a used one not", async (t) => {
  const service = await startService(t);
  const { declare, send, read } = await desk(service);
  await declare(credit);
  const path = `/v1/credits/${credit.scrip_no}`;
  assert.equal((await send("POST", `${path}/withdraw`, 200)).body.status, "withdrawn");
  assert.equal((await send("POST", `${path}/withdraw`, 200)).body.version, 2);
  const told = (await send("GET", "/v1/events", 200)).body.events.at(-1);
  assert.deepEqual([told.event, told.from, told.to], ["credit.withdrawn", "listed", "withdrawn"]);
  assert.equal(told.data.scrip_no, credit.scrip_no);
  const refused = await send("POST", `${path}/use`, 409);
  assert.deepEqual(refused.body.detail, {
    reason: "wrong_state",
    state: "withdrawn",
    allowed_actions: [],
  });
  service.clock.advance({ seconds: 1 });
  assert.equal((await declare({ ...credit, face_paise: 100 })).results[0].status, 201);
  assert.equal((await read(credit.scrip_no)).status, "listed");
  assert.equal((await send("POST", `${path}/use`, 200)).body.not_sellable_reason, "used");
  const again = (await declare(credit)).results[0];
  assert.deepEqual(again.error.detail, { reason: "ended", state: "used" });
});

test("a dry run answers like the call and keeps nothing", async (t) => {
  const service = await startService(t);
  const { key, firmId, declare, send, events } = await desk(service);
  const headers = { "x-dry-run": "1" };
  const path = `/v1/firms/${firmId}/credits`;
  const tried = await service.send("POST", path, { key, headers, body: { credits: [credit] } });
  assert.equal(tried.body.results[0].status, 201);
  assert.deepEqual((await send("GET", path, 200)).body, { credits: [] });
  await declare(credit);
  const tryWithdraw = `/v1/credits/${credit.scrip_no}/withdraw`;
  await service.send("POST", tryWithdraw, { key, headers, expect: 200 });
  assert.equal((await send("GET", path, 200)).body.credits[0].status, "listed");
  assert.equal((await events()).length, 1);
});

test("an idempotency key replays a declaration, even when a credit was withdrawn since", async (t) => {
  const service = await startService(t);
  const { key, firmId, send } = await desk(service);
  const path = `/v1/firms/${firmId}/credits`;
  const post = async (credits: object[]) =>
    await service.send("POST", path, {
      key,
      headers: { "idempotency-key": "k1" },
      body: { credits },
    });
  assert.equal((await post([credit])).body.results[0].status, 201);
  await send("POST", `/v1/credits/${credit.scrip_no}/withdraw`, 200);
  const replay = await post([credit]);
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  assert.equal(replay.body.results[0].credit.status, "withdrawn");
  const reuse = await post([{ ...credit, face_paise: 1 }]);
  assert.equal(reuse.status, 409);
  assert.equal(reuse.body.detail.reason, "idempotency_key_reused");
});

test("a list is filtered, paged newest first, and its cursor is bound to its filters", async (t) => {
  const service = await startService(t);
  const { declare, send, firmId } = await desk(service);
  for (let n = 0; n < 5; n++) {
    service.clock.advance({ seconds: 1 });
    await declare(
      { ...credit, scrip_no: `PAGE-${n}-A` },
      { ...credit, scrip_no: `PAGE-${n}-B`, scheme: "ROSCTL", expires_on: `2027-01-0${n + 1}` },
    );
  }
  await send("POST", "/v1/credits/PAGE-0-A/withdraw", 200);
  const path = `/v1/firms/${firmId}/credits`;
  const numbers = async (query: string) =>
    (await send("GET", `${path}${query}`, 200)).body.credits.map(
      ({ scrip_no }: { scrip_no: string }) => scrip_no,
    );
  assert.equal((await numbers("")).length, 10);
  assert.deepEqual(await numbers("?status=withdrawn"), ["PAGE-0-A"]);
  assert.equal((await numbers("?scheme=ROSCTL")).length, 5);
  assert.deepEqual(await numbers("?expiring_before=2027-01-03"), ["PAGE-1-B", "PAGE-0-B"]);
  const seen: string[] = [];
  let cursor = "";
  for (let page = 0; page < 4; page++) {
    const { body } = await send("GET", `${path}?limit=3${cursor}`, 200);
    assert.equal(body.total, 10);
    seen.push(...body.credits.map(({ scrip_no }: { scrip_no: string }) => scrip_no));
    assert.equal(body.has_more, page < 3);
    cursor = `&cursor=${body.next_cursor}`;
    if (page === 0) await send("GET", `${path}?scheme=RODTEP&limit=3${cursor}`, 400);
  }
  assert.deepEqual(seen.toSorted(), (await numbers("")).toSorted());
  await send("GET", `${path}?scheme=MEIS`, 400);
  await send("GET", `${path}?status=gone`, 400);
  await send("GET", `${path}?expiring_before=2027-02-30`, 422);
  await send("GET", `${path}?expiring_before=soon`, 422);
});

test("a credit that cannot be sold shows the reason", async (t) => {
  const service = await startService(t);
  const { deskId, declare, send, read } = await desk(service);
  await declare(
    { ...credit, scrip_no: "LASTDAY-29", expires_on: "2026-12-14" },
    { ...credit, scrip_no: "LASTDAY-30", expires_on: "2026-12-15" },
    { ...credit, scrip_no: "UNKNOWN-0404" },
  );
  const reason = async (scripNo: string) => (await read(scripNo)).not_sellable_reason;
  assert.equal(await reason("LASTDAY-29"), "too_short");
  assert.equal(await reason("LASTDAY-30"), null);
  assert.equal(await reason("UNKNOWN-0404"), "rejected");
  const registered = await clientFirm(service, deskId, { state: "registered" });
  await send("POST", `/v1/firms/${registered.firmId}/credits`, 200, { credits: [credit] });
  assert.equal(await reason(credit.scrip_no), "firm_not_authorized");
  const gone = await clientFirm(service, deskId, { state: "offboarded" });
  const refused = await send("POST", `/v1/firms/${gone.firmId}/credits`, 409, {
    credits: [{ ...credit, scrip_no: "OTHER-1" }],
  });
  assert.equal(refused.body.detail.reason, "firm_offboarded");
});

test("a credit whose facts the registry does not confirm is rejected", async (t) => {
  const { declare, read } = await desk(await startService(t));
  await declare(
    { ...credit, scrip_no: "SCHEME-A-0405", scheme: "RODTEP" },
    { ...credit, scrip_no: "SCHEME-B-0405", scheme: "ROSCTL" },
    { ...credit, scrip_no: "EXPIRY-A-0406", expires_on: "2028-01-01" },
    { ...credit, scrip_no: "EXPIRY-B-0406", expires_on: "2027-12-31" },
  );
  const status = async (scripNo: string) => (await read(scripNo)).status;
  assert.equal(await status("SCHEME-A-0405"), "rejected");
  assert.equal(await status("SCHEME-B-0405"), "listed");
  assert.equal(await status("EXPIRY-A-0406"), "rejected");
  assert.equal(await status("EXPIRY-B-0406"), "listed");
});

test("in live a claim waits for the registry, and of two claims the confirmed one wins", async (t) => {
  const service = await startService(t);
  const first = await desk(service, "live");
  const second = await desk(service, "live");
  for (const { declare } of [first, second]) {
    const [result] = (await declare(credit, { ...credit, scrip_no: "NOT-HELD-1" })).results;
    assert.equal(result.status, 201);
    assert.equal(result.credit.status, "declared");
    assert.equal(result.credit.sellable, false);
  }
  const open = await readOpenQuestions(service.ctx, { environment: "live", port: "registry" });
  assert.equal(open.length, 4);
  const about = (number: string, deskId: string) => {
    const found = open.find(
      (question) =>
        question.kind === "credit_holding" &&
        question.facts.scrip_no === number &&
        question.desk_id === deskId,
    );
    assert.ok(found);
    return found.question_id;
  };
  const { scrip_no, scheme, face_paise, expires_on } = credit;
  for (const { facts } of open) {
    const number = (facts as { scrip_no: string }).scrip_no;
    if (number !== scrip_no) continue;
    const { iec: _, ...asked } = facts as { iec: string };
    assert.deepEqual(asked, { scrip_no, scheme, face_paise, expires_on }, "all that sets a price");
  }
  const reference = "ticket 1";
  await attestQuestions(
    service.ctx,
    operator,
    [
      {
        questionId: about(credit.scrip_no, second.deskId),
        answer: { held: true, reason: null },
        reference,
      },
      {
        questionId: about("NOT-HELD-1", first.deskId),
        answer: { held: false, reason: "not_held" },
        reference,
      },
    ],
    appliers,
  );
  assert.equal((await second.read(credit.scrip_no)).status, "listed");
  assert.equal((await first.read(credit.scrip_no)).status, "rejected");
  assert.equal((await first.read("NOT-HELD-1")).status, "rejected");
  assert.equal((await second.read("NOT-HELD-1")).status, "declared");
  const left = await readOpenQuestions(service.ctx, { environment: "live", port: "registry" });
  assert.deepEqual(
    left.map(({ desk_id }) => desk_id),
    [second.deskId],
  );
  assert.equal((await first.declare(credit)).results[0].error.detail.reason, "held_elsewhere");
  assert.equal((await second.events()).length, 1);
  assert.equal((await first.events()).length, 0);
});

test("during an outage of the simulated registry a claim waits, and is confirmed afterwards", async (t) => {
  const service = await startService(t);
  const { declare, read, send, firmId } = await desk(service);
  const rival = await desk(service);
  const registry = { environment: "sandbox", port: "registry" } as const;
  await setOutage(service.ctx, registry, "maintenance");
  assert.equal((await declare(credit)).results[0].credit.status, "declared");
  assert.equal((await rival.declare(credit)).results[0].credit.status, "declared");
  const sync = await send("POST", `/v1/firms/${firmId}/credits:sync`, 409);
  assert.equal(sync.body.detail.reason, "registry_outage");
  service.clock.advance({ seconds: 2 });
  await service.work();
  assert.equal((await read(credit.scrip_no)).status, "declared");
  await setOutage(service.ctx, registry, undefined);
  await service.work();
  const states = new Set([
    (await read(credit.scrip_no)).status,
    (await rival.read(credit.scrip_no)).status,
  ]);
  assert.deepEqual(states, new Set(["listed", "rejected"]));
});

test("sync imports the credits of the simulated registry once, and is refused in live", async (t) => {
  const service = await startService(t);
  const { firmId, send } = await desk(service);
  const path = `/v1/firms/${firmId}/credits:sync`;
  const statuses = async () =>
    (await send("POST", path, 200)).body.results.map(({ status }: { status: number }) => status);
  assert.deepEqual(await statuses(), Array(6).fill(201));
  assert.deepEqual(await statuses(), Array(6).fill(200));
  service.clock.advance({ days: 31 });
  assert.deepEqual((await statuses()).toSorted(), [200, 200, 200, 200, 200, 201]);
  const live = await desk(service, "live");
  const refused = await live.send("POST", `/v1/firms/${live.firmId}/credits:sync`, 409);
  assert.equal(refused.body.detail.reason, "registry_attested_only");
});

test("customs suspends, lifts, cancels and reports use, also in a deal whose transfer has not begun", async (t) => {
  const service = await startService(t);
  const { declare, read, events } = await desk(service);
  const numbers = ["FREE-001", "DEAL-001", "SETTLE-1"];
  await declare(...numbers.map((scrip_no) => ({ ...credit, scrip_no })));
  const reserve = async (scripNo: string, state: string) =>
    await service.ctx.db.pool.query(
      "update credits set state = $2, reserved_for = 'ord_1' where scrip_no = $1",
      [scripNo, state],
    );
  await reserve("DEAL-001", "reserved");
  await reserve("SETTLE-1", "in_settlement");
  const tell = async (news: "suspend" | "lift" | "cancel" | "use", ...scripNos: string[]) =>
    await applyRegistryNews(service.ctx, operator, {
      environment: "sandbox",
      news: scripNos.map((scripNo) => ({ scripNo, news, reason: "notice 7" })),
      onLost: [],
    });
  const states = async () =>
    await Promise.all(numbers.map(async (scripNo) => (await read(scripNo)).status));

  const told = await tell("suspend", ...numbers, "ABSENT-1", "FREE-001");
  assert.deepEqual(
    told.map(({ ok, reserved_for }) => [ok, reserved_for]),
    [
      [true, null],
      [true, "ord_1"],
      [false, null],
      [false, null],
      [false, null],
    ],
  );
  assert.deepEqual(await states(), ["suspended", "suspended", "in_settlement"]);
  assert.match(told[2]?.problem ?? "", /its transfer may be open at customs/);
  assert.equal((await tell("suspend", "FREE-001"))[0]?.ok, false);
  await tell("lift", ...numbers);
  assert.deepEqual(await states(), ["listed", "reserved", "in_settlement"]);
  await tell("cancel", "FREE-001", "SETTLE-1");
  await tell("use", "DEAL-001");
  assert.deepEqual(await states(), ["cancelled", "used", "in_settlement"]);
  const names = (await events()).map(({ event }: { event: string }) => event);
  assert.equal(names.filter((name: string) => name === "credit.suspended").length, 2);
  assert.equal(names.filter((name: string) => name === "credit.listed").length, 4);
});

test("a firm is warned once at each mark, and a credit expires after its last day, IST", async (t) => {
  const service = await startService(t);
  const { declare, read, events } = await desk(service);
  await declare(
    { ...credit, scrip_no: "EARLY-01", expires_on: "2027-02-14" },
    { ...credit, scrip_no: "LATE-001", expires_on: "2026-12-25" },
  );
  const told = async (scripNo: string) =>
    (await events())
      .filter(({ data }: Any) => data.scrip_no === scripNo)
      .map(({ event, data }: Any) => [event, data.warning_days, data.days_left])
      .slice(1);
  await service.work();
  assert.deepEqual(await told("LATE-001"), [["credit.expiring", 60, 40]]);
  assert.deepEqual(await told("EARLY-01"), []);
  for (let day = 0; day < 91; day++) {
    service.clock.advance({ days: 1 });
    await service.workOn(["expiry"]);
  }
  await service.work();
  assert.deepEqual(
    (await told("EARLY-01")).map(([, mark]: Any) => mark),
    [90, 60, 30, 14, 7],
  );
  assert.deepEqual((await told("EARLY-01")).at(-1), ["credit.expiring", 7, 7]);
  assert.deepEqual((await told("LATE-001")).at(-1), ["credit.expired", undefined, undefined]);
  assert.equal((await read("LATE-001")).status, "expired");
  service.clock.set(new Date("2027-02-14T23:59:59.999+05:30"));
  await service.work();
  assert.equal((await read("EARLY-01")).status, "listed");
  assert.equal((await read("EARLY-01")).days_left, 0);
  service.clock.set(new Date("2027-02-15T00:00:00+05:30"));
  assert.equal((await read("EARLY-01")).not_sellable_reason, "expired");
  await service.work();
  assert.equal((await read("EARLY-01")).status, "expired");
});

test("a report is imported row by row, twice without effect, and a fallen balance is followed", async (t) => {
  const service = await startService(t);
  const { iec, import: take, read } = await desk(service);
  const report = (balance: string) =>
    [
      "\uFEFFIEC,Scrip Number,Scheme Name,Port,Scrip Amount (Rs.),Balance Amount,Issue Date,Expiry Date",
      `${iec},CSV-0001,RoDTEP,INNSA1,"12,34,567.50","${balance}",01/10/2026,30/09/2028`,
      `${iec},CSV-0002,RoSCTL,,1000,,01-OCT-2026,2028-09-30`,
      "",
      `AAACZ9999Z,CSV-0003,RODTEP,INNSA1,1000,1000,01-10-2026,30-09-2028`,
      `${iec},1.23457E+11,RODTEP,INNSA1,1000,1000,01-10-2026,30-09-2028`,
      `${iec},CSV-0005,RODTEP,INNSA1,1000,1001,01-10-2026,30-09-2028`,
      `${iec},CSV-0006,RODTEP,INNSA1,10.005,,01-10-2026,30-09-2028`,
      `,Total,,,"12,99,567.50",,,`,
      "",
    ].join("\r\n");
  const statuses = ({ results }: Any) => results.map(({ row, status }: Any) => [row, status]);
  const first = await take(report("12,34,567.50"));
  assert.deepEqual(statuses(first), [
    [2, 201],
    [3, 201],
    [5, 422],
    [6, 422],
    [7, 422],
    [8, 422],
  ]);
  assert.deepEqual([first.accepted, first.failed, first.skipped], [2, 4, 2]);
  assert.equal((await read("CSV-0001")).face_paise, 123_456_750);
  assert.equal((await read("CSV-0002")).face_paise, 100_000);
  const again = await take(report("12,34,567.50"));
  assert.deepEqual(statuses(again).slice(0, 2), [
    [2, 200],
    [3, 200],
  ]);
  assert.equal((await read("CSV-0001")).version, 1);
  assert.equal(statuses(await take(report("10,00,000")))[0][1], 200);
  assert.equal((await read("CSV-0001")).face_paise, 100_000_000);
  assert.equal((await read("CSV-0001")).version, 2);
  assert.equal(statuses(await take(report("11,00,000")))[0][1], 409);
});

test("a report without its columns or over its limit is refused whole", async (t) => {
  const service = await startService(t);
  const { send, firmId } = await desk(service);
  const path = `/v1/firms/${firmId}/credits:import`;
  assert.equal(readSlug(await send("POST", path, 422, { csv: "a,b\n1,2" })), "unprocessable");
  assert.equal(readSlug(await send("POST", path, 422, { csv: "" })), "unprocessable");
  const heading = "scrip_no,scheme,balance,issued_on,expires_on\n";
  const rows = Array.from(
    { length: 5_001 },
    (_, n) => `S${100_000 + n},RODTEP,1,2026-10-01,2028-09-30`,
  );
  assert.equal(
    readSlug(await send("POST", path, 400, { csv: heading + rows.join("\n") })),
    "bad_request",
  );
  assert.deepEqual((await send("GET", `/v1/firms/${firmId}/credits`, 200)).body.credits, []);
  const all = await send("POST", path, 200, { csv: heading + rows.slice(1).join("\n") });
  assert.equal(all.body.accepted, 5_000);
});

test("the credits of an offboarded firm are withdrawn, except those in a deal", async (t) => {
  const service = await startService(t);
  const { declare, read, send, firmId } = await desk(service);
  await declare(credit, { ...credit, scrip_no: "DEAL-001" });
  await service.ctx.db.pool.query(
    "update credits set state = 'reserved', reserved_for = 'ord_1' where scrip_no = 'DEAL-001'",
  );
  await send("POST", `/v1/firms/${firmId}/offboard`, 200, {});
  assert.equal((await read(credit.scrip_no)).status, "withdrawn");
  assert.equal((await read("DEAL-001")).status, "reserved");
  const { events } = (await send("GET", "/v1/events", 200)).body;
  const told = events.filter(({ event }: { event: string }) => event === "credit.withdrawn");
  assert.deepEqual(
    told.map(({ data }: { data: Record<string, unknown> }) => [data["scrip_no"], data["reason"]]),
    [[credit.scrip_no, "firm_left"]],
  );
});

test("a seed makes the same data once, of the given shape", async (t) => {
  const service = await startService(t);
  const key = (await service.issue({ firmName: "Crowd" })).api_key;
  const command = { deskName: "Crowd", credits: 3_000, seed: "7" };
  const made = await seedCredits(service.ctx, command);
  assert.equal(made.credits, 3_000);
  const facts = async () =>
    (
      await service.ctx.db.pool.query(
        "select scrip_no, firm_id, scheme, face_paise, issued_on, state from credits order by scrip_no",
      )
    ).rows;
  const first = await facts();
  await seedCredits(service.ctx, command);
  assert.deepEqual(await facts(), first);
  assert.equal(first.length, 3_000);
  const share = (wanted: (row: Any) => boolean) => first.filter(wanted).length / first.length;
  assert.ok(share(({ issued_on }) => issued_on > "2026-05-19") > 0.65);
  assert.ok(share(({ state }) => state === "suspended") < 0.02);
  assert.ok(first.every(({ face_paise }) => face_paise % 100 === 0 && face_paise > 0));
  await service.work();
  const { firm_id: firmId } = first[0];
  const { body } = await service.send("GET", `/v1/firms/${firmId}/credits`, { key, expect: 200 });
  assert.ok(body.credits.length > 0);
  const events = await service.send("GET", "/v1/events", { key, expect: 200 });
  assert.deepEqual(
    events.body.events.map(({ event }: Any) => event),
    ["key.created"],
    "seeded credits are there from the start, so nothing happened to them",
  );
});

test("the state table of credits is published", async (t) => {
  const service = await startService(t);
  const { send } = await desk(service);
  const { lifecycles } = (await send("GET", "/v1/meta/states", 200)).body;
  assert.ok(lifecycles.some(({ noun }: { noun: string }) => noun === "credit"));
});

test("a credit is addressed by its credit_id as by its number, which may have slashes", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, [{ scripNo: "0123/RODTEP/4567" }, {}]);
  const credit = await desk.credit("0123%2FRODTEP%2F4567");
  assert.deepEqual(await desk.credit(credit.credit_id), credit);
  const used = await desk.post(`/v1/credits/${credit.credit_id}/use`, {}, 200);
  assert.equal(used.body.status, "used");
  const { credit_id } = await desk.credit(desk.scripNos[1] ?? "");
  const withdrawn = await desk.post(`/v1/credits/${credit_id}/withdraw`, {}, 200);
  assert.equal(withdrawn.body.status, "withdrawn");
  const stranger = await dealer(service);
  await stranger.post(`/v1/credits/${credit_id}/use`, {}, 404);
  const { key } = stranger;
  await service.send("GET", `/v1/credits/${credit_id}`, { key, expect: 404 });
});
