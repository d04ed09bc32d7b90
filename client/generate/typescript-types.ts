// A schema of the document as a TypeScript type.

import { describeField, lastName, type Schema, splitForms } from "./document.ts";

export type Writing = {
  /** What is sent may be somebody's frozen list, and may have fields that are undefined. */
  readonly isSent: boolean;
  readonly prefix: string;
};

export function writeType(schema: Schema, writing: Writing): string {
  if (schema.$ref !== undefined) return lastName(schema.$ref);
  if (schema["x-kinds"]) return `OneOf<${schema["x-kinds"].join(" | ")}>`;
  if (schema["x-forms"]) return writeForms(schema, writing);
  if (schema.allOf) return joinTypes(schema.allOf, " & ", writing);
  const either = schema.oneOf ?? schema.anyOf;
  if (either) return joinTypes(either, " | ", writing);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? []].flat();
  const known = schema["x-extensible-enum"] ?? schema.enum;
  if (known) {
    const values = known.filter((value) => value !== null).map((value) => JSON.stringify(value));
    // Any text is allowed, and an editor still offers the known ones.
    const open = schema["x-extensible-enum"] ? ["(string & {})"] : [];
    const none = types.includes("null") ? ["null"] : [];
    return [...values, ...open, ...none].join(" | ");
  }
  if (types.length === 0)
    return schema.properties ? writePlain("object", schema, writing) : "unknown";
  return types.map((type) => writePlain(type, schema, writing)).join(" | ");
}

function writeForms(schema: Schema, writing: Writing): string {
  const { common, lists } = splitForms(schema);
  const inner = { ...writing, prefix: `${writing.prefix}  ` };
  const forms = lists.map((list) => {
    const types = list.map((form) => `\n${inner.prefix}| ${writePlain("object", form, inner)}`);
    return `OneOf<${types.join("")}\n${writing.prefix}>`;
  });
  const isShared = Object.keys(common.properties ?? {}).length > 0;
  return [...(isShared ? [writePlain("object", common, writing)] : []), ...forms].join(" & ");
}

function joinTypes(schemas: readonly Schema[], by: string, writing: Writing): string {
  return schemas.map((schema) => `(${writeType(schema, writing)})`).join(by);
}

function writePlain(type: string, schema: Schema, writing: Writing): string {
  if (type === "integer") return "number";
  if (type === "array") return writeArray(schema.items ?? {}, writing);
  if (type !== "object") return type;
  const { properties = {}, additionalProperties, required = [] } = schema;
  const isEmpty = Object.keys(properties).length === 0;
  if (typeof additionalProperties === "object") {
    return `{ [name: string]: ${writeType(additionalProperties, writing)} }`;
  }
  if (isEmpty)
    return additionalProperties === false ? "Record<string, never>" : "{ [name: string]: unknown }";
  return writeObject(properties, required, writing);
}

function writeArray(items: Schema, writing: Writing): string {
  const item = writeType(items, writing);
  const list = /^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`;
  return writing.isSent ? `readonly ${list}` : list;
}

export function writeObject(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  writing: Writing,
): string {
  const prefix = `${writing.prefix}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const type = writeType(schema, { ...writing, prefix });
    const absent = writing.isSent && !isRequired ? " | undefined" : "";
    const about = describeField(schema).replaceAll("*/", "* /");
    const text = about === "" ? "" : `${prefix}/** ${about} */\n`;
    return `${text}${prefix}${/^\w+$/.test(name) ? name : JSON.stringify(name)}${isRequired ? "" : "?"}: ${type}${absent};\n`;
  });
  return `{\n${fields.join("")}${writing.prefix}}`;
}
