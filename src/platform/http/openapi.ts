// The OpenAPI document of desks and visitors, built by `build-document.ts`.
//
// A route declares its own shapes. This file adds what all routes share: the key, the headers of every
// answer, and the error answers that the route's declaration makes possible; and what is not in the
// routes: examples, reasons, webhooks. Bodies and parameters become components, so that generated
// clients have names for them.

import type { FastifyContextConfig } from "fastify";
import { type TSchema, Type } from "typebox";

import { findBudget } from "../../kernel/budget.ts";
import type { FailureCode } from "../../kernel/failure.ts";
import { exactJson, isObject } from "../../kernel/json.ts";
import {
  buildDocument,
  type DocumentedOperation,
  hoist,
  type Json,
  references,
  type DocumentedRefusal,
  referTo,
} from "./build-document.ts";
import { serveConstant } from "./constants.ts";
import { type Format, mediaTypes } from "./documents.ts";
import { statusByCode } from "./errors.ts";
import type { App, RouteEntry } from "./server.ts";

export const contractVersion = "1.2.0";
/** Raised when the document has grown; the changelog says what is new. */
const revision = 2;

/** One case of a request body, and the status that it is answered with. */
export type BodyExample = {
  readonly summary: string;
  readonly value: object;
  readonly answer: number;
};

/** An answer as it may look. */
export type AnswerExample = { readonly summary: string; readonly value: object };

type Reasons = { readonly [Code in FailureCode]?: readonly string[] };

export type DocumentParts = {
  /** By operation, then by the name of the case. */
  readonly examples: Readonly<Record<string, Readonly<Record<string, BodyExample>>>>;
  /** Of good answers that have several kinds: by operation, then by the name of the case. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, AnswerExample>>>>;
  /** The form of an identifier, by the field's name. */
  readonly patterns: Readonly<Record<string, string>>;
  /** By operation. */
  readonly reasons: Readonly<Record<string, Reasons>>;
  /** Components that no operation refers to; each has a title. */
  readonly schemas: readonly TSchema[];
  /** By event. */
  readonly webhooks: Json;
};

/** The document of the routes that have an operation's id, in the order of their registration. */
export function describeApi({ routes }: Pick<App, "routes">, parts: DocumentParts): Json {
  return buildDocument(routes, {
    complete: (operation, route) => {
      completeOperation(operation, route);
      addFormats(operation);
      nameBody(operation);
      addExamples(operation, parts.examples[operation.operationId]);
      addAnswers(operation, parts.answers[operation.operationId]);
      addReasons(operation, parts.reasons[operation.operationId]);
      return operation;
    },
    toDocumented,
    securitySchemes: { ServiceKey: serviceKey },
    headers,
    refusals,
    // Before the meter ran there are none of its headers.
    refusedAs: {
      Keyed: (status) => (["401", "413"].includes(status) ? [] : meterHeaders),
      Keyless: () => [],
    },
    finish: ({ paths, components: { securitySchemes, schemas, ...components } }) => {
      hoist(parts.schemas, schemas);
      tellDryRuns(paths, schemas);
      tellKinds(schemas);
      const webhooks = hoist(parts.webhooks, schemas);
      addPatterns(schemas, parts.patterns);
      const parameters = nameParameters(paths);
      return widenIntegers({
        info,
        components: { securitySchemes, schemas, parameters, ...components },
        paths,
        servers: [{ url: "/", description: "The host that served this document." }],
        tags,
        webhooks,
      }) as Json;
    },
  });
}

/** Keywords that generators of clients do not know are told in those that they do. */
function toDocumented(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const { contentEncoding, patternProperties, ...schema } = value;
  if (contentEncoding === "base64") return { ...schema, format: "byte" };
  if (isObject(patternProperties)) {
    return { ...schema, additionalProperties: Object.values(patternProperties)[0] };
  }
  const { const: only, ...others } = schema;
  return only === undefined ? value : { ...others, enum: [only] };
}

/** Serves the document itself, public and cacheable. */
export function serveOpenApi(app: App, parts: DocumentParts): void {
  serveConstant(
    app,
    "/v1/openapi.json",
    {
      type: "application/json; charset=utf-8",
      headers: { "cache-control": "public, max-age=300", "access-control-allow-origin": "*" },
      make: async () => exactJson(describeApi(app, parts)),
    },
    {
      schema: {
        operationId: "readOpenApi",
        tags: ["Meta"],
        summary: "This document",
        description:
          "The machine-readable contract, the same for every caller. It carries an ETag: ask again with If-None-Match.",
        response: {
          200: Type.Object(
            {},
            { additionalProperties: true, description: "The OpenAPI document." },
          ),
        },
      },
    },
  );
}

const description = `Price, sell, cover and settle transferable duty credits (RoDTEP and RoSCTL).

Send your key in \`X-Service-Key\`; its prefix chooses the environment. Money is integer paise
(\`…_paise\`), prices are integer basis points of face (\`…_bps\`), times are ISO 8601 in IST.
An error's slug is \`code\` if present, otherwise \`error\`. Only 429 and 500 are worth retrying.
Readers ignore unknown fields and treat enumerations as open.`;

/** The groups of operations. */
export const tags = [
  { name: "Keys", description: "Who calls, and with what rights." },
  { name: "Usage", description: "What was called, and what is left." },
  { name: "Firms", description: "Who trades: the client firms of your desk." },
  {
    name: "Groups",
    description: "Firms under common ownership, and the basic customs duty they will owe.",
  },
  { name: "Credits", description: "What your firms hold." },
  { name: "Quotes", description: "Binding prices for an exact amount." },
  { name: "Orders", description: "Selling credits, and buying cover for basic customs duty." },
  { name: "Cross", description: "Blocks and intra-group transfers between two named firms." },
  { name: "Market", description: "What everybody may know of prices and deals." },
  { name: "Settlements", description: "Delivery against payment, and money to your firms' banks." },
  { name: "Approvals", description: "What takes two keys of your desk, if it says so." },
  { name: "Statements", description: "What it adds up to: earnings, statements, notes." },
  { name: "Sandbox", description: "Driving the simulated world; for sandbox keys only." },
  { name: "Events", description: "What happened, in order." },
  { name: "Audit", description: "Who changed what, so that you can prove it." },
  { name: "Webhooks", description: "Have what happens sent to you." },
  { name: "Public", description: "Rates and enquiries, for anyone and without a key." },
  { name: "Meta", description: "The contract and the state tables as data." },
  { name: "Operations", description: "For load balancers and monitors." },
];

const info = {
  title: "Scripdesk",
  version: contractVersion,
  summary: "A trading service for duty credit scrips.",
  description,
  contact: { name: "The house that runs this service, as GET /public/house names it" },
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  "x-revision": revision,
};

const serviceKey = {
  type: "apiKey",
  in: "header",
  name: "X-Service-Key",
  description: "`service_live_…` for production, `service_test_…` for the sandbox.",
} as const;

const integerHeader = (text: string) => ({ description: text, schema: { type: "integer" } });
const textHeader = (text: string) => ({ description: text, schema: { type: "string" } });

const headers = {
  "X-Request-ID": textHeader("Echoed when sent, otherwise made here."),
  "X-RateLimit-Plan": textHeader("The key's plan."),
  "X-RateLimit-Limit": integerHeader("Calls allowed per 60-second sliding window."),
  "X-RateLimit-Remaining": integerHeader("Calls left in the current window."),
  "X-RateLimit-Reset": integerHeader("Seconds for the window to fully clear."),
  "X-RateLimit-Quota": integerHeader("Monthly call quota; absent when unmetered."),
  "X-RateLimit-Quota-Used": integerHeader("Calls consumed this month."),
  "X-RateLimit-Quota-Reset": integerHeader("Seconds until the quota begins anew; on its 429."),
  "Retry-After": integerHeader("Seconds to wait before the next try."),
  "X-Dry-Run": textHeader("1 when nothing was written."),
  "X-Truncated": textHeader("true when an unpaged list has more rows than it shows."),
  "X-Next-Cursor": textHeader("Of a list as a file: the cursor of what follows it."),
  ETag: textHeader("Names the bytes of this answer."),
  "Cache-Control": textHeader("For how long caches may keep this answer."),
  "Idempotent-Replayed": textHeader("true when an earlier call with this key made the resource."),
};

const meterHeaders = Object.keys(headers).filter((name) => name.startsWith("X-RateLimit"));

const refusals: Readonly<Record<string, DocumentedRefusal>> = {
  400: {
    description: "Malformed body, unknown field, unknown value, bad cursor.",
    bodies: ["TradingError", "TransportError"],
  },
  401: {
    description: "Key missing, unknown, revoked or of the wrong environment.",
    bodies: ["EdgeError"],
  },
  403: {
    description: "The key lacks the scope, or acts outside its role.",
    bodies: ["EdgeError", "TradingError"],
  },
  404: { description: "No such resource on your desk.", bodies: ["TradingError"] },
  409: { description: "The state does not allow this.", bodies: ["TradingError"] },
  413: { description: "The body exceeds 1048576 bytes.", bodies: ["TransportError"] },
  415: { description: "The body is not JSON by its content type.", bodies: ["TransportError"] },
  422: {
    description: "Well-formed but invalid values.",
    bodies: ["TradingError", "TransportError"],
  },
  429: {
    description:
      "Per-minute rate, monthly quota or the budget of an address exceeded; of a budget detail.retry_after_s says when it is free again.",
    bodies: ["EdgeError"],
  },
  500: {
    description:
      "A fault of ours, or too much to do: retry with backoff. internal behind the key, internal_error before it.",
    bodies: ["TransportError"],
  },
};

const requestHeaders = {
  requestId: {
    name: "X-Request-ID",
    in: "header",
    required: false,
    description: "Your own correlation id, up to 200 visible ASCII characters; echoed.",
    schema: { type: "string" },
  },
  heldTag: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The ETag of an answer you hold; 304 when it still holds.",
    schema: { type: "string" },
  },
  dryRun: {
    name: "X-Dry-Run",
    in: "header",
    required: false,
    description: "1 validates and computes as a real call would, and writes nothing.",
    schema: { type: "string", enum: ["0", "1"], default: "0" },
  },
  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "1 to 255 visible ASCII characters. Sending the same request again returns the original.",
    schema: { type: "string", pattern: "^[!-~]{1,255}$", minLength: 1, maxLength: 255 },
  },
};

function completeOperation(
  operation: DocumentedOperation,
  { method, path, config }: RouteEntry,
): void {
  const writes = method !== "GET";
  const shared = ["X-Request-ID"];
  if (config.demand) shared.push(...meterHeaders);
  if (writes) shared.push("X-Dry-Run");
  const takes = (name: string) =>
    operation.parameters?.some((parameter) => parameter.name === name);
  const isList = takes("cursor");
  const hasTag = config.tagged === true || config.keyless === "constant";
  for (const [status, response] of Object.entries(operation.responses)) {
    const own = [...shared];
    if (isList) own.push("X-Truncated");
    if (isList && takes("format")) own.push("X-Next-Cursor");
    if (config.creates && status === "200") own.push("Idempotent-Replayed");
    if (hasTag) own.push("ETag", "Cache-Control");
    response["headers"] = { ...(response["headers"] as Json), ...references(own) };
    response["description"] = statusText[status] ?? String(response["description"]);
  }
  if (hasTag) {
    const held = ["X-Request-ID", "ETag", "Cache-Control"];
    operation.responses["304"] = { description: statusText["304"], headers: references(held) };
  }
  operation["security"] = config.demand ? [{ ServiceKey: [] }] : [];
  if (config.demand) operation["x-scope"] = config.demand;
  if (config.orDemand) operation["x-or-scope"] = config.orDemand;
  operation.parameters = [
    ...(operation.parameters ?? []),
    requestHeaders.requestId,
    ...(hasTag ? [requestHeaders.heldTag] : []),
    ...(writes ? [requestHeaders.dryRun] : []),
    ...(config.creates ? [requestHeaders.idempotencyKey] : []),
  ];
  for (const status of possibleErrors(operation, { writes, path, config })) {
    operation.responses[status] = referTo(`${config.demand ? "Keyed" : "Keyless"}${status}`);
  }
}

const statusText: Record<string, string> = {
  200: "The call was carried out.",
  201: "The resource was created.",
  304: "Not modified since the ETag.",
  503: "The service is not ready for calls.",
};

function possibleErrors(
  operation: DocumentedOperation,
  { writes, path, config }: { writes: boolean; path: string; config: FastifyContextConfig },
): string[] {
  const errors = ["400", "413", "500"];
  if (config.demand) errors.push("401", "403", "429");
  if (findBudget(config.keyless) !== undefined) errors.push("422", "429");
  // An undeclared parameter of the query is refused there.
  if (path.startsWith("/v1/")) errors.push("422");
  if (path.includes("{") || config.names) errors.push("404");
  if (writes) errors.push("415");
  if (writes && config.demand) errors.push("409");
  if (config.conflicts) errors.push("409");
  if (operation["requestBody"] && config.demand) errors.push("404");
  return [...new Set(errors)].toSorted((a, b) => a.localeCompare(b));
}

const dryRunField = {
  type: "boolean",
  const: true,
  description: "In the answer to a dry run only: nothing was written.",
};

/** What a write answers with has a field that marks a dry run. */
function tellDryRuns(
  paths: Readonly<Record<string, Json>>,
  schemas: Record<string, unknown>,
): void {
  const mark = (name: string): void => {
    const schema = schemas[name] as { properties: Json; "x-kinds"?: readonly string[] };
    schema.properties = { ...schema.properties, dry_run: dryRunField };
    schema["x-kinds"]?.forEach(mark);
  };
  for (const item of Object.values(paths)) {
    for (const [method, { responses }] of Object.entries(item) as [string, DocumentedOperation][]) {
      if (method === "get") continue;
      const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
      for (const [, { content = {} }] of good) {
        for (const { schema } of Object.values(content as Record<string, { schema: Json }>)) {
          const reference = schema["$ref"];
          if (typeof reference === "string") mark(reference.slice(reference.lastIndexOf("/") + 1));
        }
      }
    }
  }
}

/** A body without a title is called by its operation. */
function nameBody(operation: DocumentedOperation): void {
  const content = findBodyContent(operation);
  const schema = content?.["schema"];
  if (content && isObject(schema) && schema["title"] === undefined) {
    content["schema"] = { ...schema, title: capitalize(operation.operationId) };
  }
}

function addExamples(
  operation: DocumentedOperation,
  examples: Readonly<Record<string, BodyExample>> | undefined,
): void {
  const content = findBodyContent(operation);
  if (!content || !examples) return;
  content["examples"] = Object.fromEntries(
    Object.entries(examples).map(([name, { summary, value, answer }]) => [
      name,
      { summary, value, "x-answer": answer },
    ]),
  );
}

function addAnswers(
  { responses }: DocumentedOperation,
  answers: Readonly<Record<string, AnswerExample>> | undefined,
): void {
  const good = responses["200"] as { content?: Record<string, Json> } | undefined;
  const content = good?.content?.["application/json"];
  if (content && answers) content["examples"] = answers;
}

/** Says in the terms of JSON Schema which kind an answer is, by what the kinds have of their own. */
function tellKinds(schemas: Record<string, unknown>): void {
  for (const schema of Object.values(schemas) as Kinds[]) {
    const kinds = schema["x-kinds"]?.toReversed() ?? [];
    const choice = kinds.reduce<Json | undefined>((others, name) => {
      const { properties = {} } = schemas[name] as Kinds;
      const own = Object.entries(properties).filter(([, field]) => "const" in field);
      const required = own.map(([field]) => field);
      return {
        if: { properties: Object.fromEntries(own), required },
        // oxlint-disable-next-line unicorn/no-thenable
        then: { $ref: `#/components/schemas/${name}` },
        ...(others && { else: others }),
      };
    }, undefined);
    Object.assign(schema, choice);
  }
}

type Kinds = {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly "x-kinds"?: readonly string[];
};

/** Gives every text field of a name the form that the service demands of it. */
function addPatterns(value: unknown, patterns: Readonly<Record<string, string>>): void {
  if (Array.isArray(value)) for (const item of value) addPatterns(item, patterns);
  if (!isObject(value)) return;
  const properties = isObject(value["properties"]) ? value["properties"] : {};
  for (const [name, field] of Object.entries(properties)) {
    const pattern = patterns[name];
    if (pattern === undefined || !isObject(field)) continue;
    if ([field["type"]].flat().includes("string")) Object.assign(field, { pattern });
  }
  for (const member of Object.values(value)) addPatterns(member, patterns);
}

function findBodyContent({ requestBody }: DocumentedOperation): Json | undefined {
  const body = requestBody as { content: Record<string, Json> } | undefined;
  return body?.content["application/json"];
}

/** In words, and as data by status. */
function addReasons(operation: DocumentedOperation, reasons: Reasons = {}): void {
  const byStatus = new Map<number, readonly string[]>();
  for (const [code, told] of Object.entries(reasons) as [FailureCode, readonly string[]][]) {
    const status = statusByCode[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), ...told].toSorted());
  }
  if (byStatus.size === 0) return;
  const sorted = [...byStatus].toSorted(([one], [other]) => one - other);
  const words = sorted.map(
    ([status, told]) => `${status} ${told.map((reason) => `\`${reason}\``).join(", ")}`,
  );
  const text = `Refusals by \`detail.reason\` (open set): ${words.join("; ")}.`;
  operation["description"] = [operation["description"], text].filter(Boolean).join("\n\n");
  operation["x-reasons"] = Object.fromEntries(sorted);
}

/**
 * Replaces the parameters of all operations by references, and returns what they refer to. Parameters
 * of one name that differ are called by the first operation that has them, but for the commonest.
 */
function nameParameters(paths: Readonly<Record<string, Json>>): Record<string, Json> {
  const operations = Object.values(paths).flatMap((item) =>
    Object.values(item),
  ) as DocumentedOperation[];
  const uses = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.map((parameter) => ({ operationId, text: exactJson(parameter) })),
  );
  const byText = Map.groupBy(uses, ({ text }) => text);
  const variants = [...byText].map(([text, [first, ...others]]) => {
    const parameter = JSON.parse(text) as Json;
    return { text, parameter, first: first?.operationId ?? "", count: others.length + 1 };
  });
  const names = new Map<string, string>();
  const byName = Map.groupBy(variants, ({ parameter }) => toTitle(String(parameter["name"])));
  for (const [name, same] of byName) {
    const [commonest] = same.toSorted((one, other) => other.count - one.count);
    for (const { text, first } of same) {
      const isPlain = text === commonest?.text;
      names.set(text, isPlain ? name : `${capitalize(first)}${name}`);
    }
  }
  for (const operation of operations) {
    operation.parameters = (operation.parameters ?? []).map((parameter) => ({
      $ref: `#/components/parameters/${names.get(exactJson(parameter)) ?? ""}`,
    }));
  }
  const named = variants.map(({ text, parameter }) => [names.get(text) ?? "", parameter] as const);
  return Object.fromEntries(named.toSorted(([one], [other]) => one.localeCompare(other)));
}

/** Amounts pass 32 bits, so every integer says that it may. */
function widenIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(widenIntegers);
  if (!isObject(value)) return value;
  const wide = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "examples" || name === "example" ? member : widenIntegers(member),
    ]),
  );
  const isInteger = [value["type"]].flat().includes("integer");
  return isInteger && value["format"] === undefined ? { ...wide, format: "int64" } : wide;
}

/** `firm_id` and `X-Dry-Run` as `FirmId` and `XDryRun` */
function toTitle(name: string): string {
  return name.split(/[-_]/).map(capitalize).join("");
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * Says the media type of each format. Where an answer was JSON first, its other forms are told here and
 * not in its content: generators make one type of all that is there, and code that reads JSON would no
 * longer compile.
 */
function addFormats(operation: DocumentedOperation): void {
  const format = operation.parameters?.find(({ name }) => name === "format");
  const formats = (format?.["schema"] as { readonly enum?: readonly Format[] } | undefined)?.enum;
  if (!formats) return;
  const types = formats.map((name) => [name, mediaTypes[name]] as const);
  operation["x-formats"] = Object.fromEntries(types);
  const words = types.map(([name, type]) => `${name} is \`${type}\``).join(", ");
  operation["description"] = [operation["description"], `Formats: ${words}.`]
    .filter(Boolean)
    .join("\n\n");
}
