// A directory that a test starts, stops, rotates and sets wrong, and people who sign in there.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestContext } from "node:test";

import type { Page } from "playwright-core";

import { freePort } from "./free-port.ts";
import { runAfter } from "./scope.ts";

export const directorySecret = "a secret of the directory";

export type TestDirectory = {
  readonly issuer: string;
  /** Starts it, anew where it runs: with other keys, and its clock off by so many seconds. */
  readonly start: (shiftS?: number) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export async function openTestDirectory(
  t: Pick<TestContext, "after">,
  redirectUri: string,
): Promise<TestDirectory> {
  const port = await freePort();
  let running: ChildProcess | undefined;
  const stop = async () => {
    const child = running;
    running = undefined;
    if (!child) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  };
  runAfter(t, stop);
  return {
    issuer: `http://127.0.0.1:${port}`,
    stop,
    async start(shiftS = 0) {
      await stop();
      running = fork(join(import.meta.dirname, "directory-process.mjs"), [], {
        env: {
          ...process.env,
          PORT: String(port),
          SHIFT_S: String(shiftS),
          REDIRECT_URI: redirectUri,
        },
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      });
      await once(running, "message");
    },
  };
}

/** Says who one is on the directory's pages, as often as it asks. */
export async function answerDirectory(page: Page, name: string): Promise<void> {
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  const asked = page.getByRole("button", { name: "Continue" });
  await asked.or(page.locator("#console > *").first()).first().waitFor();
  if (await asked.isVisible()) await asked.click();
}
