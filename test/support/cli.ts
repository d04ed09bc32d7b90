// The command line as an operator runs it, beside a service of a test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { testServer } from "./database.ts";
import { commands, type RunCommand, type Settings } from "./process.ts";
import type { Service } from "./service.ts";

/** Commands read the machine's clock, so from here on the service beside them stands at it too. */
export async function commandLine(
  t: Pick<TestContext, "after">,
  { ctx, clock, masterKey }: Service,
  settings: Settings = {},
): Promise<{ dataDir: string; run: RunCommand }> {
  clock.set(new Date());
  const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-cli-"));
  t.after(async () => await rm(dataDir, { recursive: true, force: true }));
  const run = commands(t, {
    DATA_DIR: dataDir,
    DATABASE_URL: await databaseUrlFor(ctx),
    MASTER_KEY: masterKey.toString("hex"),
    ...settings,
  });
  return { dataDir, run };
}

export async function databaseUrlFor({ db }: Pick<Service["ctx"], "db">): Promise<string> {
  const { rows } = await db.pool.query<{ name: string }>("select current_database() as name");
  return databaseUrl(rows[0]?.name ?? "");
}

function databaseUrl(database: string): string {
  const { host = "127.0.0.1", port = 5432, user = "", password } = testServer();
  const secret = typeof password === "string" ? `:${encodeURIComponent(password)}` : "";
  // A socket's folder cannot be the host of a URL; it goes into the query.
  if (host.startsWith("/")) {
    return `postgres://${user}${secret}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  }
  return `postgres://${user}${secret}@${host}:${port}/${database}`;
}
