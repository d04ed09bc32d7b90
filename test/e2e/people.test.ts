// How a person gets in, as they see it: the link, the QR code, the recovery codes, and a lost phone.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import type { Page } from "playwright-core";

import { operator } from "../../src/kernel/actor.ts";
import { computeCode, computeStep, fromBase32 } from "../../src/operators/credentials.ts";
import { addOperator } from "../../src/operators/manage-operators.ts";
import { findSerious } from "../support/axe.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { startOps } from "../support/ops.ts";
import { password } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { type Service, startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const scope = fileScope();
const browse = browser(scope);

/** Where pictures go, for whoever wants to look at them. */
const shots = process.env["CONSOLE_SHOTS"];

async function look(page: Page, name: string): Promise<void> {
  for (const [look, colorScheme, width] of [
    ["light", "light", 1_360],
    ["dark", "dark", 1_360],
    ["phone", "light", 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    if (shots !== undefined) {
      await mkdir(shots, { recursive: true });
      await page.waitForTimeout(200);
      await page.screenshot({ path: join(shots, `${name}-${look}.png`), fullPage: true });
    }
    assert.deepEqual(await findSerious(page), [], `${name} ${look}`);
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    assert.ok(wide <= 0, `${name} ${look} is ${wide} too wide`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1_360, height: 900 });
}

function showCode({ clock }: Service, secret: string): string {
  clock.advance({ seconds: 30 });
  return computeCode(fromBase32(secret), computeStep(clock.now()));
}

const readSecret = async (page: Page) =>
  (await page.locator(".offer code").first().innerText()).replaceAll(/\s/g, "");
const readCodes = async (page: Page) => await page.locator(".recovery code").allInnerTexts();

test("a person enrols by the link, loses the phone and takes another one", { skip }, async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const { code } = await addOperator(service.ctx, operator, { name: "Asha Rao", role: "admin" });
  const invited = new URLSearchParams({ name: "Asha Rao", code }).toString();
  const { page, complaints, requests } = await browse(t, `${ops.url}/console/enrol#${invited}`);

  await page.getByLabel("New password").fill(password);
  assert.equal(await page.getByLabel("Name").inputValue(), "Asha Rao");
  assert.equal(await page.getByLabel("Codes").inputValue(), code);
  assert.equal(page.url(), `${ops.url}/console/enrol`, "the code is not left in the address");
  await look(page, "enrol");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  await look(page, "enrol-authenticator");
  const secret = await readSecret(page);
  await page.getByRole("textbox", { name: "Code" }).fill("000000");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("alert").waitFor();
  await look(page, "enrol-wrong-code");
  await page.getByRole("textbox", { name: "Code" }).fill(showCode(service, secret));
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  const codes = await readCodes(page);
  assert.equal(codes.length, 10);
  await look(page, "enrol-recovery-codes");

  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("Name").fill("Asha Rao");
  await look(page, "sign-in");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("textbox", { name: "Code" }).fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: /^Asha Rao/ }).click();
  await page.getByText("Recovery codes left").waitFor();
  assert.match(await page.locator(".facts").innerText(), /Recovery codes left\s+9/);
  await look(page, "my-sign-in");

  await page.getByRole("button", { name: "New authenticator…" }).click();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("textbox", { name: "Code" }).fill(codes[1] ?? "");
  await look(page, "new-authenticator-proof");
  await page.getByRole("button", { name: "New authenticator", exact: true }).click();
  await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  await look(page, "new-authenticator");
  const another = await readSecret(page);
  assert.notEqual(another, secret);
  await page.getByRole("textbox", { name: "Code" }).fill(showCode(service, another));
  await page.getByRole("button", { name: "Confirm the new authenticator" }).click();
  await page.getByLabel("Recovery codes").waitFor();
  await look(page, "new-authenticator-done");
  assert.equal((await readCodes(page)).includes(codes[2] ?? ""), false);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();

  await page.getByLabel("Name").fill("Asha Rao");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("textbox", { name: "Code" }).fill(showCode(service, another));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(ops.url)),
    [],
    "nobody else is asked",
  );
  assert.deepEqual(
    complaints.filter((text) => !/status of 4\d\d/.test(text)),
    [],
  );
});
