// The document of the operators' API, made from the operations themselves.

import { documentedPath } from "../platform/http/server.ts";
import { contractVersion } from "../platform/http/openapi.ts";
import type { Operation } from "./operation.ts";
import { operations } from "./operations.ts";

const refusals: Readonly<Record<string, string>> = {
  400: "Malformed body, unknown field or unknown value.",
  401: "Nobody is signed in, or no longer: the token expired, was revoked, or its person disabled.",
  403: "The role does not permit it, or it is your own proposal.",
  404: "No such thing.",
  409: "The state does not allow this, or it waits for a second person.",
  413: "The body exceeds 1048576 bytes.",
  415: "The body is not JSON by its content type.",
  422: "Well-formed but invalid values.",
  429: "Too many calls or attempts; Retry-After says when to try again.",
  500: "A fault of ours, or too much to do: retry with backoff.",
};

const tags: Readonly<Record<string, string>> = {
  People: "Who runs the service, and signing in.",
  Approvals: "What waits for a second person.",
  Keys: "Keys of desks and the plans that meter them.",
  Firms: "Firms of every desk.",
  Desks: "What desks earn.",
  Registry: "Questions to customs and banks, and what they say unasked.",
  Calendar: "Working days.",
  Taxes: "Tax lines, and what was invoiced.",
  Proofs: "That the books and the audit trail hold.",
  Support: "Enquiries and webhooks.",
  Rates: "Rate cards and markets.",
  Inventory: "What the house has to sell.",
  Settlements: "Deals, crosses and money that comes in.",
  Payouts: "Money that leaves.",
  Bank: "The bank's statement, and what it does not explain.",
};

const description = `What operators do, with the use cases of the command line. It is served on the
operators' listener (\`OPS_PORT\`), over loopback or https only. \`POST /ops/sign-in\` gives a token for
\`Authorization: Bearer\`; service keys are not taken here, nor tokens under \`/v1\`. What one person
must not do alone answers \`outcome: "proposed"\` and waits in \`/ops/approvals\`. Money is integer paise,
times are ISO 8601 in IST. An error's slug is \`code\` if present, otherwise \`error\`.`;

export function describeOps(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = documentedPath(operation.path);
    const method = operation.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: describe(operation, path) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Scripdesk operators",
      version: contractVersion,
      description,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The operators' listener." }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes: {
        Session: { type: "http", scheme: "bearer", description: "`operator_…`, from sign-in." },
      },
      schemas: {
        Error: {
          type: "object",
          required: ["error", "message"],
          properties: {
            error: { type: "string", description: "Stable slug." },
            code: { type: "string", description: "Stable slug; prefer it when present." },
            message: { type: "string", description: "For people; its wording may change." },
            request_id: { type: "string", description: "As the X-Request-ID header." },
            detail: { type: "object", additionalProperties: true },
          },
        },
      },
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, text]) => [
          `Refused${status}`,
          {
            description: text,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ]),
      ),
    },
  };
}

function describe(operation: Operation, path: string): object {
  const { operationId, tag, summary, permission, query, body } = operation;
  const fromPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const required: readonly string[] = query.required ?? [];
  const fromQuery = Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
  const isOpen = permission === "none";
  const statuses = Object.keys(refusals).filter((status) => status !== "403" || !isOpen);
  return {
    operationId,
    tags: [tag],
    summary,
    security: isOpen ? [] : [{ Session: [] }],
    ...(!isOpen && { "x-permission": permission }),
    parameters: [...fromPath, ...fromQuery],
    ...(body && {
      requestBody: {
        required: (body.required ?? []).length > 0,
        content: { "application/json": { schema: body } },
      },
    }),
    responses: {
      200: {
        description: "Done, or proposed.",
        content: {
          "application/json": { schema: { type: "object", additionalProperties: true } },
        },
      },
      ...Object.fromEntries(
        statuses.map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
      ),
    },
  };
}
