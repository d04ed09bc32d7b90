// A short run of `npm run faults -- fuzz`, and the two defects that it must find.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import { Type } from "typebox";

import { sql } from "../../src/platform/postgres/postgres.ts";
import { fuzz, type Json } from "../faults/fuzz.ts";
import { openApiFile } from "../support/golden.ts";
import { startService } from "../support/service.ts";

const seed = 20_261_115;

let document: Json;

before(async () => {
  document = JSON.parse(await readFile(openApiFile, "utf8"));
});

/** A document of one operation, whose answers are as the others'. */
function buildDocument(path: string, { response }: { response: object }): Json {
  const { responses } = document.paths["/v1/keys"].get;
  const text = { name: "text", in: "query", schema: { type: "string", examples: ["hello"] } };
  const answer = { content: { "application/json": { schema: response } } };
  const get = {
    operationId: "naive",
    parameters: [text],
    responses: { ...responses, 200: answer },
  };
  return { ...document, paths: { [path]: { get } } };
}

test("no request causes a 5xx, and every answer matches the OpenAPI document", async (t) => {
  // Most of it would be turned away at the budget of one address otherwise.
  const plenty = { perMinute: 1_000_000 };
  const service = await startService(t, { publicBudgets: { rates: plenty, enquiry: plenty } });
  const { api_key: key } = await service.issue();
  const report = await fuzz({ url: service.url, key, document, count: 2_500, seed });
  assert.deepEqual(report.failures, []);
  assert.equal(report.failed, 0);
  // A run that is refused at the door proves little: it must have reached every kind of answer.
  for (const status of [200, 201, 400, 401, 403, 404, 409, 415, 422]) {
    assert.ok((report.byStatus[status] ?? 0) > 0, `some ${status}`);
  }
  assert.equal(
    Object.keys(report.byOperation).length,
    1 + Object.values<object>(document.paths).flatMap((item) => Object.keys(item)).length,
  );
});

test("control: the fuzzer finds a route that passes raw text to PostgreSQL", async (t) => {
  const service = await startService(t, {
    routes(app, { db }) {
      const querystring = Type.Object({ text: Type.Optional(Type.String()) });
      const options = { config: { demand: "any key" as const }, schema: { querystring } };
      app.get("/test/naive", options, async ({ query }) => {
        // The edge refuses NUL in a query, so this one trips over any text that is no number.
        const [row] = await db.rows<object>(sql`select ${query.text ?? "0"}::numeric as length`);
        return row;
      });
    },
  });
  const { api_key: key } = await service.issue();
  const naive = buildDocument("/test/naive", { response: { type: "object" } });
  const report = await fuzz({ url: service.url, key, document: naive, count: 300, seed });
  assert.ok((report.byStatus[200] ?? 0) > 0);
  assert.ok((report.byStatus[500] ?? 0) > 0);
  assert.ok(report.failed >= report.byStatus[500]!);
  assert.match(report.failures.join("\n"), /500 .*"internal"/);
});

test("control: the fuzzer finds a route whose answer breaks its schema", async (t) => {
  const service = await startService(t, {
    routes(app) {
      app.get("/test/naive", { config: { demand: "any key" } }, async () => ({ length: "5" }));
    },
  });
  const { api_key: key } = await service.issue();
  const response = { type: "object", properties: { length: { type: "integer" } } };
  const naive = buildDocument("/test/naive", { response });
  const report = await fuzz({ url: service.url, key, document: naive, count: 50, seed });
  assert.equal(report.byStatus[500], undefined);
  assert.match(
    report.failures.join("\n"),
    /200 is not as documented: data\/length must be integer/,
  );
});
