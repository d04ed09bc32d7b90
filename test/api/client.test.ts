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
  type Operation,
  operations,
  Scripdesk,
  ScripdeskError,
} from "../../client/src/index.ts";
import { newId } from "../../src/kernel/ids.ts";
import { furnishDesks } from "../support/furnished-desks.ts";
import { clientFiles } from "../support/golden.ts";
import type { Fixtures } from "../support/isolation.ts";
import { dealer } from "../support/orders.ts";
import { dealOn, openLiveMarket } from "../support/public.ts";
import { type Service, startService } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");

async function readDocument(): Promise<Document> {
  return JSON.parse(await readFile(join(root, "docs/openapi.json"), "utf8")) as Document;
}

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

const person = {
  name: "Asha Rao",
  email: "asha@exporter.example",
  consent: true,
} as const;

/** What an operation needs beside what a furnished desk has for it. */
function bodiesFor({ ids, bodies }: Fixtures): Record<string, object> {
  const own = (name: string) => ids[name]?.own ?? "";
  return {
    ...bodies,
    mintKey: { name: "probe", kind: "app", scopes: ["quote"] },
    takeQuote: { side: "sell", scrip_no: own("scrip_no") },
    placeOrder: { side: "sell", scheme: "RODTEP", face_paise: 100_000, firm_id: own("firm_id") },
    quoteCross: {
      kind: "intra_group",
      side: "sell",
      firm_id: own("firm_id"),
      counterparty_firm_id: own("quoteCross/counterparty_firm_id"),
      scrip_nos: [own("scrip_no")],
    },
    proposeCross: { cross_quote_ref: own("cross_quote_ref") },
    crossNetting: { netting_ref: own("netting_ref") },
    submitSellEnquiry: { ...person, scheme: "RODTEP", face_paise: 100_000_000 },
    submitBuyEnquiry: { ...person, scheme: "RODTEP", requirement_paise: 100_000_000 },
    submitContactEnquiry: { ...person, message: "Please call me." },
  };
}

const queries: Readonly<Record<string, object>> = {
  estimateEnquiry: { side: "sell", scheme: "RODTEP", amount_paise: 100_000_000 },
  streamEvents: { after_sequence: 0 },
};

/** What a furnished desk is refused, because of the state that its things are in. */
const refused: Readonly<Record<string, string>> = {
  offboardFirm: "conflict",
  withdrawMoney: "conflict",
  crossNetting: "conflict",
  acceptCross: "conflict",
  fundCross: "conflict",
  releaseCross: "conflict",
};

type Method = (...given: unknown[]) => unknown;

async function takeOne(answer: unknown): Promise<unknown> {
  if (answer instanceof List || answer instanceof Promise) return await answer;
  for await (const one of answer as AsyncIterable<unknown>) return one;
  assert.fail("nothing came");
}

test("every operation of the document has a method, and every method is answered by the service", async (t) => {
  const service = await startService(t);
  await openLiveMarket(service);
  await dealOn(service, "2026-11-14", 9_800);
  service.clock.advance({ days: 1 });
  await service.work();
  const { key, fixtures } = (await furnishDesks(service)).root;
  const answers: Answer[] = [];
  const client = new Scripdesk({
    base_url: service.url,
    api_key: key,
    max_retries: 0,
    on_answer: (answer) => answers.push(answer),
  });
  const { enquiry_ref } = await client.submitContactEnquiry({ ...person, message: "First." });
  const document = await readDocument();
  const bodies = bodiesFor(fixtures);
  const fixed: Record<string, string> = { date: "2026-11-14", enquiry_ref };
  const find = (id: string, name: string) =>
    fixed[name] ?? fixtures.ids[`${id}/${name}`]?.own ?? fixtures.ids[name]?.own ?? "";
  const called = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [verb, { operationId: id, parameters = [], requestBody }] of Object.entries(
      methods,
    )) {
      const operation: Operation = operations[id as keyof typeof operations];
      assert.equal(operation.path, path);
      assert.equal(operation.method, verb.toUpperCase());
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => find(id, name));
      const takesQuery = parameters.some((parameter) => parameter.in === "query");
      const schema = requestBody?.content["application/json"]?.schema;
      const takesBody =
        schema !== undefined && (schema.$ref || Object.keys(schema.properties ?? {}).length > 0);
      const options = verb === "get" ? {} : { dry_run: true };
      const given = [
        ...named,
        ...(takesQuery ? [queries[id] ?? {}] : []),
        ...(takesBody ? [bodies[id] ?? {}] : []),
        options,
      ];
      answers.length = 0;
      const method = (client as unknown as Record<string, Method>)[id];
      assert.equal(typeof method, "function", `${id} has no method`);
      try {
        const answer = await takeOne(method?.apply(client, given));
        assert.equal(
          typeof answer,
          id === "exportAudit" || id === "exportRateHistory" ? "string" : "object",
          id,
        );
        assert.equal(refused[id], undefined, `${id} is not refused`);
      } catch (error) {
        assert.ok(error instanceof ScripdeskError, `${id}: ${String(error)}`);
        assert.equal(error.slug, refused[id], `${id}: ${inspect(error)}`);
      }
      assert.deepEqual(
        answers.map(({ operation: name }) => name),
        [id],
      );
      called.add(id);
    }
  }
  assert.deepEqual([...called].toSorted(), Object.keys(operations).toSorted());
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
