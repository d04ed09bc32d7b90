// Writes the types and methods of the TypeScript client from the OpenAPI document. `npm run golden`
// runs it; a test fails when what it would write is not what is there.
//
//   schemas.ts      the components, as types
//   operations.ts   per operation: its query and body as types, a row of the table, a method

import {
  type Described,
  describeOperations,
  type Document,
  findSent,
  type Kind,
  listEvents,
  type Schema,
} from "./document.ts";
import { writeType } from "./typescript-types.ts";

const opening = "// Written by `npm run golden` from docs/openapi.json. Do not edit.\n";

/** What streams carry is said in words in the document, and as types in src/streams.ts. */
const streamed: Readonly<Record<string, string>> = {
  streamMarket: "MarketEvent",
  streamEvents: "DeskEvent",
};

export function writeSchemas(document: Document): string {
  const sent = findSent(document);
  const { base, data } = listEvents(document);
  const types = Object.entries(document.components.schemas).map(([name, schema]) => {
    const type = writeType(schema, { isSent: sent.has(name), prefix: "" });
    return `${comment(schema.description)}export type ${name === base ? anyEvent : name} = ${type};\n`;
  });
  const events = base === "" ? [] : writeEvents(base, data);
  return `${opening}\nimport type { OneOf } from "./one-of.ts";\n\n${[...types, ...events].join("\n")}`;
}

const anyEvent = "AnyEvent";

/** The event's name tells what its data is. */
function writeEvents(base: string, data: readonly (readonly [string, Schema])[]): string[] {
  const rows = data.map(([event, schema]) => {
    return `  ${JSON.stringify(event)}: ${writeType(schema, { isSent: false, prefix: "  " })};\n`;
  });
  return [
    `/** What each event carries. */\nexport type EventData = {\n${rows.join("")}};\n`,
    `/** A fact, told by its name; ignore the ones you do not know, for more come. */
export type ${base} = {
  [Name in keyof EventData]: Omit<${anyEvent}, "event" | "data"> & {
    /** What happened. */
    event: Name;
    /** Facts of this event. */
    data: EventData[Name];
  };
}[keyof EventData];\n`,
  ];
}

export function writeOperations(document: Document): string {
  const described = describeOperations(document);
  const types: string[] = [];
  const methods = described.map((operation) => writeMethod(operation, types));
  const text = [
    ...types,
    `export const api_version = ${JSON.stringify(document.info.version)};\n`,
    "/** What the methods send, by the operation's name in the document. */",
    `export const operations = {\n${described.map(writeRow).join("")}} as const satisfies Record<string, Operation>;\n`,
    "/** One method for each operation of the document. */",
    `export abstract class Operations {\n  protected abstract run(operation: Operation, call: Call): unknown;\n\n${methods.join("\n")}}\n`,
  ].join("\n");
  return `${opening}\n${writeImports(document, text)}\n${text}`;
}

const optionTypes = [
  "Call",
  "CallOptions",
  "CreateOptions",
  "Operation",
  "StreamOptions",
  "WriteOptions",
];

/** Only what is used, for a name that is not would be an error. */
function writeImports({ components }: Document, text: string): string {
  const code = text.replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
  const imports = {
    "./list.ts": ["List"],
    "./one-of.ts": ["OneOf"],
    "./options.ts": optionTypes,
    "./schemas.ts": Object.keys(components.schemas),
    "./streams.ts": ["StreamEvent", ...Object.values(streamed)],
  };
  const lines = Object.entries(imports).map(([from, names]) => {
    const used = names.filter((name) => new RegExp(`(?<![."\\w])${name}\\b(?!:)`).test(code));
    return `import type { ${used.toSorted().join(", ")} } from "${from}";\n`;
  });
  return lines.join("");
}

function writeRow({ id, method, path, kind, items, takesKey, isKeyless }: Described): string {
  const fields = {
    id,
    method,
    path,
    kind,
    ...(items && { items: items.field }),
    ...(takesKey && { takes_key: true }),
    ...(isKeyless && { is_keyless: true }),
  };
  const texts = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `  ${id}: { ${texts.join(", ")} },\n`;
}

/** The method; types that it needs and that have no name in the document are added. */
function writeMethod(operation: Described, types: string[]): string {
  const { id, title, named, query, body, formats } = operation;
  const nameType = (schema: Schema, suffix: string, isSent: boolean): string => {
    const type = writeType(schema, { isSent, prefix: "" });
    if (schema.$ref !== undefined || schema.type !== "object") return type;
    types.push(`export type ${title}${suffix} = ${type};\n`);
    return `${title}${suffix}`;
  };
  const queryType = query && nameType(query, "Query", true);
  const bodyType = body && !operation.isBodyEmpty ? nameType(body, "Body", true) : undefined;
  const json = [...new Set(operation.answers.map((schema) => nameType(schema, "Answer", false)))];
  const answer = json.length > 1 ? `OneOf<${json.join(" | ")}>` : json.join("");
  const returns = (as: Kind) => writeReturned(operation, as, answer);

  const first = named.map((name) => `${name}: string`);
  const isQueryOptional = !query?.required?.length;
  const given = [
    ...first,
    ...(queryType === undefined ? [] : [`query: ${queryType}${isQueryOptional ? " = {}" : ""}`]),
    ...(bodyType === undefined
      ? []
      : [`body: ${bodyType}${operation.isBodyOptional ? " = {}" : ""}`]),
    `options: ${chooseOptions(operation)} = {}`,
  ];
  const sent = [
    ...(named.length > 0 ? [`path: { ${named.join(", ")} }`] : []),
    ...(query ? ["query"] : []),
    ...(body ? [operation.isBodyEmpty ? "body: {}" : "body"] : []),
    "options",
  ];
  const call = `this.run(operations.${id}, { ${sent.join(", ")} })`;
  const about = comment(operation.about, "  ");
  if (formats.length === 0) {
    const returned = returns(operation.kind);
    return `${about}  ${id}(${given.join(", ")}): ${returned} {\n    return ${call} as ${returned};\n  }\n`;
  }
  const overloads = formats.map(({ format, as }) => {
    const isDefault = format === "json";
    const name = `query${isDefault && isQueryOptional ? "?" : ""}`;
    const chosen = `${queryType} & { readonly format${isDefault ? "?" : ""}: "${format}" }`;
    const words = [...first, `${name}: ${chosen}`, `options?: ${chooseOptions(operation)}`];
    return `${about}  ${id}(${words.join(", ")}): ${returns(as)};\n`;
  });
  return `${overloads.join("")}  ${id}(${given.join(", ")}): unknown {\n    return ${call};\n  }\n`;
}

function chooseOptions({ kind, isWrite, takesKey }: Described): string {
  if (kind === "events") return "StreamOptions";
  if (takesKey) return "CreateOptions";
  return isWrite ? "WriteOptions" : "CallOptions";
}

function writeReturned({ id, items }: Described, as: Kind, json: string): string {
  switch (as) {
    case "json":
      return `Promise<${json}>`;
    case "list":
      return `List<${json}, ${JSON.stringify(items?.field)}>`;
    case "events":
      return `AsyncIterable<${streamed[id] ?? "StreamEvent"}>`;
    case "lines":
      return "AsyncIterable<string>";
    case "text":
      return "Promise<string>";
    case "bytes":
      return "Promise<Uint8Array>";
  }
}

function comment(text: string | undefined, indent = ""): string {
  if (text === undefined || text === "") return "";
  const lines = text.replaceAll("*/", "* /").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n");
  return `${indent}/**\n${body}\n${indent} */\n`;
}
