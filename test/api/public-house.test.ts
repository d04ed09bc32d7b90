// Who the house is, what dealing costs and when money comes: on the page and as data.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import { addDay } from "../../src/outside/calendar.ts";
import { readHousePapers } from "../../src/platform/pages/house-papers.ts";
import { publishCard } from "../../src/rates/publish-card.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { startService } from "../support/service.ts";

test("the house's terms are those of its live cards, and null before there is one", async (t) => {
  const service = await startService(t);
  const read = async () => (await service.send("GET", "/public/house", { expect: 200 })).body;
  const [before] = (await read()).schemes;
  assert.deepEqual(before, {
    scheme: "RODTEP",
    market_state: null,
    fee_bps: null,
    default_bps: null,
    quote_window_s: null,
    face_max_paise: null,
    days_left_min: null,
  });
  const terms = { fee_bps: 7, quote_window_s: 90 };
  await publishCard(service.ctx, operator, { environment: "live", scheme: "ROSCTL", terms });
  const after = await read();
  assert.deepEqual(after.schemes[1], {
    scheme: "ROSCTL",
    market_state: "open",
    fee_bps: 7,
    default_bps: 50,
    quote_window_s: 90,
    face_max_paise: 15_000_000_000,
    days_left_min: 30,
  });
  assert.deepEqual([after.gst_bps, after.block_fee_bps, after.withholding], [1_800, 2, null]);
  assert.equal(after.name, "Scripdesk Clearing House");
  assert.deepEqual([after.terms_href, after.privacy_href], [null, null]);
});

test("tax that is withheld from sellers is told from the day on which it counts", async (t) => {
  const { ctx, clock, send } = await startService(t);
  await addLiveHouse({ ctx });
  const rate = { section: "194Q", rate_bps: 10, threshold_paise: 5_000, with_crosses: false };
  const tax = { environment: "live", line: "tds", from: "2026-11-16", rate } as const;
  await setTax(ctx, operator, tax);
  assert.equal((await send("GET", "/public/house")).body.withholding, null);
  clock.advance({ days: 1 });
  assert.deepEqual((await send("GET", "/public/house")).body.withholding, {
    section: "194Q",
    rate_bps: 10,
    threshold_paise: 5_000,
  });
});

test("deadlines of a deal agreed now follow the calendar and the time of day", async (t) => {
  const { ctx, clock, send } = await startService(t);
  const read = async () => (await send("GET", "/public/house", { expect: 200 })).body.timetable;
  clock.set(new Date("2026-11-16T15:29:00+05:30"));
  const early = await read();
  assert.equal(early.transferred_by, "2026-11-19T17:30:00.000+05:30");
  assert.equal(early.paid_by, "2026-11-17T17:30:00.000+05:30");
  clock.set(new Date("2026-11-16T15:30:00+05:30"));
  assert.equal((await read()).transferred_by, "2026-11-20T17:30:00.000+05:30");
  const day = { office: "customs", day: "2026-11-18", name: "Strike", works: "" };
  await addDay(ctx, operator, day);
  const later = await read();
  assert.equal(later.transferred_by, "2026-11-21T17:30:00.000+05:30");
  assert.equal(later.paid_by, "2026-11-18T17:30:00.000+05:30", "banks work that day");
  assert.deepEqual(later.holidays[0], { office: "customs", date: "2026-11-18", name: "Strike" });
  assert.ok(later.holidays.every(({ date }: { date: string }) => date <= "2026-12-16"));
});

test("a preview is the sandbox's, says so, and ends with a figure of today", async (t) => {
  const { send } = await startService(t);
  const { body } = await send("GET", "/public/preview", { expect: 200 });
  assert.equal(body.environment, "sandbox");
  assert.match(body.note, /nobody has dealt/);
  const schemes = body.schemes.map(({ scheme }: { scheme: string }) => scheme);
  assert.deepEqual(schemes, ["RODTEP", "ROSCTL"]);
  for (const { days, mid_bps } of body.schemes) {
    assert.equal(days.at(-1).date, "2026-11-15");
    assert.ok(days.at(-1).index_bps <= mid_bps);
  }
  const { rates } = (await send("GET", "/public/rates", { expect: 200 })).body;
  assert.equal(rates[0].index_bps, null, "the index itself is never simulated");
});

test("the page says who the house is, and names what it has not published", async (t) => {
  const named = await startService(t, {
    imprint: { name: 'A & B <script> "House"', phone: "+91 22 6123 4567" },
    papers: {
      terms: "# Our terms\n\n<script>alert(1)</script>\n\n[x](javascript:1)",
      privacy: null,
    },
  });
  const page = (await named.send("GET", "/", { expect: 200 })).text;
  assert.match(page, /<title>A &amp; B &lt;script&gt; &quot;House&quot; · /);
  for (const fact of [
    "12 Mint Road, Fort<br />Mumbai 400001, Maharashtra",
    "27AAPFU0939F1ZV",
    '<a href="mailto:desk@house.example">',
    '<a href="tel:+912261234567">',
    '<a href="/terms">Terms</a>',
  ]) {
    assert.ok(page.includes(fact), fact);
  }
  assert.match(page, /has not published its privacy yet/);
  assert.doesNotMatch(page, /\{\{|<script>/);
  const terms = await named.send("GET", "/terms", { expect: 200 });
  assert.match(terms.text, /<h1>Our terms<\/h1>/);
  assert.doesNotMatch(terms.text, /<script|href="javascript/);
  assert.match(terms.headers.get("content-security-policy") ?? "", /^default-src 'none'/);
  await named.send("GET", "/privacy", { expect: 404 });

  const bare = { address: [], gstin: null, email: null, phone: null };
  const unnamed = await startService(t, { imprint: bare });
  const missing = (await unnamed.send("GET", "/", { expect: 200 })).text;
  assert.match(missing, /its address, GSTIN, contact, terms and privacy yet/);
});

test("the house's papers are files of a folder; one that cannot be read is named", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-house-"));
  t.after(() => rm(folder, { recursive: true }));
  assert.deepEqual(await readHousePapers(join(folder, "none")), { terms: null, privacy: null });
  await writeFile(join(folder, "terms.md"), "# Terms\n");
  await writeFile(join(folder, "privacy.md"), "  \n");
  assert.deepEqual(await readHousePapers(folder), { terms: "# Terms", privacy: null });
  await writeFile(join(folder, "privacy.md"), Buffer.from([0xff, 0xfe]));
  await assert.rejects(readHousePapers(folder), /privacy\.md is not UTF-8/);
  await writeFile(join(folder, "privacy.md"), "x".repeat(262_145));
  await assert.rejects(readHousePapers(folder), /privacy\.md exceeds 262144 bytes/);
});
