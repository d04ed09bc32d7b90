// What the console does when it is told to, as somebody in a browser sees it: acts reach what they say
// they reach, and forms, answers and times say what is so.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";

import { machinePermissions } from "../../src/operators/machine-rules.ts";
import { noFee } from "../../src/kernel/money.ts";
import { istDay } from "../../src/kernel/time.ts";
import { findNames } from "../../src/overview/desks.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { commandLine } from "../support/cli.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { lettersLeast, listPages, measureLetters } from "../support/console-pages.ts";
import { type Console, signInToConsole } from "../support/console.ts";
import { clientFirm } from "../support/firms.ts";
import { furnishConsole } from "../support/furnished-console.ts";
import { askJournal } from "../support/journal.ts";
import { payIn } from "../support/ledger.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { dealer } from "../support/orders.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { addPerson, settleLiveSale } from "../support/people.ts";
import { openLiveMarket } from "../support/public.ts";
import { fileScope } from "../support/scope.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
} from "../support/settlements.ts";
import { dealBetween, openParties, say } from "../support/task-parties.ts";

const skip = (await chromiumMissing()) ?? false;
const scope = fileScope();
const browse = browser(scope);

async function openConsole(t: TestContext, given?: Service) {
  const service = given ?? (await startService(t));
  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  return { service, ops, person, console: await signInToConsole(t, { browse, ops, person }) };
}

/** Presses the act at this place of the page, and says anything that its dialog asks for. */
async function press({ page }: Console, at: number): Promise<void> {
  await page.locator("#page button", { hasText: "…" }).nth(at).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  for (const file of await dialog.locator("input[type=file]").all()) {
    const buffer = Buffer.from("date,reference\n16/11/2026,HDFCR52026970000001\n");
    await file.setInputFiles({ name: "file.csv", mimeType: "text/csv", buffer });
  }
  await page.evaluate(`(() => {
    const given = { date: "2027-03-01", checkbox: "on", "select-one": null };
    for (const field of document.querySelectorAll("dialog :is(input, textarea, select)")) {
      if (field.type === "file") continue;
      if (field.type === "select-one") field.selectedIndex = field.options.length - 1;
      else field.value ||= given[field.type] ?? (field.inputMode === "decimal" ? "100" : "HDFCR52026970000001");
    }
  })()`);
  await dialog.locator("button[type=submit]").click();
  const isAnswered = "dialog:not([open]), dialog [role=alert]:not([hidden]), dialog .reveal";
  await page.locator(isAnswered).or(page.locator("#said p")).first().waitFor();
  await page.keyboard.press("Escape");
}

/** What the acts of the pages under Sandbox did there; others were refused for what they were given. */
const doneInSandbox = new Set([
  "/ops/credits/news",
  "/ops/firms/ID/suspend",
  "/ops/house",
  "/ops/inventory",
  "/ops/keys/ID/revoke",
  "/ops/market/halt",
  "/ops/orders/ID/cancel",
  "/ops/settlements/ID/fund",
  "/ops/taxes/rails",
  "/ops/taxes/rails/confirm",
  "/ops/taxes/scrip",
  "/ops/taxes/tds/end",
  "/ops/webhooks/replay",
]);

/** Every row that is not of the sandbox alone, by its table: records, proposals and what they change. */
async function digestLive({ ctx }: Service): Promise<Map<string, string>> {
  const { rows: tables } = await ctx.db.pool.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c
      join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'environment'`,
  );
  const digests = new Map<string, string>();
  for (const { name } of tables) {
    const { rows } = await askJournal(
      ctx.db.pool,
      `select md5(coalesce(string_agg(row, E'\\n' order by row), '')) as digest
        from (select t::text as row from ${name} t where environment is distinct from 'sandbox') r`,
      [],
    );
    digests.set(name, String(rows[0]?.["digest"]));
  }
  return digests;
}

test(
  "no act of any page under Sandbox reaches live, and they do reach the sandbox",
  { skip },
  async (t) => {
    const service = await startService(t);
    const ops = await startOps(t, service, { twoOperatorsFromPaise: 25_000_000 });
    const person = await addPerson(service, { name: "asha", role: "admin" });
    const things = await furnishConsole(t, service, ops, person);
    const client = await dealer(service, [{}, {}]);
    const sell = { side: "sell", scrip_no: client.scripNo, limit_bps: 9_990 };
    const order = (await client.post("/v1/orders", sell, 201)).body;
    const seller = await openTestDesk(service);
    const legs = [{ seller, scripNo: await addCredit(service, seller) }];
    const settlementId = await makeDeal(service, { buyer: await openTestDesk(service), legs });
    const console = await signInToConsole(t, { browse, ops, person });
    const { page, open, go } = console;
    const done: string[] = [];
    page.on("response", (response) => {
      const request = response.request();
      if (request.method() === "GET" || !response.ok()) return;
      done.push(new URL(response.url()).pathname.replaceAll(/[a-z]{3}_[0-9a-z]{26}/g, "ID"));
    });
    const before = await digestLive(service);
    await open("/today?env=sandbox");
    const own = [
      `/orders/${order.order_id}`,
      `/settlements/${settlementId}`,
      `/firms/${seller.firmId}`,
    ];
    for (const path of [...listPages, ...own]) {
      const here = `${path}${path.includes("?") ? "&" : "?"}env=sandbox`;
      await go(here);
      const acts = await page.locator("#page button", { hasText: "…" }).allInnerTexts();
      for (const at of acts.keys()) {
        await go(here);
        // An act may take its own button away, or another's.
        if ((await page.locator("#page button", { hasText: "…" }).count()) <= at) continue;
        await press(console, at);
      }
    }
    assert.deepEqual(new Set(done), doneInSandbox);
    assert.deepEqual(await digestLive(service), before);
    await go("/board");
    await press(console, 0);
    assert.notDeepEqual(await digestLive(service), before, "control: an act under Live is seen");

    // A thing of live is shown under Live, whatever was chosen.
    for (const path of things.filter((one) => !/files|bank|approvals|enquiries/.test(one))) {
      await open(`${path}?env=sandbox`);
      await page.locator(".bar[data-environment=live]").waitFor();
    }
    for (const path of [
      "/bank",
      "/files",
      "/approvals",
      things.find((one) => one.startsWith("/files")),
    ]) {
      await open(`${path}?env=sandbox`);
      await page.getByText("This is of live only").waitFor();
      assert.equal(await page.locator("#page button").count(), 0, path);
    }
    await page.getByRole("link", { name: "Switch to Live" }).click();
    await page.getByRole("button", { name: "Download for the bank" }).click();
    await page.getByRole("dialog").getByText("LIVE", { exact: true }).waitFor();
  },
);

test("a card's bands are sent when they were changed, and only then", { skip }, async (t) => {
  const {
    service,
    console: { page, open },
  } = await openConsole(t);
  await openLiveMarket(service);
  const sent: Record<string, unknown>[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/ops/rates/preview")) sent.push(request.postDataJSON().terms);
  });
  await open("/publish/RODTEP");
  await page.getByLabel("Mid").fill("98.40");
  await page.getByRole("button", { name: "Preview" }).click();
  await page
    .getByRole("region", { name: "What it would change" })
    .getByText("largest move")
    .waitFor();
  assert.deepEqual(sent, [{ mid_bps: 9_840 }]);
  await page.getByText("Size bands").click();
  await page.getByLabel("Percent").first().fill("-1.60");
  await page.getByRole("button", { name: "Preview" }).click();
  await page
    .getByRole("region", { name: "What it would change" })
    .getByText("largest move")
    .waitFor();
  assert.deepEqual(Object.keys(sent[1] ?? {}), ["mid_bps", "size_bands"]);
});

test(
  "an import tells what was refused, checks are counted, and times have their year",
  { skip },
  async (t) => {
    const {
      service,
      console: { page, open, act },
    } = await openConsole(t);
    const { firmId } = await openTestDesk(service, "live");
    await service.ctx.db.pool.query(
      `update firms set checks = '[{"check": "IEC_ACTIVE", "outcome": "pass", "cure": null, "as_of": "2026-11-15T10:00:00+05:30"},
      {"check": "PAN_MATCH", "outcome": "fail", "cure": "Correct it", "as_of": "2026-11-15T10:00:00+05:30"}]'
    where firm_id = $1`,
      [firmId],
    );
    await open("/firms");
    await page.getByRole("cell", { name: "1 of 2 passed" }).waitFor();
    await page
      .getByRole("cell", { name: /^15 Nov 2026, \d\d:\d\d$/ })
      .first()
      .waitFor();
    await open(`/firms/${firmId}`);
    const report =
      "scrip_no,scheme,balance,issued_on,expires_on\nABC,RODTEP,100,2026-10-01,2028-01-01\n";
    const said = await act("Import credits", { "Report of the customs portal": { file: report } });
    assert.match(said, /^0 imported, 1 refused/);
    assert.match(said, /Row 2: /);
  },
);

test("an answer about a firm is chosen and never given by default", { skip }, async (t) => {
  const {
    service,
    console: { page, open },
  } = await openConsole(t);
  const { api_key: key, firm_id: deskId } = await service.issue({ environment: "live" });
  const made = { environment: "live", state: "registered", legalName: "Konkan Exports" } as const;
  const { firmId } = await clientFirm(service, deskId, made);
  await service.send("POST", `/v1/firms/${firmId}/verify`, { key, body: {}, expect: 200 });
  await open("/questions");
  await page.getByRole("button", { name: "Answer" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Konkan Exports").waitFor();
  await dialog.getByLabel("Evidence").fill("TICKET-1");
  await dialog.getByRole("button", { name: "Answer" }).click();
  await dialog.getByText("This is needed.").waitFor();
  await dialog.getByLabel("Failed check").selectOption("nothing");
  await dialog.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Answer saved.").waitFor();
});

test(
  "many questions of a kind are answered at once, none of them by default",
  { skip },
  async (t) => {
    const {
      service,
      console: { page, open },
    } = await openConsole(t);
    const { api_key: key, firm_id: deskId } = await service.issue({ environment: "live" });
    const made = { environment: "live", state: "authorized", legalName: "Konkan Exports" } as const;
    const { firmId } = await clientFirm(service, deskId, made);
    const credits = ["0123/RODTEP/7001", "0123/RODTEP/7002", "0123/RODTEP/7003"].map(
      (scrip_no) => ({
        scrip_no,
        scheme: "RODTEP",
        face_paise: 30_000_000,
        issued_on: "2026-10-01",
        expires_on: "2028-09-30",
      }),
    );
    const path = `/v1/firms/${firmId}/credits`;
    await service.send("POST", path, { key, body: { credits }, expect: 200 });
    await open("/questions");
    await page.getByRole("button", { name: "Answer 3 about credits" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Evidence").fill("ICEGATE-1");
    await dialog.getByLabel("The firm holds it").selectOption("yes");
    await dialog.getByRole("button", { name: "Answer 3" }).click();
    await dialog.getByText("Choose at least one.").waitFor();
    await dialog.getByLabel("All 3").check();
    await dialog.getByLabel("0123/RODTEP/7002").uncheck();
    assert.equal(await dialog.getByLabel("All 3").isChecked(), false);
    await dialog.getByRole("button", { name: "Answer 3" }).click();
    await page.getByText("2 answers saved.").waitFor();
    for (const answered of [/0123\/RODTEP\/7001/, /0123\/RODTEP\/7003/]) {
      await page.getByRole("cell", { name: answered }).waitFor({ state: "detached" });
    }
    await page.getByRole("cell", { name: /0123\/RODTEP\/7002/ }).waitFor();
  },
);

test("the command that the sign-in page tells lets the first person in", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const { page } = await browse(t, `${ops.url}/console`);
  await page.getByText("You cannot sign in yet?").click();
  const told = await page.locator("code", { hasText: "operators add" }).innerText();
  const words = told
    .replace(/^npx scripdesk /, "")
    .replace("NAME", "asha")
    .split(" ");
  const { run } = await commandLine(t, service);
  const added = await run(...words, "--json");
  assert.equal(added.code, 0, added.stderr);
});

test(
  "the second person sees payees and amounts, and a proposal is told where its thing is",
  { skip },
  async (t) => {
    const service = await startService(t);
    const ops = await startOps(t, service, { twoOperatorsFromPaise: 10_000_000 });
    const asha = await addPerson(service, { name: "asha", role: "admin" });
    const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
    await openLiveMarket(service);
    const { seller, settlementId, payoutId } = await settleLiveSale(service, 24_300_000);
    const first = await signInToConsole(t, { browse, ops, person: asha });
    await first.open("/files");
    const due = first.page.waitForEvent("download");
    await first.page.getByRole("button", { name: "Download CSV" }).first().click();
    const payments = await readFile(await (await due).path(), "utf8");
    assert.match(payments, new RegExp(`^rail,.*\\r\\nRTGS,.*,243000\\.00,.*,${payoutId}\\r\\n$`));
    assert.match(await first.act("Create files"), /for somebody else/);
    const { page, open, act } = await signInToConsole(t, { browse, ops, person: ravi });
    for (const path of ["/today", "/files", `/payouts/${payoutId}`]) {
      await open(path);
      await page.getByRole("list", { name: "Waits for approval" }).waitFor();
    }
    await page.getByRole("link", { name: /^Approvals\s*1/ }).waitFor();
    await page.getByRole("list", { name: "Waits for approval" }).getByRole("link").click();
    const shown = page.getByRole("table", { name: "Payments" });
    const [name] = await listNames(service, [seller.firmId]);
    await shown.getByRole("row", { name: new RegExp(`${name}.*₹2,43,000`) }).waitFor();
    await page.getByText("nothing", { exact: true }).waitFor();
    assert.equal(await act("Approve"), "Approved and carried out.");
    await open(`/payouts/${payoutId}`);
    const step = page.getByRole("listitem").filter({ hasText: "instructed" });
    assert.match(await step.innerText(), /by ravi$/, "a history names whoever made a step");
    await open(`/settlements/${settlementId}`);
    await page
      .getByRole("listitem")
      .filter({ hasText: /settled.*ICEGATE-1/ })
      .waitFor();
    await page.getByRole("table", { name: "Evidence" }).getByText("ICEGATE-1").waitFor();
    await open("/files");
    assert.equal(await page.getByRole("list", { name: "Waits for approval" }).count(), 0);
  },
);

test("what a second person approves is in sight whole", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service, { twoOperatorsFromPaise: 10_000_000 });
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
  const { api_key: key, firm_id: deskId } = await service.issue({ environment: "live" });
  const made = { environment: "live", state: "authorized", legalName: "Konkan Exports" } as const;
  const { firmId } = await clientFirm(service, deskId, made);
  const credit = {
    scrip_no: "0123/RODTEP/7001",
    scheme: "RODTEP",
    face_paise: 30_000_000,
    issued_on: "2026-10-01",
    expires_on: "2028-09-30",
  };
  const path = `/v1/firms/${firmId}/credits`;
  await service.send("POST", path, { key, body: { credits: [credit] }, expect: 200 });
  const first = await signInToConsole(t, { browse, ops, person: asha });
  await first.open("/questions");
  const answer = { Evidence: "ICEGATE-1", "The firm holds it": { choose: "yes" } };
  assert.match(await first.act("Answer", answer), /for somebody else/);
  const { page, open } = await signInToConsole(t, { browse, ops, person: ravi });
  await open("/approvals");
  await page.locator("#page tbody a").first().click();
  const answers = page.locator("section", { hasText: "Answers" });
  const facts = (await answers.first().innerText()).split("\n");
  for (const [name, value] of [
    ["Question", "Does the firm hold this credit?"],
    ["Scrip number", "0123/RODTEP/7001"],
    ["Scheme", "RoDTEP"],
    ["Face", "₹3,00,000"],
    ["The firm holds it", "yes"],
    ["Reference", "ICEGATE-1"],
    ["Firm", "Konkan Exports"],
  ] as const) {
    assert.equal(facts[facts.indexOf(name) + 1], value, facts.join("\n"));
  }
  assert.ok(!facts.includes("Scenario"));
});

test("only the roles that may decide a proposal are offered to", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
  await openLiveMarket(service);
  const headers = asBearer((await asha.signIn()).token);
  const body = { environment: "live", scheme: "RODTEP", terms: { mid_bps: 9_500 } };
  const { approval_id } = (await ops.send("POST", "/ops/rates", { headers, body, expect: 200 }))
    .body;
  for (const role of ["dealer", "settlement"] as const) {
    const person = await addPerson(service, { name: role, role, by: [asha, ravi] });
    const { page, open } = await signInToConsole(t, { browse, ops, person });
    await open(`/approvals/${approval_id}`);
    const acts = await page.locator("#page button").allInnerTexts();
    assert.deepEqual(acts, role === "dealer" ? ["Approve…", "Reject…"] : []);
    const told = page.getByText("The role admin or dealer decides this.");
    assert.equal(await told.count(), role === "dealer" ? 0 : 1);
  }
});

test(
  "a statement is looked at before it is imported, and its line is assigned by a name",
  { skip },
  async (t) => {
    const {
      service,
      console: { page, open, act },
    } = await openConsole(t);
    const { firm_id: deskId } = await service.issue({ environment: "live" });
    const made = { environment: "live", state: "authorized", legalName: "Konkan Exports" } as const;
    await clientFirm(service, deskId, made);
    await open("/bank");
    await page.getByRole("button", { name: "Save a form" }).click();
    const saving = page.getByRole("dialog");
    const form = { Bank: "first-bank", Day: "Txn Date", Reference: "Ref", Narration: "Text" };
    for (const [label, heading] of Object.entries({ ...form, Withdrawal: "Out", Deposit: "In" })) {
      await saving
        .getByRole("textbox", { name: new RegExp(`^${label}( optional)?$`) })
        .fill(heading);
    }
    await saving.getByRole("button", { name: "Save a form" }).click();
    await page.getByText("The form first-bank is saved.").waitFor();
    await open("/bank");
    const file = "Txn Date,Ref,Text,Out,In\n15-11-2026,HDFCR52026111500099,ADVANCE,,700\n";
    const read = { "The bank's file": { file }, Form: { choose: "first-bank" } };
    assert.match(await act("Read a statement", read), /^0 would be matched, .* 1 would wait/);
    const preview = page.getByRole("table", { name: "What the statement would do" });
    await preview.getByRole("row", { name: /₹700 – ADVANCE queued/ }).waitFor();
    await act("Import it");
    await page.getByRole("button", { name: "Assign" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("searchbox").fill("Konkan");
    const found = dialog.getByRole("option", { name: /^Konkan Exports · firm/ });
    await dialog.getByLabel("Belongs to").selectOption(await found.getAttribute("value"));
    await dialog.getByLabel("Evidence").fill("their letter of 15 November");
    await dialog.getByRole("button", { name: "Assign" }).click();
    await page.getByText("Every bank line is matched.").waitFor();
    await page.getByRole("searchbox", { name: "Find anything" }).fill("HDFCR52026111500099");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /^bln_/ }).click();
    await page.getByRole("definition").getByRole("link", { name: "Konkan Exports" }).waitFor();
    await page.locator('.side a[data-path="/bank"][aria-current=page]').waitFor();
    const undone = await act("Undo the assignment", { Reason: "It was a typing mistake" });
    assert.equal(undone, "The assignment is undone; the money waits again.");
    await page.getByRole("table", { name: "Who did what" }).getByText("bank line: undo").waitFor();
    await page.getByRole("button", { name: "Assign" }).waitFor();
  },
);

test(
  "a machine may have what the service permits machines, and gets a token",
  { skip },
  async (t) => {
    const {
      console: { page, open },
    } = await openConsole(t);
    await open("/people");
    await page.getByRole("button", { name: "Add a machine" }).click();
    const dialog = page.getByRole("dialog");
    const offered = await dialog.getByRole("group").getByRole("checkbox").all();
    const values = await Promise.all(offered.map((box) => box.getAttribute("value")));
    assert.deepEqual(new Set(values), new Set([null, ...machinePermissions]));
    await dialog.getByLabel("Name").fill("night-run");
    await dialog.getByLabel("bank.write", { exact: true }).check();
    await dialog.getByLabel("Networks").fill("10.0.0.5/32");
    await dialog.getByLabel("Alone within 24 hours").fill("10,00,000");
    await dialog.getByLabel("Until").fill("2027-01-31T10:00");
    await dialog.getByRole("button", { name: "Add a machine" }).click();
    await dialog.getByText("shown this once").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /night-run.*bank\.write.*₹10,00,000/ }).waitFor();
  },
);

test("the queue says whose task it is, who is late, and both codes", { skip }, async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  await say(service, made.seller, made, { kind: "initiate" });
  await say(service, made.buyer, made, { kind: "accept", word: "missing", body: {} });
  service.clock.advance({ days: 3 });
  const {
    console: { page, open },
  } = await openConsole(t, service);
  const { rows } = await askJournal<{ firm_id: string; iec: string }>(
    service.ctx.db.pool,
    "select firm_id, iec from firms",
  );
  const findIec = ({ firmId }: { readonly firmId: string }) =>
    rows.find((row) => row.firm_id === firmId)?.iec ?? "none";
  const parties = `${made.scripNo} from ${findIec(made.seller)} to ${findIec(made.buyer)}`;
  await open("/queue");
  await page.getByText(`seller: initiate ${parties} late`, { exact: true }).waitFor();
  await page.getByText(`buyer: accept ${parties}`, { exact: true }).waitFor();
});

test("Today, the queue and Approvals refresh by themselves", { skip }, async (t) => {
  const {
    console: { page, open },
  } = await openConsole(t);
  await page.clock.install();
  for (const [path, asked] of [
    ["/today", "/ops/today"],
    ["/queue", "/ops/settlements/queue"],
    ["/approvals", "/ops/approvals"],
  ] as const) {
    await open(path);
    const again = page.waitForRequest((request) => new URL(request.url()).pathname === asked);
    await page.clock.runFor(31_000);
    await again;
  }
});

test(
  "long sums have crore beside them, lists and statements download, and stock is drawn",
  { skip },
  async (t) => {
    const {
      service,
      console: { page, open, act },
    } = await openConsole(t);
    await openLiveMarket(service);
    const { seller } = await settleLiveSale(service, 24_300_000);
    await open("/house");
    await page
      .getByRole("img", { name: /^Stock by days until it expires: Below 30 days 0/ })
      .waitFor();
    await page
      .getByRole("cell", { name: /^₹[\d,]+ \([\d.,]+ crore\)$/ })
      .first()
      .waitFor();
    await open("/payouts");
    const list = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    const rows = await readFile(await (await list).path(), "utf8");
    assert.match(rows, /amount_rupees[^]*243000\.00/);
    const [name = ""] = await listNames(service, [seller.firmId]);
    const filter = page.getByLabel("Firm", { exact: true });
    await filter.fill(name.slice(0, 5));
    const offered = page.locator("datalist option").first();
    await offered.waitFor({ state: "attached" });
    await filter.fill((await offered.getAttribute("value")) ?? "");
    await page.waitForURL((url) => url.searchParams.get("firm_id") === seller.firmId);
    await page.getByRole("table", { name: "Payouts" }).getByText("₹2,43,000").waitFor();
    await page.locator(`#page input[value="${name}"]`).waitFor();
    await open(`/firms/${seller.firmId}?month=2026-11`);
    await page.getByText("In escrow", { exact: true }).waitFor();
    const ledger = page.getByRole("table", { name: "Ledger of the month" });
    await ledger
      .getByRole("row", { name: /₹2,43,000/ })
      .first()
      .waitFor();
    const file = page.waitForEvent("download");
    await page.getByRole("button", { name: "Statement as PDF" }).click();
    assert.match((await file).suggestedFilename(), /^statement-\d{4}-\d\d-frm_.*\.pdf$/);
    await page.getByLabel("Papers of").selectOption("year");
    const papers = page.getByRole("table", { name: "Papers of deals" });
    const deal = papers.getByRole("row", { name: /sell ₹2,43,000 settled draft of the seller/ });
    for (const [words, kind] of [
      ["Contract note", "contract-note"],
      ["Bill of supply", "bill-of-supply"],
    ] as const) {
      const paper = page.waitForEvent("download");
      await deal.getByRole("button", { name: words }).click();
      const pdf = await paper;
      assert.match(pdf.suggestedFilename(), new RegExp(`^${kind}-stl_.*\\.pdf$`));
      assert.match(await readFile(await pdf.path(), "latin1"), /^%PDF-/);
    }
    await open("/statements?period=2026-10");
    const archive = page.waitForEvent("download");
    await page.getByRole("button", { name: "Month's archive" }).click();
    assert.match((await archive).suggestedFilename(), /2026-10.*\.tar\.gz$/);
    await open("/calendar?year=2027");
    await page.getByRole("button", { name: /^Confirm all \d+/ }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Confirm all/ })
      .click();
    await page.getByText("The holidays of 2027 are confirmed.").waitFor();
    const confirming = page.getByRole("button", { name: "Confirm…" });
    await confirming.first().waitFor({ state: "detached" });
    const holidays = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    const year = await readFile(await (await holidays).path(), "utf8");
    const [heads = ""] = year.split("\r\n");
    const added = { office: "bank", day: "2027-11-30", name: '"Eve, by order"', works: "no" };
    const row = heads
      .split(",")
      .map((head) => Object.entries(added).find(([name]) => name === head)?.[1]);
    await open("/calendar?year=2027");
    const said = await act("Import a list", {
      "The list": { file: `${year}${row.join(",")}\r\n` },
    });
    assert.match(said, /^\d+ days: 1 changed, 0 removed/);
    await page.getByRole("cell", { name: "Eve, by order" }).waitFor();
  },
);

test(
  "invoices download, the bank's cash is drawn by day, and what a reversal took back says so",
  { skip },
  async (t) => {
    const {
      service,
      ops,
      person,
      console: { page, open },
    } = await openConsole(t);
    const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
    const { ctx } = service;
    const from = istDay(ctx.now());
    await setTax(ctx, person.actor, { environment: "sandbox", line: "gst", from, rate: gst });
    const seller = await openTestDesk(service);
    const fees = { buyer: noFee, seller: { feePaise: 4_000, gstPaise: 720 } };
    const legs = [{ seller, scripNo: await addCredit(service, seller), fees }];
    const settlementId = await makeDeal(service, { buyer: house(), legs });
    await letSettle(service);
    await reverseSettlement(ctx, person.actor, { settlementId, reason: "wrong credit" });
    await service.work();
    await open("/invoices?env=sandbox&year=2026-27");
    await page.getByRole("cell", { name: "F/2026-27/000001" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    const rows = (await readFile(await (await download).path(), "utf8")).trimEnd().split("\r\n");
    const [heads = [], ...invoices] = rows.map((line) => line.split(","));
    const find = (name: string) => heads.indexOf(name);
    const told = invoices.map((cells) =>
      ["invoice_no", "kind", "fee_rupees"].map((name) => cells[find(name)]).join(" "),
    );
    assert.deepEqual(
      new Set(told),
      new Set(["C/2026-27/000001 credit_note 40.00", "F/2026-27/000001 invoice 40.00"]),
    );
    await open(`/settlements/${settlementId}?env=sandbox`);
    const credits = page.getByRole("table", { name: "Credits of the settlement" });
    assert.equal(await credits.locator("tbody .state").innerText(), "reversed");

    const headers = asBearer((await person.signIn()).token);
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    for (const line of [
      "13/11/2026,HDFCR52026111300001,ADVANCE,,700.00,700.00,A Stranger,99",
      "14/11/2026,HDFCR52026111400001,ADVANCE,,20000000.00,20000700.00,A Stranger,99",
    ]) {
      const content_base64 = Buffer.from(`${heading}\n${line}\n`).toString("base64");
      await ops.send("POST", "/ops/bank/statements", {
        headers,
        body: { content_base64 },
        expect: 200,
      });
    }
    await open("/bank-statements?env=live");
    const drawn = page.getByRole("img", { name: /^Cash at the bank by day/ });
    assert.equal(
      await drawn.getAttribute("aria-label"),
      "Cash at the bank by day: 13 Nov 2026 ₹700, 14 Nov 2026 ₹2,00,00,700 (2 crore)",
    );
    const widths = await drawn
      .locator("rect")
      .evaluateAll((bars) => bars.map((bar) => Number.parseFloat(bar.getAttribute("width") ?? "")));
    assert.ok(widths.length === 2 && (widths[0] ?? 0) < (widths[1] ?? 0), widths.join());
  },
);

test(
  "Today names what the house has to initiate, and a resting order shows its limit",
  { skip },
  async (t) => {
    const {
      service,
      console: { page, open },
    } = await openConsole(t);
    const seller = await openTestDesk(service, "live");
    const buyer = await openTestDesk(service, "live");
    const legs = [{ seller, scripNo: await addCredit(service, seller) }];
    await payIn(service, buyer.firmId, buyerPaise, "live");
    await makeDeal(service, { environment: "live", buyer, legs });
    await service.work();
    const rests = await dealer(service, [{}], { environment: "live" });
    const resting = { side: "sell", scrip_no: rests.scripNo, limit_bps: 9_840 };
    await rests.post("/v1/orders", resting, 201);
    await open("/orders");
    await page.getByRole("row", { name: /₹2,50,000 limit 98\.40 % – open$/ }).waitFor();
    await open("/today");
    await page.getByRole("link", { name: "1 settlement waits to be initiated at customs" }).click();
    await page.getByRole("button", { name: "Record as initiated" }).waitFor();
    await page.getByRole("img", { name: /^Open settlements by age: Within a day 1, / }).waitFor();
  },
);

test("what is missing before live is listed with the page that mends it", { skip }, async (t) => {
  const {
    console: { page, open },
  } = await openConsole(t);
  await open("/today");
  await page.getByText("Missing before a live deal can be done: House in law").waitFor();
  await page.getByRole("link", { name: "Ready for live" }).last().click();
  const steps = page.getByRole("table", { name: "What a live day needs" });
  await steps.getByRole("row", { name: /^House in law missing.*house set --env live/ }).waitFor();
  await steps.getByRole("link", { name: "Set the house" }).click();
  await page.getByRole("heading", { name: "House in law" }).waitFor();
});

test(
  "a first card begins with its starting values, and its preview names no move",
  { skip },
  async (t) => {
    const {
      service,
      console: { page, open },
    } = await openConsole(t);
    await addLiveHouse(service);
    await page.setViewportSize({ width: 390, height: 844 });
    await open("/publish/ROSCTL");
    assert.equal(await page.getByLabel("Mid").inputValue(), "98.35");
    await page.getByText("Face the house buys, ₹ 1,000 crore").waitFor();
    await page.getByLabel("Daily limit").fill("50,00,00,000");
    await page.getByText("Face the house buys, ₹ 50 crore").waitFor();
    await page.getByRole("button", { name: "Preview" }).click();
    const result = page.getByRole("region", { name: "What it would change" });
    await result.getByText("The first card: no price was in force before it.").waitFor();
    await result.getByRole("img", { name: /^Prices in percent/ }).waitFor();
    const letters = await measureLetters(page);
    assert.ok(letters >= lettersLeast, `${letters} pixels`);
    await result.getByRole("row", { name: /Daily limit.*₹50,00,00,000/ }).waitFor();
  },
);

async function listNames({ ctx }: Service, ids: readonly string[]): Promise<string[]> {
  return Object.values(await findNames(ctx.db, ids));
}
