import assert from "node:assert/strict";
import { test } from "node:test";

import { houseFirmId } from "../../src/kernel/ids.ts";
import { priceCeil, priceFloor } from "../../src/kernel/money.ts";
import { closeEnquiry, listEnquiries, showEnquiry } from "../../src/market/answer-enquiries.ts";
import { operator } from "../../src/kernel/actor.ts";
import { openLiveMarket } from "../support/public.ts";
import { readSlug, type Service, startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const plenty = { perMinute: 1_000 };
const generous = { publicBudgets: { rates: plenty, enquiry: plenty } };

const sell = {
  scheme: "RODTEP",
  face_paise: 25_000_000,
  name: "  Asha   Rao ",
  email: "Asha@Acme.example",
  phone: "98200 12345",
  iec: "aagcb7383j",
  consent: true,
};
const { face_paise, ...others } = sell;
const buy = { ...others, requirement_paise: face_paise };
const contact = { name: "Asha Rao", email: "asha@acme.example", message: "Hello", consent: true };
const bodies = { sell, buy, contact } as const;

function estimatePath(query: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return `/public/enquiry/estimate?${pairs.join("&")}`;
}

test("an estimate is a range around the live card's prices, and says that it is not binding", async (t) => {
  const service = await startService(t, generous);
  await openLiveMarket(service);
  // ₹2.5 lakh: size band −45. Validity bands from 0 to −250, half-spread 40, a quarter percent more.
  const selling = await service.send(
    "GET",
    estimatePath({ side: "sell", scheme: "RODTEP", amount_paise: 25_000_001 }),
    { expect: 200 },
  );
  assert.match(selling.body.note, /not an offer/);
  const { note: _sellNote, ...range } = selling.body;
  assert.deepEqual(range, {
    side: "sell",
    scheme: "RODTEP",
    amount_paise: 25_000_001,
    environment: "live",
    low_bps: 9_490,
    high_bps: 9_790,
    low_paise: priceFloor(25_000_001, 9_490),
    high_paise: priceFloor(25_000_001, 9_790),
    binding: false,
    as_of: "2026-11-15T14:45:00.000+05:30",
  });
  const buying = await service.send(
    "GET",
    estimatePath({ side: "buy", scheme: "ROSCTL", amount_paise: 25_000_001 }),
    { expect: 200 },
  );
  const { note: _buyNote, ...cover } = buying.body;
  assert.deepEqual(cover, {
    side: "buy",
    scheme: "ROSCTL",
    amount_paise: 25_000_001,
    environment: "live",
    low_bps: 9_900,
    high_bps: 9_950,
    low_paise: priceCeil(25_000_001, 9_900),
    high_paise: priceCeil(25_000_001, 9_950),
    savings_low_paise: 25_000_001 - priceCeil(25_000_001, 9_950),
    savings_high_paise: 25_000_001 - priceCeil(25_000_001, 9_900),
    binding: false,
    as_of: "2026-11-15T14:45:00.000+05:30",
  });
});

test("without a price there is no estimate, and the reason is given", async (t) => {
  const service = await startService(t, generous);
  const ask = async (query: Record<string, string | number>) =>
    (await service.send("GET", estimatePath(query), { expect: 200 })).body;
  const small = { side: "sell", scheme: "RODTEP", amount_paise: 100 };
  for (const side of ["sell", "buy"]) {
    const { no_estimate, reason, binding, ...rest } = await ask({ ...small, side });
    assert.deepEqual([no_estimate, reason, binding], [true, "market_unavailable", false]);
    assert.equal("low_bps" in rest, false);
  }
  await openLiveMarket(service);
  assert.equal((await ask(small)).no_estimate, undefined);
  const huge = { ...small, amount_paise: Number.MAX_SAFE_INTEGER };
  assert.equal((await ask(huge)).reason, "size_unavailable");
  assert.equal((await ask({ ...huge, side: "buy" })).no_estimate, undefined);
  await openLiveMarket(service, "halted");
  assert.equal((await ask(small)).reason, "market_unavailable");
});

test("the day on which a credit expires narrows its estimate, and one that lapses too soon has none", async (t) => {
  const service = await startService(t, generous);
  await openLiveMarket(service);
  const asked = { side: "sell", scheme: "RODTEP", amount_paise: 25_000_001 };
  const ask = async (expires_on: string) =>
    (await service.send("GET", estimatePath({ ...asked, expires_on }), { expect: 200 })).body;
  // Size band −45 and half-spread 40 of 9850; from 60 days on −110, from 365 days on 0.
  const short = await ask("2027-01-14");
  assert.equal(short.days_left, 60);
  assert.deepEqual([short.low_bps, short.high_bps], [9_630, 9_680]);
  assert.equal(short.low_paise, priceFloor(25_000_001, 9_630));
  const long = await ask("2027-11-15");
  assert.deepEqual([long.low_bps, long.high_bps], [9_740, 9_790]);
  for (const day of ["2026-12-14", "2026-11-15", "2025-01-01"]) {
    const none = await ask(day);
    assert.deepEqual([none.no_estimate, none.reason], [true, "validity_unavailable"], day);
  }
});

test("before there is a live market an estimate is made by the sandbox's card, if asked so", async (t) => {
  const { send } = await startService(t, generous);
  const asked = { side: "sell", scheme: "RODTEP", amount_paise: 25_000_001 };
  const live = await send("GET", estimatePath(asked), { expect: 200 });
  assert.equal(live.body.reason, "market_unavailable");
  const sandbox = await send("GET", estimatePath({ ...asked, environment: "sandbox" }), {
    expect: 200,
  });
  assert.equal(sandbox.body.environment, "sandbox");
  assert.deepEqual([sandbox.body.low_bps, sandbox.body.high_bps], [9_490, 9_790]);
});

test("an estimate takes a known side, a known scheme and a positive amount, and ignores the rest", async (t) => {
  const { send } = await startService(t, generous);
  const good = { side: "sell", scheme: "RODTEP", amount_paise: "100" };
  const cases: [Record<string, string>, number, string][] = [
    [{ ...good, side: "hold" }, 400, "bad_request"],
    [{ ...good, scheme: "GOLD" }, 400, "bad_request"],
    [{ ...good, amount_paise: "0" }, 422, "validation_error"],
    [{ ...good, amount_paise: "1.5" }, 422, "validation_error"],
    [{ ...good, amount_paise: "9007199254740992" }, 422, "validation_error"],
    [{ side: "sell", scheme: "RODTEP" }, 422, "validation_error"],
    [{ scheme: "RODTEP", amount_paise: "100" }, 422, "validation_error"],
    [{ ...good, expires_on: "2027-02-30" }, 422, "validation_error"],
    [{ ...good, expires_on: "soon" }, 422, "validation_error"],
    [{ ...good, side: "buy", expires_on: "2027-02-28" }, 422, "validation_error"],
    [{ ...good, environment: "test" }, 400, "bad_request"],
  ];
  for (const [query, status, slug] of cases) {
    const answer = await send("GET", estimatePath(query), { expect: status });
    assert.equal(readSlug(answer), slug, JSON.stringify(query));
  }
  await send("GET", estimatePath({ ...good, utm: "1" }), { expect: 200 });
});

test("an enquiry is answered with a reference, which shows its status and nothing else", async (t) => {
  const { send } = await startService(t, generous);
  for (const [kind, body] of Object.entries(bodies)) {
    const created = await send("POST", `/public/enquiry/${kind}`, { body, expect: 201 });
    assert.match(created.body.enquiry_ref, /^enq_[0-9a-z]{26}$/);
    assert.deepEqual(created.body, {
      enquiry_ref: created.body.enquiry_ref,
      status: "received",
      created_at: "2026-11-15T14:45:00.000+05:30",
      updated_at: "2026-11-15T14:45:00.000+05:30",
      kept_until: "2027-05-14T14:45:00.000+05:30",
    });
    const path = `/public/enquiry/${created.body.enquiry_ref}`;
    const read = await send("GET", path, { expect: 200 });
    assert.deepEqual(read.body, created.body);
    assert.equal(read.headers.get("cache-control"), "no-store");
  }
  for (const ref of ["enq_00000000000000000000000000", "enq_", "%00", "x".repeat(500), "key_x"]) {
    const answer = await send("GET", `/public/enquiry/${ref}`, { expect: 404 });
    assert.equal(readSlug(answer), "not_found", ref);
  }
});

test("the same enquiry sent again while it is open is one enquiry", async (t) => {
  const service = await startService(t, generous);
  const { ctx, send } = service;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send("POST", "/public/enquiry/sell", { body: sell })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 7);
  const refs = new Set(answers.map(({ body }) => body.enquiry_ref));
  assert.equal(refs.size, 1);
  const [enquiryRef = ""] = refs;
  const spelt = { ...sell, name: "Asha Rao", email: "asha@acme.example", phone: "+919820012345" };
  await send("POST", "/public/enquiry/sell", { body: spelt, expect: 200 });
  const other = { ...sell, face_paise: 1 };
  await send("POST", "/public/enquiry/sell", { body: other, expect: 201 });
  await closeEnquiry(ctx, operator, { enquiryRef, outcome: "sold" });
  await send("POST", "/public/enquiry/sell", { body: sell, expect: 201 });
  const { rows } = await askJournal(
    ctx.db.pool,
    "select action, actor_kind from audit_records where entity_type = 'enquiry' order by at, record_id",
  );
  assert.equal(rows.filter(({ action }) => action === "enquiry.received").length, 3);
  assert.deepEqual(new Set(rows.map((row) => row.actor_kind)), new Set(["visitor", "operator"]));
});

test("a dry run is validated as the enquiry would be and stores nothing", async (t) => {
  const { ctx, send } = await startService(t, generous);
  const headers = { "x-dry-run": "1" };
  const tried = await send("POST", "/public/enquiry/sell", { body: sell, headers, expect: 200 });
  assert.equal(tried.headers.get("x-dry-run"), "1");
  await send("GET", `/public/enquiry/${tried.body.enquiry_ref}`, { expect: 404 });
  assert.deepEqual(await listEnquiries(ctx, { status: null, limit: 10 }), []);
  await send("POST", "/public/enquiry/sell", {
    body: { ...sell, email: "x" },
    headers,
    expect: 422,
  });
  await send("POST", "/public/enquiry/sell", {
    body: sell,
    headers: { "x-dry-run": "yes" },
    expect: 400,
  });
});

test("every missing or invalid field of an enquiry is named, and consent is required", async (t) => {
  const { send } = await startService(t, generous);
  const refuse = async (
    kind: keyof typeof bodies,
    change: Record<string, unknown>,
    [status, at]: [number, string],
  ) => {
    const body = Object.fromEntries(
      Object.entries({ ...bodies[kind], ...change }).filter(([, value]) => value !== undefined),
    );
    const answer = await send("POST", `/public/enquiry/${kind}`, { body, expect: status });
    assert.equal(readSlug(answer), status === 400 ? "bad_request" : "unprocessable");
    const where = status === 400 ? answer.body.detail.field : answer.body.detail.fields[0].path;
    assert.equal(where, at, JSON.stringify(change));
  };
  for (const kind of ["sell", "buy", "contact"] as const) {
    await refuse(kind, { consent: false }, [422, "consent"]);
    await refuse(kind, { consent: undefined }, [422, "consent"]);
    await refuse(kind, { consent: "true" }, [422, "consent"]);
    await refuse(kind, { name: undefined }, [422, "name"]);
    await refuse(kind, { name: "   " }, [422, "name"]);
    await refuse(kind, { name: "x".repeat(201) }, [422, "name"]);
    await refuse(kind, { email: "asha" }, [422, "email"]);
    await refuse(kind, { firm_id: houseFirmId.live }, [400, "firm_id"]);
  }
  await refuse("sell", { scheme: "GOLD" }, [400, "scheme"]);
  await refuse("sell", { scheme: undefined }, [422, "scheme"]);
  await refuse("sell", { face_paise: 0 }, [422, "face_paise"]);
  await refuse("sell", { face_paise: "100" }, [422, "face_paise"]);
  await refuse("sell", { face_paise: 1.5 }, [422, "face_paise"]);
  await refuse("sell", { requirement_paise: 1 }, [400, "requirement_paise"]);
  await refuse("buy", { requirement_paise: undefined }, [422, "requirement_paise"]);
  await refuse("sell", { phone: "12" }, [422, "phone"]);
  await refuse("buy", { iec: "nonsense" }, [422, "iec"]);
  await refuse("contact", { message: " \n " }, [422, "message"]);
  await refuse("contact", { message: "x".repeat(4_001) }, [422, "message"]);
  const body = "name=Asha";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  await send("POST", "/public/enquiry/contact", { body, headers, expect: 415 });
});

test("personal data of an enquiry is sealed at rest, and readable by the operator", async (t) => {
  const service = await startService(t, generous);
  const { ctx, send } = service;
  const { body } = await send("POST", "/public/enquiry/sell", { body: sell, expect: 201 });
  await send("POST", "/public/enquiry/contact", { body: contact, expect: 201 });
  const { rows } = await ctx.db.pool.query("select enquiries::text as shown from enquiries");
  const bytes = await ctx.db.pool.query<{ person_sealed: Buffer }>(
    "select person_sealed from enquiries",
  );
  const stored = [
    ...rows.map(({ shown }) => String(shown)),
    ...bytes.rows.map(({ person_sealed }) => person_sealed.toString("latin1")),
  ].join("\n");
  for (const word of ["Asha", "acme", "98200", "AAGCB7383J", "Hello"]) {
    assert.equal(stored.toLowerCase().includes(word.toLowerCase()), false, word);
  }
  assert.deepEqual(await showEnquiry(ctx, body.enquiry_ref), {
    ...body,
    kind: "sell",
    scheme: "RODTEP",
    amount_paise: 25_000_000,
    name: "Asha Rao",
    email: "asha@acme.example",
    phone: "+919820012345",
    iec: "AAGCB7383J",
    message: null,
    outcome: null,
  });
  const [latest, first] = await listEnquiries(ctx, { status: "received", limit: 10 });
  assert.deepEqual(new Set([latest?.kind, first?.kind]), new Set(["sell", "contact"]));
});

test("an enquiry is closed once, and its personal data is deleted 30 days later", async (t) => {
  const service = await startService(t, generous);
  const { clock, ctx, send } = service;
  const enquiryRef = await submitted(service);
  clock.advance({ days: 1 });
  const closed = await closeEnquiry(ctx, operator, { enquiryRef, outcome: "called back" });
  const read = await send("GET", `/public/enquiry/${enquiryRef}`, { expect: 200 });
  assert.deepEqual(read.body, closed);
  assert.equal(read.body.status, "closed");
  assert.equal(read.body.kept_until, "2026-12-16T14:45:00.000+05:30");
  assert.equal(read.text.includes("called back"), false, "the outcome is the desk's own");
  await assert.rejects(
    closeEnquiry(ctx, operator, { enquiryRef, outcome: "again" }),
    /does not allow close/,
  );
  await assert.rejects(showEnquiry(ctx, "enq_00000000000000000000000000"), /no such enquiry/);
  clock.advance({ days: 30, ms: -1 });
  await service.work();
  await send("GET", `/public/enquiry/${enquiryRef}`, { expect: 200 });
  clock.advance({ ms: 1 });
  await service.work();
  await send("GET", `/public/enquiry/${enquiryRef}`, { expect: 404 });
});

test("an open enquiry is deleted after 180 days", async (t) => {
  const service = await startService(t, generous);
  const { clock, ctx } = service;
  const enquiryRef = await submitted(service);
  clock.advance({ days: 179 });
  await closeEnquiry(ctx, operator, { enquiryRef, outcome: "late" });
  clock.advance({ days: 1 });
  await Promise.all([service.work(), service.work()]);
  assert.deepEqual(await listEnquiries(ctx, { status: null, limit: 10 }), []);
  const { rows } = await askJournal(
    ctx.db.pool,
    "select action from audit_records where entity_id = $1 order by at, record_id",
    [enquiryRef],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ["enquiry.received", "enquiry.closed", "enquiry.forgotten"],
  );
});

async function submitted({ send }: Service): Promise<string> {
  const { body } = await send("POST", "/public/enquiry/sell", { body: sell, expect: 201 });
  return body.enquiry_ref;
}

test("the public surface reveals no desk, firm, credit or deal", async (t) => {
  const service = await startService(t, generous);
  const { send } = service;
  await openLiveMarket(service);
  const { firm_id, key_id } = await service.issue({ environment: "live" });
  const refs = await submitted(service);
  const paths = service.app.routes
    .filter(({ method, path }) => method === "GET" && path.startsWith("/public/"))
    .map(({ path }) =>
      path
        .replace("{scheme}", "RODTEP")
        .replace("{date}", "2026-11-15")
        .replace("{enquiry_ref}", refs)
        .replace("/estimate", "/estimate?side=sell&scheme=RODTEP&amount_paise=100")
        .replace("/opt-out", "/opt-out?token=x"),
    );
  assert.equal(paths.length, 11);
  for (const path of paths) {
    const expect = path.includes("/opt-out") ? 404 : 200; // Only who has a notice has a link.
    const { text } = await send("GET", path, { expect });
    for (const secret of [firm_id, key_id, "frm_", "stl_", "crd_", "key_", "scrip_no", "Asha"]) {
      assert.equal(text.includes(secret), false, `${path} tells ${secret}`);
    }
  }
});
