// The client of client/, against the service.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { inspect } from "node:util";

import {
  type Document,
  joinForms,
  resolveSchema,
  type Schema,
} from "../../client/generate/document.ts";
import {
  type Answer,
  readHead,
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
import { letSettle } from "../support/settlements.ts";

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

test("each example of a body has one of the forms that the types know", async () => {
  const { paths, components } = await readDocument();
  const fits = (body: object, { properties = {}, required = [] }: Schema) =>
    required.every((name) => name in body) &&
    Object.entries(body).every(
      ([name, value]) => properties[name]?.enum?.includes(value) ?? name in properties,
    );
  const seen = new Set<string>();
  for (const { operationId, requestBody } of Object.values(paths).flatMap((item) =>
    Object.values(item),
  )) {
    const { schema = {}, examples = {} } = requestBody?.content["application/json"] ?? {};
    const forms = joinForms(resolveSchema(schema, components));
    for (const [name, { value }] of Object.entries(examples)) {
      if (forms.length > 1) seen.add(operationId);
      assert.ok(
        forms.some((form) => fits(value, form)),
        `${operationId} ${name}`,
      );
    }
  }
  const told = [
    "mintKey",
    "importCredits",
    "takeQuote",
    "placeOrder",
    "proposeAct",
    "quoteCross",
    "replayDeliveries",
    "registerWebhook",
  ];
  assert.deepEqual([...seen].toSorted(), told.toSorted());
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

test("an option that a call does not take is refused before anything is sent", async (t) => {
  const { service, client, answers } = await openClient(t);
  const { key, scripNo } = await dealer(service);
  const seller = new Scripdesk({ base_url: service.url, api_key: key });
  const misspelt = { idempotencyKey: "inv-1" } as object;
  for (let sent = 1; sent <= 2; sent++) {
    await assert.rejects(
      seller.placeOrder({ side: "sell", scrip_no: scripNo }, misspelt),
      new TypeError("placeOrder takes no option idempotencyKey; it is idempotency_key"),
    );
  }
  assert.deepEqual((await seller.listOrders()).orders, []);
  for (const call of [
    () => client.whoAmI({ dry_run: true } as object),
    () => client.whoAmI("erp-7" as unknown as object),
    () => client.listGroups({}, { timeout: 1 } as object),
    () => takeOne(client.streamEvents({}, { idempotency_key: "x" } as object)),
  ]) {
    await assert.rejects(async () => await call(), TypeError);
  }
  assert.deepEqual(answers, []);
  const apiKey = { base_url: service.url, apiKey: "x" };
  assert.throws(
    () => new Scripdesk(apiKey),
    new TypeError("Scripdesk takes no option apiKey; it is api_key"),
  );
});

test("the head of an answer is beside it: its id, what may still be called, whether it is a replay", async (t) => {
  const { service } = await openClient(t);
  const { key, scripNo } = await dealer(service);
  const client = new Scripdesk({ base_url: service.url, api_key: key });
  const options = { idempotency_key: "erp-1", request_id: "erp-7" };
  const made = readHead(await client.createGroup({ name: "made" }, options));
  assert.deepEqual([made.status, made.request_id, made.replayed], [201, "erp-7", false]);
  const { limit, remaining } = made.rate_limit;
  assert.ok(limit !== undefined && remaining !== undefined && remaining < limit);
  const again = readHead(await client.createGroup({ name: "made" }, options));
  assert.deepEqual([again.status, again.replayed], [200, true]);
  assert.equal(again.rate_limit.remaining, remaining - 1);
  const quote = await client.takeQuote({ side: "sell", scrip_no: scripNo });
  assert.ok(quote.no_quote === undefined && quote.side === "sell");
  assert.equal(readHead(quote).quote_valid_until, quote.valid_until);
  assert.equal(readHead(await client.listGroups()).truncated, false);
  assert.throws(() => readHead({}), TypeError);
});

test("an order is waited for until each of its deals has ended", async (t) => {
  const { service } = await openClient(t);
  const { key, scripNo } = await dealer(service);
  const client = new Scripdesk({ base_url: service.url, api_key: key });
  const { order_id } = await client.placeOrder({ side: "sell", scrip_no: scripNo });
  const waiting = { poll_ms: 5, within_ms: 20 };
  await assert.rejects(client.untilSettled(order_id, waiting), { slug: "timed_out" });
  const settling = client.untilSettled(order_id, { poll_ms: 5 });
  await letSettle(service);
  const { order, settlements } = await settling;
  assert.deepEqual(
    [order.status, ...settlements.map(({ status }) => status)],
    ["matched", "settled"],
  );
  await assert.rejects(
    client.untilSettled(order_id, { signal: AbortSignal.abort("enough") }),
    (reason) => reason === "enough",
  );
});
