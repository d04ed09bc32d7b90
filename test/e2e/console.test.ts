// Every page of the console in a real browser, in the light, and one of each kind by axe; `npm run
// test:long` has axe judge all of them, in the dark and on a phone too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { payoutStates } from "../../src/payouts/rules.ts";
import { findSerious } from "../support/axe.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { judgePages, kindsOfPages, listPages, looks } from "../support/console-pages.ts";
import { signInToConsole } from "../support/console.ts";
import { furnishConsole } from "../support/furnished-console.ts";
import { startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const scope = fileScope();
const browse = browser(scope);

/** A service with something on every page, for the tests that change nothing of it. */
let furnished: ReturnType<typeof furnish> | undefined;

async function furnish() {
  const service = await startService(scope);
  const ops = await startOps(scope, service, { twoOperatorsFromPaise: 25_000_000 });
  const person = await addPerson(service, { name: "asha", role: "admin" });
  return { ops, person, details: await furnishConsole(scope, service, ops, person) };
}

test("every page shows what there is, and axe finds nothing serious", { skip }, async (t) => {
  const { ops, person, details } = await (furnished ??= furnish());
  const console = await signInToConsole(t, { browse, ops, person });
  const [detail = "", ...otherDetails] = details;
  const judged = [...kindsOfPages, detail];
  const others = [...listPages, ...otherDetails].filter((path) => !judged.includes(path));
  const full = { isFull: true, by: "go" } as const;
  assert.deepEqual(await judgePages(console, judged, { ...full, of: [looks.light] }), []);
  assert.deepEqual(await judgePages(console, others, { ...full, of: [looks.plain] }), []);
  assert.deepEqual(console.complaints(), []);
});

test("control: axe finds a button that has lost its name", { skip }, async (t) => {
  const { ops, person } = await (furnished ??= furnish());
  const { page, open } = await signInToConsole(t, { browse, ops, person });
  await open("/payouts");
  await page.evaluate(
    "document.querySelector('#page h1').append(document.createElement('button'))",
  );
  const found = await findSerious(page, ["button-name"]);
  assert.deepEqual(
    found.map(({ id }) => id),
    ["button-name"],
  );
});

test("every page says so when there is nothing", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const console = await signInToConsole(t, { browse, ops, person });
  const empty = { of: [looks.plain], isFull: false, by: "go" } as const;
  assert.deepEqual(await judgePages(console, listPages, empty), []);
  await console.open("/payouts");
  const offered = await console.page.evaluate(
    "[...document.querySelectorAll('select[name=status] option')].map(({ value }) => value)",
  );
  assert.deepEqual(offered, ["all", ...payoutStates], "what the document says is offered");
  assert.deepEqual(console.complaints(), []);
});

test("a page that is left while its charts are read complains of nothing", { skip }, async (t) => {
  const { ops, person } = await (furnished ??= furnish());
  const { page, open, complaints } = await signInToConsole(t, { browse, ops, person });
  const asked = Promise.withResolvers<void>();
  await page.route("**/ops/rates?*", () => asked.resolve()); // Never answered.
  await open("/board");
  await asked.promise;
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.getByRole("heading", { name: "Payouts", exact: true }).waitFor();
  assert.deepEqual(complaints(), []);
});

test("the keyboard alone finds, walks, opens and goes from page to page", { skip }, async (t) => {
  const { ops, person } = await (furnished ??= furnish());
  const { page, open } = await signInToConsole(t, { browse, ops, person });
  await open("/payouts");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Payout", exact: true }).waitFor();
  assert.equal(
    await page.evaluate("document.activeElement.tagName"),
    "H1",
    "the heading is read out",
  );
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("Client");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Found for “Client”" }).waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goBack();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
});

test(
  "a viewer sees no act, and a session that ends comes back to the same page",
  { skip },
  async (t) => {
    const service = await startService(t);
    const ops = await startOps(t, service);
    const asha = await addPerson(service, { name: "asha", role: "admin" });
    const mira = await addPerson(service, { name: "mira", role: "viewer", by: [asha] });
    const { page, open } = await signInToConsole(t, { browse, ops, person: mira });
    await open("/board");
    assert.deepEqual(await page.locator("#page").getByRole("button").allInnerTexts(), []);
    assert.equal(await page.getByRole("link", { name: "Bank", exact: true }).count(), 0);
    await open("/bank");
    await page.getByText("The role viewer may not see this.").waitFor();
    await open("/payouts?status=held");
    service.clock.advance({ seconds: 13 * 3_600 });
    await page.keyboard.press("r");
    await page.getByText("Your session has ended.").waitFor();
    await page.getByLabel("Name").fill("mira");
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByLabel("Code").fill(mira.code());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Payouts" }).waitFor();
    assert.equal(await page.getByLabel("State").inputValue(), "held");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
  },
);

test("addresses for notices are added, chosen for and removed on the page", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const { firm_id: deskId } = await service.issue({ environment: "live" });
  const { page, open, act } = await signInToConsole(t, { browse, ops, person });
  await open("/people");
  const said = await act("Add an address", { Address: "Asha@House.example" });
  assert.equal(said, "asha@house.example is added.");
  await page.getByRole("cell", { name: "asha@house.example" }).waitFor();
  await open(`/firms/${deskId}`);
  await page.getByText("No addresses.").waitFor();
  await act("Add an address", { Address: "accounts@acme.example" });
  await page.getByRole("button", { name: "Subscribe" }).click();
  await page.getByRole("dialog").getByLabel("a payout is paid").uncheck();
  await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
  await page.getByRole("cell", { name: /^a payout comes back/ }).waitFor();
  await act("Remove");
  await page.getByText("No addresses.").waitFor();
});

test("a day of the calendar and a tax line are set on the page", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const { page, open, act } = await signInToConsole(t, { browse, ops, person });
  await open("/calendar?year=2027");
  const name = "Declared by the state";
  const day = { Day: "2027-12-07", Office: { choose: "customs" }, Name: name };
  assert.equal(await act("Add a holiday", day), "The holiday is added.");
  const row = page.getByRole("row", { name });
  await row.getByText("confirmed").waitFor();
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  await open("/taxes");
  const gst = { "Effective from": "2027-04-01", "The house's state code": "27" };
  assert.equal(await act("Set GST", gst), "The line is set.");
  await page
    .getByRole("cell", { name: /^9\.00 % and 9\.00 % within 27 Maharashtra, 18\.00 % across$/ })
    .waitFor();
});
