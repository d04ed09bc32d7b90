import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { addInventory, importInventoryReport } from "../../src/credits/inventory.ts";
import { listAllCredits, sumStockByExpiry } from "../../src/credits/read-credits.ts";
import { seedInventory } from "../../src/credits/seed-credits.ts";
import { operator } from "../../src/kernel/actor.ts";
import { everything } from "../../src/kernel/desk-search.ts";
import { houseFirmId } from "../../src/kernel/ids.ts";
import { schemes } from "../../src/kernel/scheme.ts";
import { addDays, daysBetween, istDay } from "../../src/kernel/time.ts";
import type { Context } from "../../src/platform/context.ts";
import { buildXlsx, toSerial } from "../support/build-xlsx.ts";
import { commandLine } from "../support/cli.ts";
import { stockHouse } from "../support/inventory.ts";
import { startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const item = {
  scrip_no: "LIVE/0001",
  scheme: "RODTEP",
  face_paise: 25_000_000,
  expires_on: "2028-03-31",
} as const;

async function house(ctx: Context, environment: "live" | "sandbox" = "sandbox") {
  const firmId = houseFirmId[environment];
  const search = { ...everything, environment, firmId, limit: 10_000 };
  return (await listAllCredits(ctx, search)).rows;
}

test("an operator lists a credit of the house at once, in live too, and it is audited", async (t) => {
  const { ctx } = await startService(t);
  for (const environment of ["live", "sandbox"] as const) {
    const answer = await addInventory(ctx, operator, { environment, items: [item] });
    assert.deepEqual([answer.accepted, answer.failed, answer.results[0]?.status], [1, 0, 201]);
    const [row, ...others] = await house(ctx, environment);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [row?.state, row?.desk_id, row?.face_paise, row?.issued_paise, row?.issued_on],
      ["listed", houseFirmId[environment], 25_000_000, 25_000_000, "2026-04-01"],
    );
    const again = await addInventory(ctx, operator, { environment, items: [item] });
    assert.equal(again.results[0]?.status, 200, "the same facts again change nothing");
  }
  const { rows } = await askJournal(
    ctx.db.pool,
    `select distinct action, actor_id from audit_records where entity_type = 'credit'`,
  );
  assert.deepEqual(rows, [{ action: "credit.declare", actor_id: "cli" }]);
  const questions = await ctx.db.pool.query("select 1 from questions");
  assert.equal(questions.rowCount, 0, "nobody is asked about what the operator vouches for");
});

test("each credit is refused by itself, with its problem", async (t) => {
  const service = await startService(t);
  const { ctx, send } = service;
  const { api_key: key, firm_id } = await service.issue();
  const held = { ...item, scrip_no: "HELD/0001", issued_on: "2026-04-01" };
  const declared = { key, body: { credits: [held] }, expect: 200 };
  await send("POST", `/v1/firms/${firm_id}/credits`, declared);
  await addInventory(ctx, operator, { environment: "sandbox", items: [item] });
  const refused = [
    [held, 409, /held by somebody else/],
    [{ ...item, face_paise: 1 }, 409, /declared with other facts/],
    [{ ...item, scrip_no: "LAPSED/1", expires_on: "2026-11-14" }, 422, /expires_on: has passed/],
    [{ ...item, scrip_no: "NODAY/01", expires_on: "31/03/2028" }, 422, /expires_on: must be a day/],
    [{ ...item, scrip_no: "no" }, 422, /scrip_no: must be/],
    [{ ...item, scrip_no: "FUTURE/1", issued_on: "2026-11-16" }, 422, /issued_on: must not/],
  ] as const;
  const items = [...refused.map(([one]) => one), { ...item, scrip_no: "GOOD/0001" }];
  const { results, ...sums } = await addInventory(ctx, operator, {
    environment: "sandbox",
    items,
  });
  assert.deepEqual(sums, { accepted: 1, failed: refused.length });
  for (const [index, [, status, message]] of refused.entries()) {
    assert.equal(results[index]?.status, status);
    assert.match(results[index]?.error?.message ?? "", message);
  }
  assert.deepEqual((await house(ctx)).map(({ scrip_no }) => scrip_no).toSorted(), [
    "GOOD/0001",
    "LIVE/0001",
  ]);
});

test("a claim to a number that the house turns out to hold is rejected", async (t) => {
  const service = await startService(t);
  const { ctx, send } = service;
  const desk = await service.issue({ environment: "live", iec: "AAACS1234K", pan: "AAACS1234K" });
  const claim = { ...item, issued_on: "2026-04-01" };
  const path = `/v1/firms/${desk.firm_id}/credits`;
  const body = { credits: [claim] };
  const { body: claimed } = await send("POST", path, { key: desk.api_key, body, expect: 200 });
  assert.equal(claimed.results[0].credit.status, "declared");
  await addInventory(ctx, operator, { environment: "live", items: [item] });
  const read = await send("GET", `/v1/credits/${encodeURIComponent(item.scrip_no)}`, {
    key: desk.api_key,
    expect: 200,
  });
  assert.equal(read.body.status, "rejected");
});

test("a report stocks the house row by row, with any IEC, and lowers balances", async (t) => {
  const { ctx } = await startService(t);
  const heading = "Scrip Number,Scheme,IEC,Amount,Balance,Issue Date,Expiry Date";
  const report = (balance: string) =>
    [
      heading,
      `REP/00001,RODTEP,AAACZ9999Z,"12,34,567.00","${balance}",01/10/2026,01/10/2028`,
      "REP/00002,ROSCTL,,1000.50,1000.50,01/10/2024,01/10/2026",
      "Total,,,,,,",
    ].join("\n");
  const take = async (csv: string) =>
    await ctx.db.transaction(
      async (tx) =>
        await importInventoryReport(tx, operator, {
          environment: "live",
          report: { csv },
          now: ctx.now(),
        }),
    );
  const first = await take(report("12,34,567.00"));
  assert.deepEqual(
    first.results.map(({ row, status }) => [row, status]),
    [
      [2, 201],
      [3, 422],
    ],
  );
  assert.deepEqual([first.accepted, first.failed, first.skipped], [1, 1, 1]);
  await take(report("1,000.00"));
  const [row] = await house(ctx, "live");
  assert.deepEqual(
    [row?.face_paise, row?.issued_paise, row?.state],
    [100_000, 123_456_700, "listed"],
  );
});

test("the sandbox's house is stocked once, even by nodes that start concurrently", async (t) => {
  const service = await startService(t);
  const { ctx, clock } = service;
  assert.deepEqual(await house(ctx), [], "a service of a test has what the test asks for");
  const others = [1, 2, 3].map(async () => await startService(t, { beside: service }));
  const nodes = [service, ...(await Promise.all(others))];
  const made = await Promise.all(nodes.map(async (node) => await seedInventory(node.ctx)));
  assert.deepEqual(
    made.toSorted((a, b) => a - b),
    [0, 0, 0, 600],
  );
  const stock = await house(ctx);
  assert.equal(stock.length, 600);
  const today = istDay(clock.now());
  for (const scheme of schemes) {
    const credits = stock.filter((row) => row.scheme === scheme);
    assert.equal(credits.length, 300);
    const long = credits.filter((row) => daysBetween(today, row.expires_on) >= 365);
    assert.ok(long.length >= 270, `${long.length} have a year or more left`);
    const small = credits.filter((row) => row.face_paise < 1_000_000);
    const large = credits.filter((row) => row.face_paise > 100_000_000);
    assert.ok(small.length >= 20 && large.length >= 20, "there is something for every size");
    assert.ok(credits.every((row) => row.state === "listed" && row.face_paise % 100 === 0));
  }
  await ctx.db.pool.query("update credits set state = 'used', face_paise = 0");
  clock.advance({ days: 400 });
  assert.equal(await seedInventory(ctx), 0, "what is gone does not come back at a start");
  const facts = stock.map(({ scrip_no, face_paise }) => `${scrip_no} ${face_paise}`).toSorted();
  const other = await startService(t);
  await seedInventory(other.ctx);
  const same = (await house(other.ctx)).map((row) => `${row.scrip_no} ${row.face_paise}`);
  assert.deepEqual(same.toSorted(), facts, "every sandbox starts alike");
});

test("a test can stock the house with given credits", async (t) => {
  const { ctx } = await startService(t);
  const [first, second] = await stockHouse(ctx, [
    { face_paise: 5_000 },
    { face_paise: 7_000, scheme: "ROSCTL", expires_on: "2027-01-01" },
  ]);
  assert.equal(first?.expires_on, addDays(istDay(ctx.now()), 730));
  assert.deepEqual([second?.scheme, second?.status, second?.sellable], ["ROSCTL", "listed", true]);
});

test("stock is summed by the days that are left, over every credit that is offered", async (t) => {
  const { ctx } = await startService(t);
  const today = istDay(ctx.now());
  const inDays = (days: number) => ({ face_paise: 1_000, expires_on: addDays(today, days) });
  await stockHouse(ctx, [0, 29, 30, 90, 182, 183, 700].map(inDays), "live");
  await stockHouse(ctx, [inDays(10)]);
  const bands = await sumStockByExpiry(ctx, "live");
  assert.deepEqual(
    bands.map(({ from_days, before_days, count, face_paise }) => [
      `${from_days} to ${before_days}`,
      count,
      face_paise,
    ]),
    [
      ["0 to 30", 2, 2_000],
      ["30 to 91", 2, 2_000],
      ["91 to 183", 1, 1_000],
      ["183 to null", 2, 2_000],
    ],
  );
});

test("inventory commands add one credit or a file, list them and say what is refused", async (t) => {
  const service = await startService(t);
  const { run, dataDir } = await commandLine(t, service);
  const add = async (...words: string[]) =>
    await run("inventory", "add", "--env", "live", ...words);
  const one = ["--scheme", "RODTEP", "--face-paise", "2500", "--expires-on", "2098-03-31"];

  const added = await add("--scrip-no", "cli/00001", ...one, "--issued-on", "2026-01-01", "--json");
  assert.equal(added.code, 0, added.stderr);
  assert.deepEqual(JSON.parse(added.stdout), {
    scrip_no: "CLI/00001",
    scheme: "RODTEP",
    face_paise: 2_500,
    issued_on: "2026-01-01",
    expires_on: "2098-03-31",
    status: "listed",
  });
  const lapsed = await add(
    "--scrip-no",
    "CLI/00002",
    ...one.slice(0, 4),
    "--expires-on",
    "2020-01-01",
  );
  assert.deepEqual([lapsed.code, lapsed.stdout], [1, ""]);
  assert.equal(lapsed.stderr, "scripdesk: CLI/00002: expires_on: has passed\n");

  const file = join(dataDir, "stock.csv");
  await writeFile(
    file,
    [
      "scrip_no,scheme,face_rupees,issued_on,expires_on",
      "CLI/00003,ROSCTL,10.50,2026-01-01,2098-01-01",
      "CLI/00004,RODTEP,10.505,2026-01-01,2098-01-01",
    ].join("\n"),
  );
  const imported = await add("--csv", file);
  assert.equal(imported.code, 1, "one row was refused");
  assert.match(imported.stdout, /^2 +201 +CLI\/00003 +-\n3 +422 +- +face: must be an amount/m);

  const workbook = join(dataDir, "stock.xlsx");
  const cells = [
    ["scrip_no", "scheme", "face_rupees", "issued_on", "expires_on"],
    ["CLI/00006", "RODTEP", 10.5, "2026-01-01", { date: toSerial("2098-01-01") }],
    [310_165_322, "RODTEP", 10.5, "2026-01-01", { date: toSerial("2098-01-01") }],
  ];
  await writeFile(workbook, buildXlsx([{ rows: cells }]));
  const taken = await add("--xlsx", workbook);
  assert.equal(taken.code, 1, "one row was refused");
  assert.match(taken.stdout, /^2 +201 +CLI\/00006 +-\n3 +422 +- +scrip_no: is stored as a number/m);
  const desk = await run("keys", "issue", "--firm", "Acme", "--env", "sandbox", "--json");
  const { firm_id: firmId } = JSON.parse(desk.stdout) as Record<string, string>;
  const ofFirm = await run("credits", "import", "--firm", firmId ?? "", "--xlsx", workbook);
  assert.equal(ofFirm.code, 1);
  assert.match(ofFirm.stdout, /^2 +201 +CLI\/00006/m);
  const neither = await run("credits", "import", "--firm", firmId ?? "");
  assert.deepEqual([neither.code, neither.stdout], [2, ""]);
  assert.match(neither.stderr, /--csv or --xlsx is required/);

  const list = await run("inventory", "list", "--env", "live", "--scheme", "ROSCTL", "--json");
  assert.deepEqual(JSON.parse(list.stdout), [
    {
      scrip_no: "CLI/00003",
      scheme: "ROSCTL",
      face_paise: 1_050,
      expires_on: "2098-01-01",
      status: "listed",
      version: 1,
    },
  ]);
  const listed = await run("inventory", "list", "--env", "live", "--status", "listed");
  assert.match(listed.stdout, /CLI\/00001/);

  const wrong = [
    [["--scrip-no", "CLI/00005"], /--scheme is required, or --csv/],
    [["--scrip-no", "CLI/00005", ...one, "--csv", file], /--csv or --xlsx alone/],
    [["--csv", join(dataDir, "missing.csv")], /--csv cannot be read/],
    [["--xlsx", join(dataDir, "missing.xlsx")], /--xlsx cannot be read/],
    [["--csv", file, "--xlsx", workbook], /give --csv or --xlsx/],
    [["--scrip-no", "CLI/00005", ...one, "--face-paise", "1.5"], /--face-paise must be/],
  ] as const;
  for (const [words, line] of wrong) {
    const ran = await add(...words);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, line);
  }
});
