import { rm } from "node:fs/promises";

import { takenVariable } from "./run-files.ts";
import { scratchFolder } from "./scratch.ts";
import { migratedVariable, serverVariable, startTestServers, type TestServers } from "./server.ts";

/** As many as there are files tested at once; more at once would share them. */
const serverCount = 3;

let servers: TestServers | undefined;
let taken: string | undefined;

export async function globalSetup(): Promise<void> {
  taken = await scratchFolder("scripdesk-taken-");
  process.env[takenVariable] = taken;
  servers = await startTestServers(serverCount);
  process.env[serverVariable] = JSON.stringify(servers.connections);
  process.env[migratedVariable] = servers.migratedDir;
}

export async function globalTeardown(): Promise<void> {
  await servers?.stop();
  if (taken !== undefined) await rm(taken, { recursive: true, force: true });
}
