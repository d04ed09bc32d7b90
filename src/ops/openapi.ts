// The OpenAPI document of the operators' API, generated from the operations.

import type { TObject } from "typebox";

import { operatorRoles } from "../kernel/actor.ts";
import { isPermitted } from "../operators/rules.ts";
import {
  buildDocument,
  type DocumentedOperation,
  type Json,
  references,
  type DocumentedRefusal,
  referTo,
} from "../platform/http/build-document.ts";
import { contractVersion } from "../platform/http/openapi.ts";
import { describeRoute } from "../platform/http/operation.ts";
import type { RouteEntry } from "../platform/http/server.ts";
import { operations } from "./operations.ts";

const refusals: Readonly<Record<string, DocumentedRefusal>> = {
  400: {
    description: "Malformed body, unknown field or unknown value.",
    bodies: ["TradingError", "TransportError"],
  },
  401: {
    description:
      "Nobody is signed in, or no longer: the token expired, was revoked, or its person disabled.",
    bodies: ["EdgeError"],
  },
  403: {
    description:
      "The role does not permit it, it is your own proposal, or the call came over an open wire.",
    bodies: ["TradingError", "EdgeError"],
  },
  404: { description: "There is no such thing.", bodies: ["TradingError"] },
  409: {
    description: "The state does not allow this; detail.reason says why.",
    bodies: ["TradingError"],
  },
  413: { description: "The body exceeds 1048576 bytes.", bodies: ["TransportError"] },
  415: { description: "The body is not JSON by its content type.", bodies: ["TransportError"] },
  422: {
    description: "Well-formed but invalid values; detail.fields names each.",
    bodies: ["TradingError", "TransportError"],
  },
  429: {
    description: "Too many calls or attempts; Retry-After says when to try again.",
    bodies: ["EdgeError"],
  },
  500: {
    description: "A fault of ours, or too much to do: retry with backoff.",
    bodies: ["TransportError"],
  },
};

const tags: Readonly<Record<string, string>> = {
  People: "Who runs the service, and signing in.",
  Approvals: "What waits for a second person.",
  Notices: "Who is told by mail, and what became of it.",
  Overview: "Finding things, and what waits for somebody.",
  Orders: "Orders of every desk.",
  Keys: "Keys of desks and the plans that meter them.",
  Firms: "Firms of every desk.",
  Desks: "Desks, and what they earn.",
  Registry: "Questions to customs and banks, and what they say unasked.",
  Calendar: "Days on which banks and customs work.",
  Taxes: "Tax lines, and what was invoiced.",
  Unattended: "What the service does by itself.",
  Proofs: "That the books and the audit trail hold.",
  Support: "Enquiries and webhooks.",
  Rates: "Rate cards and markets.",
  Inventory: "What the house has to sell.",
  Settlements: "Deals, crosses and money that comes in.",
  Payouts: "Money that leaves.",
  Bank: "The bank's statement, and what it does not explain.",
  House: "Who the house is in law.",
  Accounts: "Statements and the month's papers, as files.",
};

/** What a path names. */
const pathParts: Readonly<Record<string, string>> = {
  address_id: "The id of the address for notices.",
  approval_id: "The proposal's id.",
  credit_id: "The credit's id.",
  cross_id: "The cross's id.",
  desk_id: "The id of the desk's own firm.",
  enquiry_ref: "The enquiry's reference.",
  file_id: "The payout file's id.",
  firm_id: "The firm's id.",
  key_id: "The key's id.",
  line: "The name of the tax line.",
  line_id: "The id of the bank's line.",
  name: "The name of the plan or the form.",
  notice_id: "The notice's id.",
  order_id: "The order's id.",
  payout_id: "The payout's id.",
  period: "The month in IST, YYYY-MM.",
  reference: "The bank's reference of the deposit.",
  settlement_id: "The settlement's id.",
  statement_id: "The id of the bank's statement.",
};

const description = `What operators do, with the use cases of the command line. It is served on the
operators' listener (\`OPS_PORT\`), over loopback or https only. \`POST /ops/sign-in\` gives a token for
\`Authorization: Bearer\`; service keys are not taken here, nor tokens under \`/v1\`. The console's
page sends a cookie instead, which counts only with the header \`X-Scripdesk-Console: 1\` and from this
listener's own origin. What one person
must not do alone answers \`outcome: "proposed"\` and waits in \`/ops/approvals\`. Money is integer paise,
times are ISO 8601 in IST. A machine brings its own
token, \`machine_…\`, from its networks: it reads with the permissions that it was given, and of the acts it
does those that say so. An error's slug is \`code\` if present, otherwise \`error\`.`;

export function describeOps(): Json {
  return buildDocument(operations.map(describeRoute), {
    complete: completeOperation,
    securitySchemes: {
      Session: {
        type: "http",
        scheme: "bearer",
        description: "`operator_…`, from sign-in, or the token of a machine.",
      },
    },
    headers,
    refusals,
    refusedAs: { Refused: () => [] },
    finish: ({ paths, components }) => ({
      info: {
        title: "Scripdesk operators",
        version: contractVersion,
        description,
        contact: { name: "Whoever runs this service" },
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "The operators' listener." }],
      tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
      paths,
      components,
    }),
  });
}

const headers = {
  "X-Request-ID": {
    description: "Echoed when sent, otherwise made here; audit records have it.",
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    schema: { type: "integer" },
  },
};

function completeOperation(
  { operationId, tags: groups, summary, parameters = [], ...operation }: DocumentedOperation,
  route: RouteEntry,
): DocumentedOperation {
  const {
    method,
    path,
    config: { permission },
    schema,
  } = route;
  const fromPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: pathParts[name],
    schema: { type: "string" },
  }));
  const body = schema?.body as TObject | undefined; // Bodies are objects.
  return {
    operationId,
    tags: groups,
    summary,
    description: describeAccess(route),
    security: permission === undefined ? [] : [{ Session: [] }],
    ...(permission !== undefined && { "x-permission": permission }),
    parameters: [
      ...fromPath,
      ...parameters.map(({ name, required, description: text, schema: shape, example }) => ({
        name,
        in: "query",
        required,
        description: text,
        schema: { ...(shape as Json), ...(example !== undefined && { examples: [example] }) },
      })),
    ],
    ...(body && {
      requestBody: {
        required: (body.required ?? []).length > 0,
        content: (operation["requestBody"] as Json)["content"],
      },
    }),
    responses: {
      200: {
        description: "Done, or proposed where it takes two people.",
        headers: references(["X-Request-ID"]),
        content: operation.responses["200"]?.["content"],
      },
      ...Object.fromEntries(
        listRefusals(method).map((status) => [status, referTo(`Refused${status}`)]),
      ),
    },
  };
}

/** The roles that may call it, and that it is audited. */
function describeAccess({
  operationId,
  method,
  config: { permission, machines },
}: RouteEntry): string {
  if (permission === undefined) return "Nobody has to be signed in. Attempts are throttled.";
  const roles = operatorRoles.filter((role) => isPermitted(role, permission));
  const who =
    roles.length === operatorRoles.length
      ? "Every role may call it."
      : `Takes the role ${joinWords(roles)}.`;
  const isRead = method === "GET" || operationId === "previewCard";
  const machinesToo = machines ? " Machines that were given the permission may call it." : "";
  return isRead ? who : `${who}${machinesToo} The audit record names the person.`;
}

function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

function listRefusals(method: string): string[] {
  const cannotBe = method === "GET" ? ["409", "415"] : [];
  return Object.keys(refusals).filter((status) => !cannotBe.includes(status));
}
