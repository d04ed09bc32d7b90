// The client of client/, against the service.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { inspect } from "node:util";

import type { Document } from "../../client/generate/document.ts";
import {
  type Answer,
  List,
  operations,
  Scripdesk,
  ScripdeskError,
} from "../../client/src/index.ts";
import { newId } from "../../src/kernel/ids.ts";
import { furnishCalls, readDocument } from "../support/client-calls.ts";
import { clientFiles } from "../support/golden.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");

test("the client's types and methods are those of the document", async () => {
  const document = await readDocument();
  for (const [file, write] of Object.entries(clientFiles)) {
    assert.equal(await readFile(file, "utf8"), write(document));
  }
  const { version } = JSON.parse(await readFile(join(root, "client/package.json"), "utf8")) as {
    version: string;
  };
  assert.equal(version, document.info.version);
});

test("a change of the document is a change of the client", async () => {
  const document = await readDocument();
  const changed = structuredClone(document) as {
    components: { schemas: Record<string, { properties: Record<string, object> }> };
    paths: Record<string, Record<string, object>>;
  };
  changed.components.schemas["Order"]!.properties["another"] = { type: "boolean" };
  changed.paths["/v1/another"] = { get: { operationId: "readAnother", responses: {} } };
  for (const [file, write] of Object.entries(clientFiles)) {
    assert.notEqual(await readFile(file, "utf8"), write(changed as unknown as Document));
  }
});

type Method = (...given: unknown[]) => unknown;

async function takeOne(answer: unknown): Promise<unknown> {
  if (answer instanceof List || answer instanceof Promise) return await answer;
  for await (const one of answer as AsyncIterable<unknown>) return one;
  assert.fail("nothing came");
}

test("every operation of the document has a method, and every method is answered by the service", async (t) => {
  const service = await startService(t);
  const { key, calls } = await furnishCalls(service);
  const answers: Answer[] = [];
  const client = new Scripdesk({
    base_url: service.url,
    api_key: key,
    max_retries: 0,
    on_answer: (answer) => answers.push(answer),
  });
  const methods = client as unknown as Readonly<Record<string, Method>>;
  for (const { id, given, options, refused } of calls) {
    answers.length = 0;
    assert.equal(typeof methods[id], "function", `${id} has no method`);
    try {
      const answer = await takeOne(methods[id]?.(...given, options));
      assert.ok(answer, id);
      assert.equal(refused, undefined, `${id} is not refused`);
      // A dry run looks like a real answer otherwise.
      assert.equal((answer as { dry_run?: boolean }).dry_run, options.dry_run, id);
    } catch (error) {
      assert.ok(error instanceof ScripdeskError, `${id}: ${String(error)}`);
      assert.equal(error.slug, refused, `${id}: ${inspect(error)}`);
    }
    assert.deepEqual(
      answers.map(({ operation }) => operation),
      [id],
    );
  }
  assert.deepEqual(calls.map(({ id }) => id).toSorted(), Object.keys(operations).toSorted());
});

async function openClient(
  t: TestContext,
): Promise<{ service: Service; client: Scripdesk; answers: Answer[] }> {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const answers: Answer[] = [];
  const client = new Scripdesk({
    base_url: service.url,
    api_key,
    on_answer: (answer) => answers.push(answer),
  });
  return { service, client, answers };
}

test("a list is walked to its end, a page at a time and no page too many", async (t) => {
  const { client, answers } = await openClient(t);
  const names = Array.from({ length: 7 }, (_, at) => `group ${at}`);
  for (const name of names) await client.createGroup({ name });
  answers.length = 0;
  const walked: string[] = [];
  for await (const { name } of client.listGroups({ limit: 3 })) walked.push(name);
  assert.deepEqual(walked.toSorted(), names);
  assert.equal(answers.length, 3);

  answers.length = 0;
  for await (const { name } of client.listGroups({ limit: 3 })) {
    walked.push(name);
    break;
  }
  assert.equal(answers.length, 1);

  const pages = [];
  for await (const page of client.listGroups({ limit: 5 }).pages()) pages.push(page);
  assert.deepEqual(
    pages.map(({ count, total, has_more }) => ({ count, total, has_more })),
    [
      { count: 5, total: 7, has_more: true },
      { count: 2, total: 7, has_more: false },
    ],
  );

  const first = await client.listGroups({ limit: 2 });
  assert.equal(first.groups.length, 2);
  const rest = await client.listGroups({ limit: 5, cursor: first.next_cursor ?? "" });
  assert.equal(rest.groups.length, 5);
  assert.equal((await client.listGroups()).has_more, false);
});

test("a refusal is an error with the slug, the detail and the request's id", async (t) => {
  const { client } = await openClient(t);
  const request_id = "erp-7";
  await assert.rejects(client.createGroup({ name: "" }, { request_id }), (error) => {
    assert.ok(error instanceof ScripdeskError);
    assert.ok(error instanceof Error);
    assert.equal(error.slug, "unprocessable");
    assert.equal(error.code, "unprocessable");
    assert.equal(error.status, 422);
    assert.match(error.message, /name/);
    assert.ok(Array.isArray(error.detail?.["fields"]));
    assert.equal(error.request_id, "erp-7");
    assert.equal(error.operation, "createGroup");
    assert.equal(error.attempts, 1);
    return true;
  });
  await assert.rejects(client.readOrder("ord_nothing"), { slug: "not_found", status: 404 });
});

test("what is in a path stays in its place", async (t) => {
  const service = await startService(t);
  const { key, scripNo, firmId } = await dealer(service);
  const slashed = "0123/RODTEP/4567";
  await service.ctx.db.pool.query("update credits set scrip_no = $2 where scrip_no = $1", [
    scripNo,
    slashed,
  ]);
  const client = new Scripdesk({ base_url: `${service.url}/`, api_key: key });
  const credit = await client.readCredit(slashed);
  assert.equal(credit.scrip_no, slashed);
  assert.equal(credit.firm_id, firmId);
  for (const nothing of ["", ".", ".."]) {
    await assert.rejects(client.readCredit(nothing), TypeError);
  }
});

test("a write is made once under the key it is given, and tried without being made", async (t) => {
  const { client, answers } = await openClient(t);
  const tried = await client.createGroup({ name: "tried" }, { dry_run: true });
  assert.equal(tried.name, "tried");
  const idempotency_key = "erp-group-1";
  const made = await client.createGroup({ name: "made" }, { idempotency_key });
  const again = await client.createGroup({ name: "made" }, { idempotency_key });
  assert.equal(again.group_id, made.group_id);
  assert.equal(answers.at(-1)?.headers.get("idempotent-replayed"), "true");
  const other = await client.createGroup({ name: "other" });
  assert.notEqual(other.group_id, made.group_id);
  const { groups } = await client.listGroups();
  assert.deepEqual(groups.map(({ name }) => name).toSorted(), ["made", "other"]);
});

test("what is asked for as CSV or PDF comes as text or bytes", async (t) => {
  const { client } = await openClient(t);
  const statement = await client.readStatement("2026-11");
  assert.equal(statement.period, "2026-11");
  assert.match(await client.readStatement("2026-11", { format: "csv" }), /^\uFEFF?line_no,/);
  const pdf = await client.readStatement("2026-11", { format: "pdf" });
  assert.equal(Buffer.from(pdf.subarray(0, 5)).toString(), "%PDF-");
});

test("a client that is printed shows no key", async (t) => {
  const { service } = await openClient(t);
  const api_key = `service_test_${newId("key", service.clock.now())}`;
  const client = new Scripdesk({ base_url: service.url, api_key });
  const error: unknown = await client.whoAmI().catch((reason: unknown) => reason);
  assert.ok(error instanceof ScripdeskError);
  assert.equal(error.slug, "unauthorized");
  const printed = `${inspect(client, { depth: 9, showHidden: true })}${JSON.stringify(client)}${inspect(error, { depth: 9, showHidden: true })}`;
  assert.ok(!printed.includes(api_key));
});
