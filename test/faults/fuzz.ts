// Requests made from our own OpenAPI document, most of them wrong in one way, sent to a running
// service. Two things must hold for every answer: it is no 5xx, and it is what the document says.
//
//   generator   a request from a seed and an index: the same two make the same request
//   sender      a bounded number of requests at once over kept-alive connections
//   judge       status, headers and body of each answer against the document
//
// Ids that the service gave out are used again in later paths, so that requests also reach what
// exists. These depend on the order of answers; everything else is replayed exactly.

import { Agent, request as openRequest } from "node:http";

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import type { Answer } from "../support/service.ts";

export type FuzzOptions = {
  readonly url: string;
  /** A sandbox root key: unmetered, and allowed to do everything. */
  readonly key: string;
  readonly document: Json;
  readonly count: number;
  readonly seed: number;
  readonly concurrency?: number;
  readonly onProgress?: (sent: number) => void;
};

export type FuzzReport = {
  readonly sent: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Answers of each operation by status; `unmatched` for requests that reach none. */
  readonly byOperation: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly failed: number;
  /** The first of what failed, each with the request that shows it. */
  readonly failures: readonly string[];
};

/** The document and the answers are data that is walked freely. */
export type Json = Answer["body"];

type Operation = {
  readonly name: string;
  readonly method: string;
  readonly template: string;
  readonly form: RegExp;
  readonly parameters: readonly { name: string; in: string; schema: Json }[];
  readonly body: Json;
  readonly responses: Json;
  /** The media types of a 200 besides those of its content. */
  readonly formats: readonly string[];
};

type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
  readonly chunked: boolean;
};

type Reply = { readonly status: number; readonly headers: Headers; readonly text: string };

const concurrencyDefault = 16;
const failuresShown = 20;
const answerTimeoutMs = 30_000;
const poolMax = 500;
const bodyBytesMax = 1_048_576;
const linesBytesMax = 1_048_576;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { url, document, count, seed, concurrency = concurrencyDefault } = options;
  const operations = listOperations(document);
  const weighted = weightedBy(operations);
  const judge = judgeBy(document, operations);
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const keys = await callers(url, agent, options.key);
  const ids: string[] = [];
  const byStatus: Record<string, number> = {};
  const byOperation: Record<string, Record<string, number>> = {};
  const failures: string[] = [];
  let failed = 0;
  let next = 0;

  async function work(): Promise<void> {
    while (next < count) {
      const index = next++;
      const request = buildRequest(new Chance(seed, index), { weighted, keys, ids });
      let problem: string | undefined;
      try {
        const reply = await exchange(url, agent, request);
        const operation = operationFor(operations, request);
        const name = operation?.name ?? "unmatched";
        byStatus[reply.status] = (byStatus[reply.status] ?? 0) + 1;
        const statuses = (byOperation[name] ??= {});
        statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
        problem = judge(request, operation, reply);
        if (reply.status === 201) remember(ids, operations, reply.text);
      } catch (error) {
        problem = `no answer: ${(error as Error).message}`;
      }
      if (problem !== undefined) {
        failed += 1;
        if (failures.length < failuresShown) {
          failures.push(`seed ${seed}, request ${index}: ${problem}\n${formatRequest(request)}`);
        }
      }
      options.onProgress?.(index + 1);
    }
  }

  await Promise.all(Array.from({ length: concurrency }, work));
  agent.destroy();
  return { sent: count, byStatus, byOperation, failed, failures };
}

function listOperations(document: Json): Operation[] {
  const resolved = (value: Json): Json =>
    value?.$ref ? resolveReference(document, value.$ref) : value;
  const operations: Operation[] = [];
  for (const [template, item] of Object.entries<Json>(document.paths)) {
    const escaped = template.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
    const form = new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, "[^/]*")}$`);
    for (const [method, operation] of Object.entries<Json>(item)) {
      operations.push({
        name: operation.operationId,
        method: method.toUpperCase(),
        template,
        form,
        parameters: (operation.parameters ?? []).map(resolved),
        body: resolved(operation.requestBody)?.content["application/json"].schema,
        responses: operation.responses,
        formats: Object.values<string>(operation["x-formats"] ?? {}),
      });
    }
  }
  return operations.map((operation) => ({
    ...operation,
    body: operation.body && inlineReferences(document, operation.body),
  }));
}

/** A schema without references; request bodies are small and not recursive. */
function inlineReferences(document: Json, schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item) => inlineReferences(document, item));
  if (typeof schema !== "object" || schema === null) return schema;
  if (typeof schema.$ref === "string")
    return inlineReferences(document, resolveReference(document, schema.$ref));
  return Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, inlineReferences(document, member)]),
  );
}

function resolveReference(document: Json, reference: string): Json {
  const names = reference.slice(2).split("/");
  return names.reduce(
    (value, name) => value[name.replaceAll("~1", "/").replaceAll("~0", "~")],
    document,
  );
}

/** A root key, a child without scopes of interest, a revoked one, and texts that are no key. */
async function callers(url: string, agent: Agent, root: string): Promise<string[]> {
  const call = async (method: string, path: string, body?: object): Promise<Json> => {
    const headers = { "x-service-key": root, ...(body && { "content-type": "application/json" }) };
    const bytes = body && Buffer.from(JSON.stringify(body));
    const reply = await exchange(url, agent, {
      method,
      path,
      headers,
      body: bytes,
      chunked: false,
    });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text);
  };
  const body = { name: "fuzz", kind: "app", scopes: ["quote"] };
  const child = await call("POST", "/v1/keys", body);
  const revoked = await call("POST", "/v1/keys", body);
  await call("DELETE", `/v1/keys/${revoked.key_id}`);
  const altered = `${root.slice(0, -1)}${root.endsWith("a") ? "b" : "a"}`;
  return [root, child.api_key, revoked.api_key, altered, "", "x", "service_live_", "é"];
}

/** Numbers from a seed and an index, by the mulberry32 generator. */
class Chance {
  #state: number;
  constructor(seed: number, index: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  }

  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  is(probability: number): boolean {
    return this.number() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.number() * limit);
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item; // Never asked of an empty list.
  }
}

const oddMethods =
  "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND MKCOL LOCK SEARCH PURGE QUERY LINK".split(
    " ",
  );

const hostileTexts: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udfff tail",
  "😀".repeat(101),
  "e" + "\u0301".repeat(300),
  "\u202Egnp",
  "\u2028\u2029\u0085",
  "\uFEFF",
  "\uFFFF",
  "\u007f\u0001\u001b[31m",
  "x".repeat(100),
  "x".repeat(101),
  "x".repeat(1_025),
  "x".repeat(65_537),
  "' or 1=1; --",
  "$1",
  "\\",
  '"',
  "%s%n%00",
  "../../../../etc/passwd",
  "\r\nX-Injected: 1",
  "<script>",
  "null",
  "true",
  "0",
  "-1",
  "1.5",
  "1e1",
  "0x10",
  "NaN",
  "Infinity",
  "99999999999999999999",
  "__proto__",
  "constructor",
  "toString",
  "*",
  "0000-01",
  "0001-02",
  "2999-12",
  "9999-12",
  "2026-13",
  "0000-01-01T00:00:00Z",
  "0001-01-01T00:00:00+23:59",
  "9999-12-31T23:59:59Z",
  "9999-12-31T23:59:59.999999999-23:59",
  "2027-02-29T00:00:00Z",
  "2028-02-29T24:00:00Z",
  "2027-01-01T23:59:60Z",
  "2027-01-01t00:00:00z",
  "+275760-09-13T00:00:00Z",
  "0.0.0.0/0",
  "::/0",
  "::ffff:1.2.3.4/128",
  "1.2.3.4/33",
  "fe80::1%eth0",
  "frm_00000000000000000000000000",
  "key_00000000000000000000000000",
  "key_zzzzzzzzzzzzzzzzzzzzzzzzzz",
];

/** Number tokens as JSON text writes them; some are more than a reader can hold. */
const numberTokens: readonly string[] = [
  ..."0 -0 1 -1 0.5 1.5 1.0 1e0 1e-7 1e2 -1e400 1e400 127 128 255 256 32767 32768".split(" "),
  ..."2147483647 2147483648 -2147483649 4294967296 9007199254740991 9007199254740992".split(" "),
  ..."9007199254740993 -9007199254740993 9223372036854775807 9223372036854775808".split(" "),
  ..."18446744073709551616 1e21 1e308 1.7976931348623159e308 5e-324 123456789012345678901234567890".split(
    " ",
  ),
];

const contentTypes: readonly string[] = [
  "text/plain",
  "application/json; charset=utf-16",
  "application/json; charset=utf-8",
  "APPLICATION/JSON",
  "application/jsonx",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application",
  ";",
  "*/*",
  "",
];

type World = {
  readonly weighted: readonly Operation[];
  readonly keys: readonly string[];
  readonly ids: readonly string[];
};

/** What takes a body or a query can be wrong in more ways, so it is asked more often. */
function weightedBy(operations: readonly Operation[]): Operation[] {
  return operations.flatMap((operation) => {
    const takesQuery = operation.parameters.some((parameter) => parameter.in === "query");
    const weight = 2 + (operation.body ? 7 : 0) + (takesQuery ? 2 : 0);
    return Array.from({ length: weight }, () => operation);
  });
}

function buildRequest(chance: Chance, { weighted, keys, ids }: World): Request {
  const operation = chance.one(weighted);
  const method = chance.is(0.05) ? chance.one(oddMethods) : operation.method;
  const headers = buildHeaders(chance, keys);
  const path = buildPath(chance, operation, ids) + buildQuery(chance, operation);
  const sendsBody = operation.body !== undefined || chance.is(0.05);
  if (!sendsBody) return { method, path, headers, body: undefined, chunked: false };
  const body = buildBody(chance, operation.body);
  if (chance.is(0.94)) headers["content-type"] = "application/json";
  else if (chance.is(0.8)) headers["content-type"] = chance.one(contentTypes);
  if (chance.is(0.02)) headers["content-encoding"] = chance.one(["gzip", "br", "identity", "x"]);
  return { method, path, headers, body, chunked: chance.is(0.2) };
}

function buildHeaders(chance: Chance, keys: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const headerText = () => printable(chance.one(hostileTexts)).slice(0, 2_000);
  const key = chance.is(0.9) ? keys[0] : chance.one([...keys, undefined]);
  if (key !== undefined) headers["x-service-key"] = printable(key);
  if (chance.is(0.15)) headers["x-request-id"] = chance.is(0.5) ? "fuzz:1" : headerText();
  if (chance.is(0.15)) headers["x-dry-run"] = chance.is(0.6) ? "1" : headerText();
  if (chance.is(0.2)) {
    headers["idempotency-key"] = chance.is(0.7) ? `fuzz-${chance.below(50)}` : headerText();
  }
  if (chance.is(0.03)) headers["accept"] = headerText();
  if (chance.is(0.02)) headers["expect"] = headerText();
  if (chance.is(0.02)) headers["x-forwarded-for"] = headerText();
  if (chance.is(0.02)) headers["if-none-match"] = headerText();
  if (chance.is(0.02)) headers["host"] = headerText();
  return headers;
}

/** What a header may hold; the rest is the business of tests that write to the socket. */
function printable(text: string): string {
  return text.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, "?");
}

function buildPath(chance: Chance, { template }: Operation, ids: readonly string[]): string {
  const path = template.replaceAll(/\{\w+\}/g, () => {
    if (ids.length > 0 && chance.is(0.6)) return chance.one(ids);
    return encoded(chance.one(hostileTexts)).slice(0, 8_000);
  });
  if (chance.is(0.96)) return path;
  return chance.one([
    () => `${path}/`,
    () => `/${path}`,
    () => path.toUpperCase(),
    () => `${path}%00`,
    () => `${path}%zz`,
    () => `${path}%ff`,
    () => `${path};a=b`,
    () => `${path}/..;/`,
    () => path.replace("/v1", "/v2"),
    () => path.replace("e", "%65"),
    () => `${path}/${encoded(chance.one(hostileTexts)).slice(0, 4_000)}`,
    () => path.slice(0, -1),
  ])();
}

function buildQuery(chance: Chance, { parameters }: Operation): string {
  const pairs: string[] = [];
  for (const { name, in: place, schema } of parameters) {
    if (place !== "query" || chance.is(0.3)) continue;
    const text = () =>
      chance.is(0.6)
        ? String(validValue(chance, schema))
        : chance.one(hostileTexts).slice(0, 4_000);
    pairs.push(`${name}=${encoded(text())}`);
    if (chance.is(0.05)) pairs.push(`${name}=${encoded(text())}`);
  }
  if (chance.is(0.05)) pairs.push(`${encoded(chance.one(hostileTexts)).slice(0, 100)}=1`);
  if (chance.is(0.01)) pairs.push("%zz=%ff&&=&");
  return pairs.length > 0 ? `?${pairs.join("&")}` : "";
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** A body that is right, wrong in one value, or wrong as text. */
function buildBody(chance: Chance, schema: Json): Buffer {
  const value = schema ? validValue(chance, schema) : {};
  if (schema && chance.is(0.6)) damage(chance, value, schema);
  const text = jsonText(value);
  return chance.is(0.75) ? Buffer.from(text) : damagedText(chance, text);
}

const rawMark = "\u0002raw:";

/** JSON text in which a marked text stands for the bare token behind the mark. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"\\u0002raw:([^"]*)"/g, "$1");
}

function validValue(chance: Chance, schema: Json): Json {
  if (schema.enum) return chance.one(schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return validValue(chance, chance.one(alternatives));
  switch (Array.isArray(schema.type) ? chance.one(schema.type) : schema.type) {
    case "object":
      return validObject(chance, schema);
    case "array": {
      const least = schema.minItems ?? 0;
      const most = Math.min(schema.maxItems ?? 3, least + 3);
      const length = least + chance.below(most - least + 1);
      return Array.from({ length }, () => validValue(chance, schema.items ?? {}));
    }
    case "integer":
    case "number": {
      const least = schema.minimum ?? 0;
      const most = schema.maximum ?? Number.MAX_SAFE_INTEGER;
      return chance.one([least, most, least + chance.below(Math.min(10, most - least + 1))]);
    }
    case "boolean":
      return chance.is(0.5);
    case "null":
      return null;
    case "string": {
      if (schema.examples?.length > 0 && chance.is(0.8)) return chance.one(schema.examples);
      const least = schema.minLength ?? 0;
      const most = Math.min(schema.maxLength ?? 40, 200);
      return "ख".repeat(chance.one([least, most, least + chance.below(most - least + 1)]));
    }
    default:
      return {};
  }
}

function validObject(chance: Chance, schema: Json): Json {
  const required = new Set<string>(schema.required);
  const members = Object.entries<Json>(schema.properties ?? {});
  const taken = members.filter(([name]) => required.has(name) || chance.is(0.3));
  return Object.fromEntries(taken.map(([name, member]) => [name, validValue(chance, member)]));
}

/** Breaks one place: a value of another kind or past a boundary, one too few, or one too many. */
function damage(chance: Chance, value: Json, schema: Json): void {
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0 || chance.is(0.1)) {
    value[chance.one(hostileTexts)] = hostileValue(chance);
    return;
  }
  const name = chance.one(names);
  const inner = schema.properties[name];
  if (inner.type === "object" && chance.is(0.6)) {
    value[name] ??= {};
    damage(chance, value[name], inner);
  } else if (inner.type === "array" && chance.is(0.6)) {
    const items = chance.is(0.1) ? 1_000 : 1 + chance.below(3);
    value[name] = Array.from({ length: items }, () => hostileValue(chance));
  } else if (chance.is(0.1)) {
    delete value[name];
  } else if (inner.type === "integer" && chance.is(0.5)) {
    const bounds = [inner.minimum ?? 0, inner.maximum ?? Number.MAX_SAFE_INTEGER];
    value[name] = chance.one(bounds) + chance.one([-1, 0, 1]);
  } else {
    value[name] = hostileValue(chance);
  }
}

function hostileValue(chance: Chance): unknown {
  if (chance.is(0.45)) return chance.one(hostileTexts);
  if (chance.is(0.6)) return `${rawMark}${chance.one(numberTokens)}`;
  return chance.one<() => unknown>([
    () => null,
    () => true,
    () => [],
    () => ({}),
    () => [[["deep"]]],
    () => ({ a: { b: { c: 1 } } }),
    () => `${rawMark}${"[".repeat(31)}${"]".repeat(31)}`,
    () => `${rawMark}${"[".repeat(40)}${"]".repeat(40)}`,
    () => Array.from({ length: 200 }, (_, index) => index),
  ])();
}

function damagedText(chance: Chance, text: string): Buffer {
  const brace = () => {
    const places = [...text.matchAll(/\{/g)].map(({ index }) => index + 1);
    return places.length > 0 ? chance.one(places) : 0;
  };
  const insert = (members: string) => {
    const place = brace();
    const comma = text[place] === "}" ? "" : ",";
    return text.slice(0, place) + members + comma + text.slice(place);
  };
  const depth = 1_000 * (1 + chance.below(100));
  const damaged = chance.one<() => string | Buffer>([
    () => insert('"name":"first","name":"second"'),
    () => insert('"\\u006eame":1'),
    () => insert('"__proto__":{"kind":"app"}'),
    () => insert('"constructor":{"prototype":{"kind":"app"}}'),
    () => insert('"\\u0000":"\\ud800"'),
    () => text.slice(0, chance.below(text.length)),
    () => `${text}${text}`,
    () => `[${text}]`,
    () => `${text},`,
    () => text.replaceAll('"', "'"),
    () => "",
    () => " \n\t",
    () => "null",
    () => chance.one(numberTokens),
    () => JSON.stringify(chance.one(hostileTexts)),
    () => "[".repeat(depth),
    () => '{"a":'.repeat(depth),
    () => Buffer.from(text, "utf16le"),
    () => Buffer.from(text.replace(":", ":\u00ff"), "latin1"),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
    () => Buffer.from(Array.from({ length: 64 }, () => chance.below(256))),
    () => {
      // A megabyte a time is dear, so most of these stay short of it.
      if (chance.is(0.9)) return text.padEnd(10_000);
      return text.padEnd(bodyBytesMax + chance.one([-1, 0, 1, 70_000]));
    },
  ])();
  return typeof damaged === "string" ? Buffer.from(damaged) : damaged;
}

function isLines(contentType: string | undefined): boolean {
  return contentType?.startsWith("application/x-ndjson") ?? false;
}

function isStream(contentType: string | null | undefined): boolean {
  return contentType?.startsWith("text/event-stream") ?? false;
}

async function exchange(url: string, agent: Agent, request: Request): Promise<Reply> {
  const { method, path, headers, body, chunked } = request;
  return await new Promise((resolve, reject) => {
    const length = body && !chunked && { "content-length": String(body.length) };
    const chunks = body && chunked && { "transfer-encoding": "chunked" };
    const outgoing = openRequest(`${url}/`, {
      agent,
      method,
      path,
      headers: { ...headers, ...length, ...chunks },
      timeout: answerTimeoutMs,
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("it took too long")));
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      const received: Buffer[] = [];
      const judge = () => {
        const pairs = Object.entries(incoming.headers).map(([name, value]) => [
          name,
          String(value),
        ]);
        resolve({
          status: incoming.statusCode ?? 0,
          headers: new Headers(pairs as [string, string][]),
          text: Buffer.concat(received).toString(),
        });
      };
      let bytes = 0;
      incoming.on("data", (chunk: Buffer) => {
        received.push(chunk);
        bytes += chunk.length;
        // Of a trail that grows with every request, so much is read, and the reader leaves.
        if (bytes <= linesBytesMax || !isLines(incoming.headers["content-type"])) return;
        judge();
        outgoing.destroy();
      });
      incoming.on("error", reject);
      incoming.on("end", judge);
      if (!isStream(incoming.headers["content-type"])) return;
      // A stream has no end: how it opened is all there is to judge.
      judge();
      outgoing.destroy();
    });
    outgoing.end(body);
  });
}

/** Which operation a request reaches, as a router reads its path. */
function operationFor(
  operations: readonly Operation[],
  { method, path }: Request,
): Operation | undefined {
  const wanted = method === "HEAD" ? "GET" : method;
  try {
    const decoded = decodeURI(path.split("?")[0] ?? "");
    const reached = operations.filter(
      ({ form, method }) => method === wanted && form.test(decoded),
    );
    // A path that is spelt out goes before one with a parameter in its place.
    const parameters = ({ template }: Operation) => template.split("{").length;
    return reached.toSorted((a, b) => parameters(a) - parameters(b))[0];
  } catch {
    return undefined; // What cannot be decoded names nothing.
  }
}

type Judge = (
  request: Request,
  operation: Operation | undefined,
  reply: Reply,
) => string | undefined;

/** What is not JSON and was asked for. */
const documents = new Set([
  "text/csv",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/pdf",
  "application/x-ndjson",
]);
const requestIdForm = /^[A-Za-z0-9._:-]{1,128}$/;
const internals = /node_modules|\.ts:\d|\bat async\b|violates|SQLSTATE|invalid byte sequence/i;

function judgeBy(document: Json, operations: readonly Operation[]): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema(document, "api", undefined, false);
  const validators = new Map<string, ValidateFunction>();
  const pointer = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");
  for (const { name, method, template, responses } of operations) {
    for (const [status, response] of Object.entries<Json>(responses)) {
      const base =
        response.$ref ?? `#/paths/${pointer(template)}/${method.toLowerCase()}/responses/${status}`;
      const schema = `api${base}/content/application~1json/schema`;
      if (resolveReference(document, base).content?.["application/json"] === undefined) continue;
      validators.set(`${name} ${status}`, ajv.compile({ $ref: encodeURI(schema) }));
    }
  }
  validators.set("unmatched", ajv.compile({ $ref: "api#/components/schemas/TransportError" }));

  return function judge(request, operation, { status, headers, text }) {
    if (status >= 500) return `${status} ${text}`;
    const id = headers.get("x-request-id");
    const sentId = request.headers["x-request-id"] ?? "";
    if (id === null) return `${status} without X-Request-ID`;
    // A preflight is HTTP's own and no operation; below /public there is an answer to it.
    const isPreflight = request.method === "OPTIONS" && request.path.startsWith("/public/");
    if (isPreflight && status === 204) return text === "" ? undefined : "a body";
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    if (documents.has(type)) {
      const { content } = operation?.responses[status] ?? {};
      const isTold = content?.[type] || (status === 200 && operation?.formats.includes(type));
      return isTold ? undefined : `${type}, which is not documented`;
    }
    if (requestIdForm.test(sentId) && id !== sentId) return `X-Request-ID ${id}, not ${sentId}`;
    if (!operation && status !== 404 && status !== 413 && !isPreflight) {
      return `${status} from a route that is not documented`;
    }
    if (operation && operation.responses[status] === undefined) {
      return `${operation.name} answers ${status}, which is not documented: ${text.slice(0, 300)}`;
    }
    if (request.method === "HEAD" || status === 304) return text === "" ? undefined : "a body";
    if (isStream(headers.get("content-type"))) {
      const { content } = operation?.responses[status] ?? {};
      return content?.["text/event-stream"] ? undefined : "a stream that is not documented";
    }
    if (!headers.get("content-type")?.startsWith("application/json"))
      return "an answer not in JSON";
    const body: Json = JSON.parse(text);
    const validate = validators.get(operation ? `${operation.name} ${status}` : "unmatched");
    if (!validate) return `${operation?.name} ${status} has no documented body`;
    if (!validate(body)) {
      return `${status} is not as documented: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 300)}`;
    }
    return status >= 400 ? formProblem(body, id) : undefined;
  };
}

function formProblem(body: Json, id: string): string | undefined {
  const text = JSON.stringify(body);
  if (internals.test(body.message)) return `something internal is told: ${text}`;
  const extra = Object.keys(body).filter(
    (name) => !["error", "code", "message", "request_id", "detail"].includes(name),
  );
  if (extra.length > 0) return `an error with ${extra.join(", ")}`;
  if (body.code === undefined) return body.request_id === id ? undefined : `another id: ${text}`;
  if (body.request_id !== undefined) return `both code and request_id: ${text}`;
  return ["request_error", body.code].includes(body.error) ? undefined : `a mixed form: ${text}`;
}

/** Keeps the id of what was created: the first member that some path is made of. */
function remember(ids: string[], operations: readonly Operation[], text: string): void {
  const names = new Set(
    operations.flatMap(({ template }) => template.match(/(?<=\{)\w+(?=\})/g) ?? []),
  );
  const created = Object.entries<Json>(JSON.parse(text)).find(([name]) => names.has(name));
  if (!created) return;
  ids.push(created[1]);
  if (ids.length > poolMax) ids.shift();
}

function formatRequest({ method, path, headers, body, chunked }: Request): string {
  const { "x-service-key": key, ...rest } = headers;
  const text = body
    ? `${chunked ? "chunks" : "body"} ${JSON.stringify(body.toString()).slice(0, 500)}`
    : "";
  return `  ${method} ${path.slice(0, 500)} ${key ? "with a key " : ""}${JSON.stringify(rest)} ${text}`;
}
