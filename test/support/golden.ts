// `npm run golden` writes the golden files anew; the diff is then reviewed like code.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import pg from "pg";

import type { Document } from "../../client/generate/document.ts";
import { writePythonOperations, writePythonSchemas } from "../../client/generate/python.ts";
import { writeOperations, writeSchemas } from "../../client/generate/typescript.ts";
import { describeOps } from "../../src/ops/openapi.ts";
import { dumpSchema } from "./schema-dump.ts";
import { serverVariable, startTestServer, templateDatabase } from "./server.ts";
import { startService } from "./service.ts";

const root = join(import.meta.dirname, "../..");

export const openApiFile = join(root, "docs/openapi.json");
export const opsOpenApiFile = join(root, "docs/ops-openapi.json");
export const clientFiles = {
  [join(root, "client/src/schemas.ts")]: writeSchemas,
  [join(root, "client/src/operations.ts")]: writeOperations,
  [join(root, "client/python/scripdesk_client/schemas.py")]: writePythonSchemas,
  [join(root, "client/python/scripdesk_client/operations.py")]: writePythonOperations,
};
export const schemaFile = join(root, "migrations/schema.sql");

export function openApiText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function writeGoldenFiles(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: unknown) => stack.defer(work as () => Promise<void>) }; // As a test context.
  const server = await startTestServer();
  stack.defer(() => server.stop());
  process.env[serverVariable] = JSON.stringify([server.connection]);

  const service = await startService(scope);
  const document = (await service.send("GET", "/v1/openapi.json")).body as Document;
  await writeFile(openApiFile, openApiText(document));
  for (const [file, write] of Object.entries(clientFiles)) {
    await writeFile(file, write(document));
  }

  await writeFile(opsOpenApiFile, openApiText(describeOps()));

  const template = new pg.Client({ ...server.connection, database: templateDatabase });
  await template.connect();
  await writeFile(schemaFile, await dumpSchema(template));
  await template.end();
}

if (import.meta.main) await writeGoldenFiles();
