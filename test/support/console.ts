// The console in a browser, as a person has it who is signed in: pages, buttons and fields by their
// accessible names.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import type { BrowserContextOptions, Page } from "playwright-core";

import type { Browse } from "./chromium.ts";
import type { OpsService } from "./ops.ts";
import { password, type TestPerson } from "./people.ts";

export type Console = {
  readonly page: Page;
  /** Errors of scripts and broken policies; refusals that the page explains are left out. */
  readonly complaints: () => readonly string[];
  readonly requests: readonly string[];
  readonly open: (path: string) => Promise<void>;
  /** Goes to a page as a link of the console does, which loads nothing anew. */
  readonly go: (path: string) => Promise<void>;
  /** Presses a button and fills the dialog that it opens: texts by label, and lists by their value. */
  readonly act: (button: string, fields?: Fields) => Promise<string>;
};

type Fields = Readonly<
  Record<string, string | { readonly choose: string } | { readonly file: string } | true>
>;

export async function signInToConsole(
  t: Pick<TestContext, "after">,
  { browse, ops, person }: { browse: Browse; ops: OpsService; person: TestPerson },
  options: BrowserContextOptions = {},
): Promise<Console> {
  const { page, complaints, requests } = await browse(t, `${ops.url}/console`, options);
  await page.getByLabel("Name").fill(person.name);
  await page.getByLabel("Password").fill(password);
  await page.getByLabel("Code").fill(person.code());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  const open = async (path: string) => {
    await page.goto(`${ops.url}/console${path}`);
    await page.locator("#page:not([aria-busy]) h1").waitFor();
  };
  return {
    page,
    requests,
    complaints: () => complaints.filter((text) => !/status of 4\d\d/.test(text)),
    open,
    async go(path) {
      await page.locator("#page:not([aria-busy]) h1").waitFor();
      await page.evaluate(`(() => {
        document.querySelector("#page h1").dataset.former = "";
        history.pushState(null, "", ${JSON.stringify(`/console${path}`)});
        dispatchEvent(new PopStateEvent("popstate"));
      })()`);
      await page.locator("#page:not([aria-busy]) h1:not([data-former])").waitFor();
    },
    async act(button, fields = {}) {
      await page.locator("#page").getByRole("button", { name: button }).first().click();
      const dialog = page.getByRole("dialog");
      for (const [label, value] of Object.entries(fields)) {
        const field = dialog.getByLabel(label);
        if (value === true) await field.check();
        else if (typeof value === "string") await field.fill(value);
        else if ("choose" in value) await field.selectOption(value.choose);
        else {
          const buffer = Buffer.from(value.file);
          await field.setInputFiles({ name: "file.csv", mimeType: "text/csv", buffer });
        }
      }
      await dialog.locator("button[type=submit]").click();
      const said = page.locator("#said p").or(dialog.getByRole("alert"));
      await said.first().waitFor();
      assert.equal(
        await dialog.getByRole("alert").isVisible(),
        false,
        await said.first().innerText(),
      );
      return (await page.locator("#said").innerText()).replace(/\s*×$/, "");
    },
  };
}
