import { migratedVariable, serverVariable, startTestServers, type TestServers } from "./server.ts";

/** As many as there are files tested at once; more at once would share them. */
const serverCount = 3;

let servers: TestServers | undefined;

export async function globalSetup(): Promise<void> {
  servers = await startTestServers(serverCount);
  process.env[serverVariable] = JSON.stringify(servers.connections);
  process.env[migratedVariable] = servers.migratedDir;
}

export async function globalTeardown(): Promise<void> {
  await servers?.stop();
}
