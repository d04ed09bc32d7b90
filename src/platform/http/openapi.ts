// Builds the OpenAPI document from the schemas that validate and serialise.
//
// A route declares its own shapes. This file adds what all routes share: the key, the headers of every
// answer, and the error answers that the route's declaration makes possible. `openapi-parts.ts` adds
// what is not in the routes: examples, reasons, webhooks. Schemas with a title, bodies and parameters
// become components, so that generated clients have names for them.

import type { FastifyContextConfig, FastifySchema } from "fastify";
import { Type } from "typebox";

import { findBudget } from "../../kernel/budget.ts";
import { exactJson, isObject } from "../../kernel/json.ts";
import { serveConstant } from "./constants.ts";
import {
  addAnswers,
  addExamples,
  addFormats,
  addPatterns,
  addReasons,
  type DocumentParts,
  hoist,
  type Json,
  type DocumentedOperation,
  nameParameters,
  nameBody,
  tellDryRuns,
  tellKinds,
  widenIntegers,
} from "./openapi-parts.ts";
import type { App } from "./server.ts";

export const contractVersion = "1.2.0";
/** Raised when the document has grown; the changelog says what is new. */
const revision = 2;

/** The document of the routes that have an operation's id, in the order of their registration. */
export function describeApi({ routes }: Pick<App, "routes">, parts: DocumentParts): Json {
  const paths: Record<string, Json> = {};
  const configs = new Map<string, FastifyContextConfig>();
  for (const { method, path, config, schema } of routes) {
    if (schema?.operationId === undefined || schema.hide || method === "HEAD") continue;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeRoute(schema) };
    configs.set(schema.operationId, config);
  }
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Scripdesk",
      version: contractVersion,
      summary: "A trading service for duty credit scrips.",
      description,
      contact: { name: "The house that runs this service, as GET /public/house names it" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    components: { securitySchemes: { ServiceKey: serviceKey } },
    paths,
    servers: [{ url: "/", description: "The host that served this document." }],
    tags,
  };
  return complete(JSON.parse(exactJson(document), toDocumented) as Json, configs, parts);
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

function describeRoute({
  operationId,
  summary,
  tags: groups,
  description: text,
  querystring,
  params,
  headers: own,
  body,
  response,
}: FastifySchema): object {
  const parameters = [
    ...describeParameters("query", querystring),
    ...describeParameters("path", params),
    ...describeParameters("header", own),
  ];
  const responses = Object.entries(response as Readonly<Record<string, DeclaredAnswer>>);
  return {
    operationId,
    summary,
    tags: groups,
    ...(text !== undefined && { description: text }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: asJson(body),
        description: (body as { readonly description?: string }).description,
      },
    }),
    ...(parameters.length > 0 && { parameters }),
    responses: Object.fromEntries(
      responses.map(([status, { headers: sent, ...declared }]) => [
        status,
        {
          description: declared.description ?? "Default Response",
          ...(sent && {
            headers: Object.fromEntries(
              Object.entries(sent).map(([name, header]) => [name, describeHeader(header)]),
            ),
          }),
          content: "content" in declared ? declared.content : asJson(declared),
        },
      ]),
    ),
  };
}

type DeclaredAnswer = {
  readonly description?: string;
  readonly content?: object;
  readonly headers?: Readonly<Record<string, Json>>;
};

function describeHeader({ description: text, ...schema }: Json): Json {
  return { schema, description: text };
}

const asJson = (schema: unknown) => ({ "application/json": { schema } });

function describeParameters(place: "query" | "path" | "header", shape: unknown): object[] {
  const { properties = {}, required = [] } = (shape ?? {}) as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  }; // Our routes declare objects.
  return Object.entries(properties).map(([name, property]) => {
    const { description: text, examples, ...schema } = property;
    const [example, ...others] = (examples ?? []) as unknown[];
    return {
      schema,
      ...(example !== undefined && others.length === 0 && { example }),
      in: place,
      name,
      required: place === "path" || required.includes(name),
      ...(text !== undefined && { description: text }),
    };
  });
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

const serviceKey = {
  type: "apiKey",
  in: "header",
  name: "X-Service-Key",
  description: "`service_live_…` for production, `service_test_…` for the sandbox.",
} as const;

const errorFields = {
  error: Type.String({ description: "The stable name of the error." }),
  message: Type.String({ description: "For people; its wording may change." }),
};
const errorCode = Type.String({
  description: "Stable slug; prefer it to error when present. Open set.",
});
const errorDetail = Type.Optional(
  Type.Object({}, { additionalProperties: true, description: "Facts about the error, by reason." }),
);

export const errorSchemas = {
  TradingError: Type.Object(
    { ...errorFields, code: errorCode, detail: errorDetail },
    {
      description: "A business rule refused: error is request_error, the slug is in code.",
      examples: [
        {
          error: "request_error",
          code: "unprocessable",
          message: "name: is required",
          detail: { fields: [{ path: "name", problem: "is required" }] },
        },
      ],
    },
  ),
  EdgeError: Type.Object(
    { ...errorFields, code: errorCode, detail: errorDetail },
    {
      description: "The key or the meter refused: the slug is in both error and code.",
      examples: [
        { error: "unauthorized", code: "unauthorized", message: "the key is missing or not valid" },
      ],
    },
  ),
  TransportError: Type.Object(
    {
      ...errorFields,
      request_id: Type.String({ description: "As the X-Request-ID header." }),
      detail: errorDetail,
    },
    {
      description: "HTTP itself refused or the service failed: the slug is in error, no code.",
      examples: [
        {
          error: "request_too_large",
          message: "the body exceeds 1048576 bytes",
          request_id: "req_01jd2m7q4x8r5v6w9y0abcdefg",
        },
      ],
    },
  ),
};

export type ErrorName = keyof typeof errorSchemas;

const errorResponses: Record<string, { description: string; bodies: ErrorName[] }> = {
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

function complete(
  document: Json,
  configs: Map<string, FastifyContextConfig>,
  parts: DocumentParts,
): Json {
  const schemas: Record<string, unknown> = { ...errorSchemas };
  const used = new Set<string>();
  for (const [path, item] of Object.entries(document["paths"] as Record<string, Json>)) {
    for (const [method, operation] of Object.entries(item) as [string, DocumentedOperation][]) {
      const config = configs.get(operation.operationId);
      if (!config) throw new Error(`${method} ${path} has no operationId`);
      completeOperation(operation, { method, path, config, used });
      addFormats(operation);
      nameBody(operation);
      addExamples(operation, parts.examples[operation.operationId]);
      addAnswers(operation, parts.answers[operation.operationId]);
      addReasons(operation, parts.reasons[operation.operationId]);
    }
  }
  const paths = hoist(document["paths"], schemas) as Record<string, Json>;
  hoist(parts.schemas, schemas);
  tellDryRuns(paths, schemas);
  tellKinds(schemas);
  const webhooks = hoist(parts.webhooks, schemas);
  addPatterns(schemas, parts.patterns);
  const parameters = nameParameters(paths);
  const components = {
    ...(document["components"] as Json),
    schemas,
    parameters,
    headers,
    responses: responses(used),
  };
  const info = { ...(document["info"] as Json), "x-revision": revision };
  return widenIntegers({ ...document, info, paths, webhooks, components }) as Json;
}

function completeOperation(
  operation: DocumentedOperation,
  {
    method,
    path,
    config,
    used,
  }: { method: string; path: string; config: FastifyContextConfig; used: Set<string> },
): void {
  const writes = method !== "get";
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
    const name = config.demand ? `Keyed${status}` : `Keyless${status}`;
    used.add(name);
    operation.responses[status] = { $ref: `#/components/responses/${name}` };
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

/** The error answers that operations refer to. Keyed ones have the meter's headers after it ran. */
function responses(used: ReadonlySet<string>): Record<string, Json> {
  const beforeTheMeter = ["401", "413"];
  const made = Object.entries(errorResponses).flatMap(([status, { description, bodies }]) => {
    const refs = bodies.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const schema = refs.length === 1 ? refs[0] : { anyOf: refs };
    const content = { "application/json": { schema } };
    const common = ["X-Request-ID", ...(status === "429" ? ["Retry-After"] : [])];
    const keyed = beforeTheMeter.includes(status) ? common : [...common, ...meterHeaders];
    return [
      [`Keyed${status}`, { description, headers: references(keyed), content }],
      [`Keyless${status}`, { description, headers: references(common), content }],
    ] as const;
  });
  return Object.fromEntries(made.filter(([name]) => used.has(name)));
}

function references(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
