// The tools that `npx scripdesk mcp` offers, made from the service's own document: every read, quotes
// and covers, and every other write as a dry run. A key's scopes decide which of them there are.

import {
  type Operation,
  operations,
  readHead,
  type Scripdesk,
  ScripdeskError,
} from "../client/src/index.ts";

type Json = { readonly [name: string]: unknown };

type Documented = {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: Json } };
  };
  readonly "x-scope"?: string;
  readonly "x-or-scope"?: string;
};

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
};

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Json;
};

type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object" } & Json;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: false };
};

type ToolAnswer = {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: true;
};

type Toolbox = {
  readonly tools: readonly Tool[];
  call(name: string, given: Json): Promise<ToolAnswer>;
};

/** What an agent with one task needs, where 100 tools would crowd its conversation. */
export const toolSets: Readonly<Record<string, readonly string[]>> = {
  sell: [
    "listCredits",
    "readCredit",
    "takeQuote",
    "takeQuoteBatch",
    "readQuote",
    "dryRunPlaceOrder",
    "listOrders",
    "readOrder",
    "readSettlement",
    "listPayouts",
  ],
  cover: [
    "listRequirements",
    "readRequirement",
    "takeQuote",
    "readQuote",
    "dryRunCoverRequirement",
    "dryRunPlaceOrder",
    "listOrders",
    "readOrder",
    "readSettlement",
    "readPositions",
  ],
  cross: ["quoteCross", "dryRunProposeCross", "listCrosses", "readCross", "readSettlement"],
  duties: ["listFirms", "readFirm", "listTasks", "listSettlements", "readSettlement"],
  month: ["listStatements", "readStatement", "listPayouts", "listDeposits", "readPositions"],
};
const always = ["whoAmI", "listFirms"];

/** Writes that commit nobody: they are called as they are. */
const quoting = ["takeQuote", "takeQuoteBatch", "quoteCross"];
/** What an answer may have at most, so that it fits into a conversation. */
const answerCharsMax = 200_000;
const rowsDefault = 50;

type Offered = Tool & {
  readonly operation: Operation;
  readonly documented: Documented;
  readonly inQuery: readonly string[];
};

/** Asks the service who the key is and what there is; of that, the tools of `sets` where some are named. */
export async function openToolbox(
  client: Scripdesk,
  sets: readonly string[] = [],
): Promise<Toolbox> {
  const wanted = new Set([...always, ...sets.flatMap((name) => toolSets[name] ?? [])]);
  const { scopes, kind } = await client.whoAmI();
  const document = (await client.readOpenApi()) as unknown as Document;
  const mayCall = ({ "x-scope": scope, "x-or-scope": other }: Documented): boolean => {
    if (scope === undefined || scope === "any key") return true;
    if (scope === "root key") return kind === "root";
    return ["*", scope, other ?? scope].some((enough) => scopes.includes(enough));
  };
  const documented = Object.values(document.paths).flatMap((item) => Object.values(item));
  const tools = documented
    .filter(mayCall)
    .flatMap((one) => offer(one, document))
    .filter(({ name }) => sets.length === 0 || wanted.has(name))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  return { tools, call: async (name, given) => await call(client, tools, name, given) };
}

/** The tool of an operation; none for streams, files, and writes that cannot be tried. */
function offer(documented: Documented, document: Document): Offered[] {
  const { operationId, parameters = [], requestBody, summary, description } = documented;
  const known: Readonly<Record<string, Operation>> = operations;
  const operation = known[operationId];
  if (!operation || (operation.kind !== "json" && operation.kind !== "list")) return [];
  const resolved = parameters.flatMap(
    ({ $ref }) => document.components.parameters[$ref.split("/").at(-1) ?? ""] ?? [],
  );
  const isRead = operation.method === "GET";
  const isQuote = quoting.includes(operationId);
  const isTried = !isRead && !isQuote;
  if (isTried && operation.is_keyless === true) return [];
  // An agent reads JSON: a tool answers with no file.
  const taken = resolved.filter(({ in: place, name }) => place !== "header" && name !== "format");
  const body = requestBody?.content["application/json"].schema;
  const about = [summary, description].filter(Boolean).join(". ");
  const properties = {
    ...Object.fromEntries(
      taken.map(({ name, schema, description: text }) => [name, { ...schema, description: text }]),
    ),
    ...(body && { body }),
  };
  const required = taken.filter((one) => one.required === true).map(({ name }) => name);
  const schema = {
    properties,
    required: [...required, ...(body ? ["body"] : [])],
    additionalProperties: false,
  };
  return [
    {
      name: isTried
        ? `dryRun${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`
        : operationId,
      description: isTried ? `A dry run, which changes nothing. ${about}` : about,
      inputSchema: { type: "object", ...embedSchemas(schema, document) },
      annotations: { readOnlyHint: !isQuote, destructiveHint: false },
      operation,
      documented,
      inQuery: taken.filter((one) => one.in === "query").map(({ name }) => name),
    },
  ];
}

const componentPrefix = "#/components/schemas/";

/** The schema with all components that it refers to, as its own definitions. */
function embedSchemas(schema: Json, { components }: Document): Json {
  const found = new Map<string, Json>();
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    const reference = (value as Json)["$ref"];
    if (typeof reference === "string" && reference.startsWith(componentPrefix)) {
      const name = reference.slice(componentPrefix.length);
      if (!found.has(name)) {
        found.set(name, {});
        found.set(name, visit(components.schemas[name] ?? {}) as Json);
      }
      return { $ref: `#/$defs/${name}` };
    }
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member)]));
  };
  const own = visit(schema) as Json;
  return found.size > 0 ? { ...own, $defs: Object.fromEntries(found) } : own;
}

async function call(
  client: Scripdesk,
  tools: readonly Offered[],
  name: string,
  given: Json,
): Promise<ToolAnswer> {
  const tool = tools.find((one) => one.name === name);
  if (!tool)
    return refuse({ error: "unknown_tool", message: `there is no tool ${name} for this key` });
  const { operation, inQuery } = tool;
  const known = Object.keys(tool.inputSchema["properties"] as Json);
  const unknown = Object.keys(given).filter((field) => !known.includes(field));
  if (unknown.length > 0) {
    return refuse({ error: "bad_request", message: `${unknown.join(", ")}: not known here` });
  }
  const named = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
  const lacking = named.filter((field) => typeof given[field] !== "string" || given[field] === "");
  if (lacking.length > 0) {
    return refuse({ error: "bad_request", message: `${lacking.join(", ")}: is required, as text` });
  }
  const query = Object.fromEntries(
    inQuery.flatMap((field) => (field in given ? [[field, given[field]]] : [])),
  );
  const paged = operation.kind === "list" ? { limit: rowsDefault, ...query } : query;
  const isTried = tool.name.startsWith("dryRun");
  const words = [
    ...named.map((field) => given[field]),
    ...(inQuery.length > 0 ? [paged] : []),
    ...(takesBody(tool) ? [given["body"] ?? {}] : []),
    isTried ? { dry_run: true } : {},
  ];
  try {
    const methods = client as unknown as Readonly<
      Record<string, (...words: unknown[]) => Promise<object>>
    >;
    const answer = (await methods[operation.id]?.apply(client, words)) ?? {};
    // The end of a price for cover is in a header only.
    const { quote_valid_until: valid_until } = readHead(answer);
    const text = JSON.stringify(valid_until === undefined ? answer : { ...answer, valid_until });
    if (text.length <= answerCharsMax) return { content: [{ type: "text", text }] };
    return refuse({
      error: "too_long",
      message: "the answer is too long: ask for less, by limit or a filter",
    });
  } catch (error) {
    // The client refuses what it cannot send, such as a body that is no object.
    if (error instanceof TypeError) return refuse({ error: "bad_request", message: error.message });
    if (!(error instanceof ScripdeskError)) throw error;
    const { slug, status, message, detail, request_id } = error;
    return refuse({ error: slug, status, message, detail, request_id });
  }
}

/** The client's methods take no body where it has no fields. */
function takesBody({ inputSchema }: Offered): boolean {
  const { body } = inputSchema["properties"] as { readonly body?: Json };
  const reference = body?.["$ref"];
  if (typeof reference !== "string") return false;
  const schemas = inputSchema["$defs"] as Readonly<Record<string, Json>>;
  const named = schemas[reference.slice("#/$defs/".length)];
  return Object.keys(named?.["properties"] ?? {}).length > 0;
}

function refuse(told: Json): ToolAnswer {
  return { content: [{ type: "text", text: JSON.stringify(told) }], isError: true };
}
