// What the document says beyond the schemas of the routes: examples of bodies, the reasons of refusals,
// webhooks; and names for bodies and parameters, so that generated clients have types for them.

import type { TSchema } from "typebox";

import type { FailureCode } from "../../kernel/failure.ts";
import { exactJson, isObject } from "../../kernel/json.ts";
import { type Format, mediaTypes } from "./documents.ts";
import { statusByCode } from "./errors.ts";

export type Json = { [name: string]: unknown };

export type DocumentedOperation = Json & {
  operationId: string;
  parameters?: Json[];
  responses: Record<string, Json>;
};

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

const dryRunField = {
  type: "boolean",
  const: true,
  description: "In the answer to a dry run only: nothing was written.",
};

/** What a write answers with has a field that marks a dry run. */
export function tellDryRuns(
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
export function nameBody(operation: DocumentedOperation): void {
  const content = findBodyContent(operation);
  const schema = content?.["schema"];
  if (content && isObject(schema) && schema["title"] === undefined) {
    content["schema"] = { ...schema, title: capitalize(operation.operationId) };
  }
}

export function addExamples(
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

export function addAnswers(
  { responses }: DocumentedOperation,
  answers: Readonly<Record<string, AnswerExample>> | undefined,
): void {
  const good = responses["200"] as { content?: Record<string, Json> } | undefined;
  const content = good?.content?.["application/json"];
  if (content && answers) content["examples"] = answers;
}

/** Says in the terms of JSON Schema which kind an answer is, by what the kinds have of their own. */
export function tellKinds(schemas: Record<string, unknown>): void {
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
export function addPatterns(value: unknown, patterns: Readonly<Record<string, string>>): void {
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
export function addReasons(operation: DocumentedOperation, reasons: Reasons = {}): void {
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
export function nameParameters(paths: Readonly<Record<string, Json>>): Record<string, Json> {
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
export function widenIntegers(value: unknown): unknown {
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
export function addFormats(operation: DocumentedOperation): void {
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
