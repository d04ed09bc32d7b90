// Builds an OpenAPI document from the schemas that validate and serialise. A route declares its own
// shapes; schemas with a title become components. What one document says of its own is its `DocumentSurface`.

import type { FastifySchema } from "fastify";
import { Type } from "typebox";

import { exactJson, isObject } from "../../kernel/json.ts";
import type { RouteEntry } from "./server.ts";

export type Json = { [name: string]: unknown };

export type DocumentedOperation = Json & {
  operationId: string;
  parameters?: Json[];
  responses: Record<string, Json>;
};

/** An answer that refuses, by the names of its bodies. */
export type DocumentedRefusal = {
  readonly description: string;
  readonly bodies: readonly ErrorName[];
};

/** A document before it says what it is about. */
type Built = {
  readonly paths: Record<string, Json>;
  readonly components: {
    readonly securitySchemes: Json;
    readonly schemas: Record<string, unknown>;
  };
};

/** What one document says of its own. */
type DocumentSurface = {
  /** Adds to an operation who may call it, headers and refusals. */
  readonly complete: (operation: DocumentedOperation, route: RouteEntry) => DocumentedOperation;
  /** Replaces what readers of the document do not know. */
  readonly toDocumented?: (name: string, value: unknown) => unknown;
  readonly securitySchemes: Json;
  readonly headers: Readonly<Record<string, Json>>;
  readonly refusals: Readonly<Record<string, DocumentedRefusal>>;
  /**
   * The kinds of refusals, each with the headers of its own by status; the component is called by both,
   * such as `Keyed429`. One that no operation refers to is left out.
   */
  readonly refusedAs: Readonly<Record<string, (status: string) => readonly string[]>>;
  /** Adds what the document is about. */
  readonly finish: (built: Built) => Json;
};

/** The document of the routes that have an operation's id, in their order. */
export function buildDocument(routes: readonly RouteEntry[], surface: DocumentSurface): Json {
  const described: Record<string, Json> = {};
  for (const route of routes) {
    const { method, path, schema, config } = route;
    if (schema?.operationId === undefined || schema.hide || method === "HEAD") continue;
    const text = exactJson(describeRoute(schema, config.streams));
    const operation = JSON.parse(text, surface.toDocumented) as DocumentedOperation;
    const completed = surface.complete(operation, route);
    described[path] = { ...described[path], [method.toLowerCase()]: completed };
  }
  const schemas: Record<string, unknown> = { ...errorSchemas };
  const paths = hoist(described, schemas) as Record<string, Json>;
  const text = exactJson(paths);
  const responses = Object.entries(surface.refusals).flatMap(([status, refusal]) =>
    Object.entries(surface.refusedAs)
      .filter(([kind]) => text.includes(exactJson(referTo(`${kind}${status}`))))
      .map(([kind, listHeaders]) => {
        const common = ["X-Request-ID", ...(status === "429" ? ["Retry-After"] : [])];
        const names = [...common, ...listHeaders(status)];
        return [`${kind}${status}`, describeRefusal(refusal, names)] as const;
      }),
  );
  const { securitySchemes, headers } = surface;
  const components = {
    securitySchemes,
    schemas,
    headers,
    responses: Object.fromEntries(responses),
  };
  return { openapi: "3.1.0", ...surface.finish({ paths, components }) };
}

export function referTo(response: string): Json {
  return { $ref: `#/components/responses/${response}` };
}

function describeRefusal(
  { description, bodies }: DocumentedRefusal,
  headers: readonly string[],
): Json {
  const refs = bodies.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const schema = refs.length === 1 ? refs[0] : { anyOf: refs };
  return { description, headers: references(headers), content: asJson(schema) };
}

export function references(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function describeRoute(
  {
    operationId,
    summary,
    tags: groups,
    description: text,
    querystring,
    params,
    headers: own,
    body,
    response,
  }: FastifySchema,
  streams = false,
): object {
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
          content:
            // The shape is that of each event's data where the answer is a stream.
            declared.content ??
            (streams ? { "text/event-stream": { schema: declared } } : asJson(declared)),
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

const errorSchemas = {
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

type ErrorName = keyof typeof errorSchemas;

/** Moves every schema that has a title into the components and leaves a reference behind. */
export function hoist(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoist(item, schemas));
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, hoist(member, schemas)]),
  );
  const { title, ...schema } = inner;
  if (typeof title !== "string") return inner;
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}
