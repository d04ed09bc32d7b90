import { serverVariable, startTestServer, type TestServer } from "./server.ts";

let server: TestServer | undefined;

export async function globalSetup(): Promise<void> {
  server = await startTestServer();
  process.env[serverVariable] = JSON.stringify(server.connection);
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
}
