import { globSync } from "node:fs";
import { rm } from "node:fs/promises";

import { takenVariable } from "./run-files.ts";
import { scratchFolder } from "./scratch.ts";
import { migratedVariable, serverVariable, startTestServers, type TestServers } from "./server.ts";

/** More files tested at once would share them. */
const serversMax = 3;

let servers: TestServers | undefined;
let taken: string | undefined;

export async function globalSetup(): Promise<void> {
  taken = await scratchFolder("scripdesk-taken-");
  process.env[takenVariable] = taken;
  servers = await startTestServers(Math.min(serversMax, countFiles()));
  process.env[serverVariable] = JSON.stringify(servers.connections);
  process.env[migratedVariable] = servers.migratedDir;
}

/** The files that this run of the test runner was given, by name or by pattern. */
function countFiles(): number {
  return globSync(process.argv.slice(1)).length || serversMax;
}

export async function globalTeardown(): Promise<void> {
  await servers?.stop();
  if (taken !== undefined) await rm(taken, { recursive: true, force: true });
}
