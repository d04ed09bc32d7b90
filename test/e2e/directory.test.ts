// Signing in by a real directory: who gets in, with which right, and what whoever misuses it is told.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { Page } from "playwright-core";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { grantRole, disableOperator, listOperators } from "../../src/operators/manage-operators.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { signInToConsole } from "../support/console.ts";
import { answerDirectory, directorySecret, openTestDirectory } from "../support/directory.ts";
import { freePort } from "../support/free-port.ts";
import { startOps } from "../support/ops.ts";
import { addPerson, type TestPerson } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { type Service, startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const scope = fileScope();
const browse = browser(scope);
const shots = process.env["CONSOLE_SHOTS"];

/** A house with two admins of its own and a directory; the directory's clock is the machine's. */
async function openHouse(t: TestContext, shiftS = 0) {
  const service = await startService(t);
  service.clock.advance({ seconds: (Date.now() - service.clock.elapsedMs()) / 1_000 });
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
  const port = await freePort();
  const redirectUri = `http://127.0.0.1:${port}/console/directory/back`;
  const directory = await openTestDirectory(t, redirectUri);
  await directory.start(shiftS);
  const ops = await startOps(t, service, {
    port,
    oidc: {
      issuer: directory.issuer,
      clientId: "scripdesk",
      clientSecret: directorySecret,
      redirectUri,
      group: "scripdesk",
    },
  });
  return { service, ops, directory, asha, ravi };
}

type House = Awaited<ReturnType<typeof openHouse>>;

async function enter(t: TestContext, { ops }: House, name: string): Promise<Page> {
  const { page } = await browse(t, `${ops.url}/console`);
  await page.getByRole("link", { name: "Sign in by the directory" }).click();
  await answerDirectory(page, name);
  return page;
}

const isIn = async (page: Page) => await page.getByRole("button", { name: "Sign out" }).waitFor();
const readWho = async (page: Page) => await page.locator(".who a").innerText();
const readTold = async (page: Page) => await page.locator(".door .panel p").first().innerText();

async function look(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}

async function grant(service: Service, name: string, [first, second]: readonly TestPerson[]) {
  const proposed = await grantRole(service.ctx, first?.actor as never, {
    name,
    role: "settlement",
  });
  assert.equal(proposed.outcome, "proposed");
  const decide = { approvalId: proposed.approval_id ?? "", kinds: approvalKinds };
  await approveProposal(service.ctx, second?.actor as never, decide);
}

test(
  "the directory lets in viewers, two admins grant a role, and approving takes a fresh sign-in",
  { skip },
  async (t) => {
    const house = await openHouse(t);
    const { service, ops, asha, ravi } = house;
    const page = await enter(t, house, "lena");
    await isIn(page);
    assert.match(await readWho(page), /^lena\s+viewer$/);
    const [lena] = (await listOperators(service.ctx)).slice(-1);
    assert.deepEqual(
      [lena?.role, lena?.directory, lena?.created_by],
      ["viewer", true, "directory"],
    );
    await page.goto(`${ops.url}/console/people`);
    await page.locator("tbody tr").first().waitFor();
    await look(page, "directory-people");
    assert.equal(await page.getByRole("button", { name: "Invite…" }).count(), 0);

    await grant(service, "lena", [asha, ravi]);
    const mira = await grantRole(service.ctx, asha.actor, { name: "lena", role: "admin" });
    await page.goto(`${ops.url}/console/approvals`);
    await page.getByText("operator.grant").or(page.getByText("becomes admin")).first().waitFor();
    assert.match(await readWho(page), /settlement$/);
    await approveProposal(service.ctx, ravi.actor, {
      approvalId: mira.approval_id ?? "",
      kinds: approvalKinds,
    });

    const asked = await grantRole(service.ctx, asha.actor, { name: "ravi", role: "dealer" });
    service.clock.advance({ seconds: 301 });
    await page.goto(`${ops.url}/console/approvals/${asked.approval_id ?? ""}`);
    const approve = async () => {
      await page.locator("#page").getByRole("button", { name: "Approve…" }).click();
      await page.getByRole("dialog").locator("button[type=submit]").click();
    };
    await approve();
    await page.getByRole("button", { name: "Sign in again" }).waitFor();
    assert.match(await page.getByRole("alert").innerText(), /to approve, sign in again/i);
    await look(page, "directory-again");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await answerDirectory(page, "lena");
    await isIn(page);
    assert.match(page.url(), new RegExp(`/console/approvals/${asked.approval_id ?? ""}$`));
    await approve();
    await page.locator("#said p").or(page.locator(".reveal")).first().waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    const roles = Object.fromEntries(
      (await listOperators(service.ctx)).map(({ name, role }) => [name, role]),
    );
    assert.deepEqual(roles, { asha: "admin", ravi: "dealer", lena: "admin" });

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(/session\/end/);
    const answer = await page.request.get(`${ops.url}/ops/whoami`, {
      headers: { "x-scripdesk-console": "1" },
    });
    assert.equal(answer.status(), 401);
  },
);

test(
  "keys may be rotated, and the directory's clock may be off by a minute either way",
  { skip },
  async (t) => {
    const house = await openHouse(t);
    for (const shiftS of [0, 60, -60]) {
      await house.directory.start(shiftS);
      const page = await enter(t, house, "lena");
      await isIn(page);
    }
  },
);

test(
  "a code that was used, a stolen state and a link without its browser are refused",
  { skip },
  async (t) => {
    const house = await openHouse(t);
    const { ops } = house;
    const { page } = await browse(t, `${ops.url}/console`);
    let back = "";
    let cookies = "";
    page.on("request", (request) => {
      if (!request.url().includes("/console/directory/back")) return;
      back = request.url();
    });
    await page.getByRole("link", { name: "Sign in by the directory" }).click();
    await page.locator("input[name=login]").waitFor();
    cookies = (await page.context().cookies(`${ops.url}/console/directory`))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
    await answerDirectory(page, "lena");
    await isIn(page);
    const follow = async (url: string, cookie: string) => {
      const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
      assert.equal(
        answer.headers.getSetCookie().some((one) => one.includes("operator_")),
        false,
      );
      return `${answer.status} ${answer.headers.get("location") ?? ""}`;
    };
    assert.equal(await follow(back, cookies), "303 /console?refused=directory_refused", "used");
    assert.equal(await follow(back, ""), "303 /console?refused=sign_in_lost", "no browser");
    assert.equal(await follow(back, "scripdesk_flow=AAAA"), "303 /console?refused=sign_in_lost");

    const { page: other } = await browse(t, `${ops.url}/console`);
    await other.getByRole("link", { name: "Sign in by the directory" }).click();
    await other.locator("input[name=login]").waitFor();
    await other.goto(back);
    await other.waitForURL(`${ops.url}/console`);
    assert.match(await readTold(other), /did not confirm/, "somebody else's state and code");
    await other.goto(back);
    await other.waitForURL(`${ops.url}/console`);
    assert.match(await readTold(other), /was not begun in this browser/);
    await look(other, "directory-lost");
    assert.equal(
      await follow(`${ops.url}/console/directory/back?error=access_denied&state=x`, cookies),
      "303 /console?refused=directory_refused",
    );
    const away = await fetch(`${ops.url}/console/directory?to=https://evil.example`, {
      redirect: "manual",
    });
    assert.ok(away.headers.get("location")?.startsWith(house.directory.issuer));
  },
);

test(
  "who is not assigned, disabled or bears a taken name is told so and does not get in",
  { skip },
  async (t) => {
    const house = await openHouse(t);
    const { service, asha } = house;
    assert.match(await readTold(await enter(t, house, "stranger")), /does not let you in/);
    assert.match(await readTold(await enter(t, house, "Asha")), /has your name/);
    await isIn(await enter(t, house, "lena"));
    await disableOperator(service.ctx, asha.actor, "lena");
    assert.match(await readTold(await enter(t, house, "lena")), /disabled/);
    assert.deepEqual(
      (await listOperators(service.ctx)).map(({ name }) => name),
      ["asha", "ravi", "lena"],
    );
  },
);

test("a directory that is down is said, and a password still signs in", { skip }, async (t) => {
  const house = await openHouse(t);
  const { ops, directory, asha } = house;
  await directory.stop();
  const { page } = await browse(t, `${ops.url}/console`);
  await page.getByRole("link", { name: "Sign in by the directory" }).click();
  await page.waitForURL(`${ops.url}/console`);
  assert.match(await readTold(page), /cannot be reached/);
  await look(page, "directory-down");
  await signInToConsole(t, { browse, ops, person: asha });
});
