// Writes the types and methods of the Python client from the OpenAPI document, as typescript.ts does
// for the other one.
//
//   schemas.py      components, queries and bodies, as typed dictionaries
//   operations.py   a table of the operations, and a method for each

import {
  type Described,
  describeField,
  describeOperations,
  type Document,
  joinForms,
  lastName,
  listEvents,
  type Schema,
} from "./document.ts";

const opening = "# Written by `npm run golden` from docs/openapi.json. Do not edit.\n";

/** Python's own words, among those that a field is called; such a field cannot stand in a class. */
const keywords: ReadonlySet<string> = new Set(["from", "in", "is", "as", "class", "for", "with"]);

type Shape = {
  readonly name: string;
  readonly schema: Schema;
  /** Whether it is one of several kinds, which are told apart by the fields they have. */
  readonly isKind?: boolean;
};

export function writePythonSchemas(document: Document): string {
  const { base, data } = listEvents(document);
  const described = describeOperations(document);
  const kinds = listKinds(document, described);
  const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => {
    if (name === base) return [{ name: eventFacts, schema: dropFields(schema, ["event", "data"]) }];
    return [{ name, schema, isKind: kinds.has(name) }];
  });
  const shapes = [...named, ...described.flatMap(listUnnamed)];
  const events = base === "" ? [] : writeEvents(base, data);
  const texts = [...shapes.flatMap(writeShape), ...events];
  return `${opening}
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union, final

if TYPE_CHECKING:
    from typing_extensions import NotRequired


${texts.join("\n\n")}`;
}

/** The components that stand beside others as what an answer is. */
function listKinds(document: Document, described: readonly Described[]): ReadonlySet<string> {
  const told = Object.values(document.components.schemas).flatMap(
    (schema) => schema["x-kinds"] ?? [],
  );
  const answers = described.map((operation) =>
    operation.answers.flatMap(({ $ref }) => ($ref === undefined ? [] : [lastName($ref)])),
  );
  return new Set([...told, ...answers.filter((names) => new Set(names).size > 1).flat()]);
}

const eventFacts = "EventFacts";

/** A shape for each event, whose name says what its data is. */
function writeEvents(base: string, data: readonly (readonly [string, Schema])[]): string[] {
  const names = data.map(([event]) => `${toTitle(event)}Event`);
  const classes = data.map(([event, schema], at) => {
    const inner: string[] = [];
    const type = writeType(schema, `${toTitle(event)}Data`, inner);
    const fields = `    event: Literal[${JSON.stringify(event)}]\n    data: ${type}\n`;
    return [...inner, `class ${names[at]}(${eventFacts}):\n${fields}`].join("\n\n");
  });
  const union = names.map((name) => `    "${name}",\n`).join("");
  const about = "#: A fact, told by its name; ignore the ones you do not know, for more come.";
  return [...classes, `${about}\n${base} = Union[\n${union}]\n`];
}

function dropFields(schema: Schema, names: readonly string[]): Schema {
  const { properties = {}, required = [] } = schema;
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name));
  return {
    ...schema,
    properties: Object.fromEntries(kept),
    required: required.filter((name) => !names.includes(name)),
  };
}

/** The shapes of an operation that have no name in the document. */
function listUnnamed({ title, query, body, isBodyEmpty, answers, formats }: Described): Shape[] {
  const isUnnamed = ({ $ref, type }: Schema) => $ref === undefined && type === "object";
  const files = formats.map(({ format }) => format).filter((format) => format !== "json");
  return [
    ...(query && files.length === 0 ? [{ name: `${title}Query`, schema: query }] : []),
    ...(query && files.length > 0
      ? [
          { name: `${title}Query`, schema: narrowFormat(query, ["json"]) },
          { name: `${title}FileQuery`, schema: narrowFormat(query, files) },
        ]
      : []),
    ...(body && !isBodyEmpty && isUnnamed(body) ? [{ name: `${title}Body`, schema: body }] : []),
    ...answers.filter(isUnnamed).map((schema) => ({ name: `${title}Answer`, schema })),
  ];
}

/** The query with a choice of these formats; files must be asked for. */
function narrowFormat(query: Schema, formats: readonly string[]): Schema {
  const { properties = {}, required = [] } = query;
  const format = { ...properties["format"], enum: formats };
  const isDefault = formats.includes("json");
  return {
    ...query,
    properties: { ...properties, format },
    required: isDefault ? required : [...required, "format"],
  };
}

/** The text of a shape, and before it those of the shapes inside, each named by where it is. */
function writeShape({ name, schema, isKind = false }: Shape): string[] {
  const { properties = {}, required = [], "x-kinds": kinds } = schema;
  const inner: string[] = [];
  if (kinds) return [`${name} = ${joinNames(kinds)}\n`];
  if (schema["x-forms"]) {
    const forms = joinForms(schema).map((form, at) => ({ name: `${name}${at + 1}`, schema: form }));
    return [
      ...forms.flatMap(writeShape),
      `${name} = ${joinNames(forms.map((form) => form.name))}\n`,
    ];
  }
  if (Object.keys(properties).length === 0) {
    const type = writeType(schema, name, inner);
    return [...inner, `${name} = ${type}\n`];
  }
  const fields = Object.entries(properties).map(([field, of]) => {
    const type = writeType(of, name + toTitle(field), inner);
    return {
      field,
      type: required.includes(field) ? type : `NotRequired[${type}]`,
      about: describeField(of),
    };
  });
  const about = writeDocstring(schema.description, "    ");
  if (fields.some(({ field }) => keywords.has(field))) {
    const rows = fields.map(
      ({ field, type, about: text }) =>
        `${text === "" ? "" : `        # ${text}\n`}        ${JSON.stringify(field)}: ${JSON.stringify(type).replaceAll('\\"', "'")},\n`,
    );
    return [...inner, `${name} = TypedDict(\n    "${name}",\n    {\n${rows.join("")}    },\n)\n`];
  }
  const rows = fields.map(
    ({ field, type, about: text }) =>
      `${text === "" ? "" : `    #: ${text}\n`}    ${field}: ${type}\n`,
  );
  const mark = isKind ? "@final\n" : "";
  return [...inner, `${mark}class ${name}(TypedDict):\n${about}${rows.join("")}`];
}

function joinNames(names: readonly string[]): string {
  return `Union[${names.map((name) => JSON.stringify(name)).join(", ")}]`;
}

function toTitle(field: string): string {
  return field
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** A type that stands in an annotation; shapes inside of it are written to `inner`. */
function writeType(schema: Schema, name: string, inner: string[]): string {
  if (schema.$ref !== undefined) return lastName(schema.$ref);
  const either = schema.oneOf ?? schema.anyOf;
  if (either) {
    const types = either.map((one, at) => writeType(one, `${name}${at + 1}`, inner));
    return `Union[${types.map((type) => (/^\w+$/.test(type) ? `"${type}"` : type)).join(", ")}]`;
  }
  const types = [schema.type ?? []].flat();
  const plain = types.filter((type) => type !== "null");
  const isNullable = plain.length < types.length;
  const type = writeKnown(schema) ?? writePlain(plain[0], schema, name, inner);
  return isNullable ? `Optional[${type}]` : type;
}

/** Any text is allowed where the set is open, and an editor still offers the known ones. */
function writeKnown(schema: Schema): string | undefined {
  const open = schema["x-extensible-enum"];
  const known = open ?? schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (!known) return undefined;
  const values = known.filter((value) => value !== null).map(writeValue);
  return open ? `Union[Literal[${values.join(", ")}], str]` : `Literal[${values.join(", ")}]`;
}

function writeValue(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

function writePlain(
  type: string | undefined,
  schema: Schema,
  name: string,
  inner: string[],
): string {
  switch (type) {
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "array":
      return `List[${writeType(schema.items ?? {}, `${name}Item`, inner)}]`;
    case "object":
      return writeObject(schema, name, inner);
    default:
      return "Any";
  }
}

function writeObject(schema: Schema, name: string, inner: string[]): string {
  const { properties = {}, additionalProperties } = schema;
  if (Object.keys(properties).length > 0) {
    inner.push(...writeShape({ name, schema }));
    return name;
  }
  const values =
    typeof additionalProperties === "object"
      ? writeType(additionalProperties, `${name}Value`, inner)
      : "Any";
  return `Dict[str, ${values}]`;
}

export function writePythonOperations(document: Document): string {
  const described = describeOperations(document);
  const rows = described.map(writeRow).join("");
  return `${opening}# An answer is what the document says; a reader of JSON cannot know.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, Union, overload

from .options import Call, DeskEvent, Operation, StreamEvent
from .paging import PagedList

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import schemas
    from .options import CallOptions, CreateOptions, StreamOptions, WriteOptions

API_VERSION = ${JSON.stringify(document.info.version)}

#: What the methods send, by the operation's name in the document.
OPERATIONS: Dict[str, Operation] = {
${rows}}


class Operations:
    """One method for each operation of the document."""

    def _run(self, operation: Operation, call: Call) -> Any:
        raise NotImplementedError

${described.map(writeMethod).join("\n")}`;
}

function writeRow({ id, method, path, kind, items, takesKey, isKeyless }: Described): string {
  const words = [
    ...[id, method, path, kind].map((word) => JSON.stringify(word)),
    ...(items ? [`items=${JSON.stringify(items.field)}`] : []),
    ...(takesKey ? ["takes_key=True"] : []),
    ...(isKeyless ? ["is_keyless=True"] : []),
  ];
  return `    ${JSON.stringify(id)}: Operation(${words.join(", ")}),\n`;
}

function writeMethod(operation: Described): string {
  const { id, title, named, query, body, isBodyEmpty, formats } = operation;
  const bodyType = body && (body.$ref === undefined ? `${title}Body` : lastName(body.$ref));
  const isQueryOptional = !query?.required?.length;
  const given = [
    "self",
    ...named.map((name) => `${name}: str`),
    // The option of the same name stays one.
    ...(named.includes("request_id") ? ["/"] : []),
    ...(query ? [`query: schemas.${title}Query${isQueryOptional ? " = {}" : ""}`] : []),
    ...(body && !isBodyEmpty
      ? [`body: schemas.${bodyType}${operation.isBodyOptional ? " = {}" : ""}`]
      : []),
    `**options: Unpack[${chooseOptions(operation)}]`,
  ];
  const path = named.map((name) => `${JSON.stringify(name)}: ${name}`).join(", ");
  const sentBody = isBodyEmpty ? "{}" : "body";
  const call = `Call({${path}}, ${query ? "query" : "{}"}, ${body ? sentBody : "None"}, options)`;
  const name = toSnake(id);
  if (formats.length > 0) {
    const isFile = (word: string) => word.startsWith("query:");
    const asFile = given.map((word) => (isFile(word) ? `query: schemas.${title}FileQuery` : word));
    const files = [...new Set(formats.map(({ as }) => fileTypes[as] ?? ""))].filter(Boolean);
    const returned = files.length > 1 ? `Union[${files.join(", ")}]` : files[0];
    const loose = given.map((word) => (isFile(word) ? "query: Any = {}" : word));
    return `    @overload
    def ${name}(${given.join(", ")}) -> ${writeReturned(operation)}: ...

    @overload
    def ${name}(${asFile.join(", ")}) -> ${returned}: ...

    def ${name}(${loose.join(", ")}) -> Any:
${writeDocstring(operation.about, "        ")}        return self._run(OPERATIONS["${id}"], ${call})
`;
  }
  return `    def ${name}(${given.join(", ")}) -> ${writeReturned(operation)}:
${writeDocstring(operation.about, "        ")}        return self._run(OPERATIONS["${id}"], ${call})
`;
}

export function toSnake(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function chooseOptions({ kind, isWrite, takesKey }: Described): string {
  if (kind === "events") return "StreamOptions";
  if (takesKey) return "CreateOptions";
  return isWrite ? "WriteOptions" : "CallOptions";
}

/** What streams carry, where that has a type. */
const streamed: Readonly<Record<string, string>> = { streamEvents: "DeskEvent" };

/** What a file is in Python. */
const fileTypes: Readonly<Record<string, string>> = { text: "str", bytes: "bytes" };

function writeReturned({ id, kind, title, answers, items }: Described): string {
  const nameAnswer = ({ $ref }: Schema) =>
    `schemas.${$ref === undefined ? `${title}Answer` : lastName($ref)}`;
  const names = [...new Set(answers.map(nameAnswer))];
  const json = names.length > 1 ? `Union[${names.join(", ")}]` : (names[0] ?? "Any");
  switch (kind) {
    case "json":
      return json;
    case "list": {
      const row = items?.row.$ref;
      return `PagedList[${json}, ${row === undefined ? "Any" : `schemas.${lastName(row)}`}]`;
    }
    case "events":
      return `Iterator[${streamed[id] ?? "StreamEvent"}]`;
    case "lines":
      return "Iterator[str]";
    case "text":
      return "str";
    case "bytes":
      return "bytes";
  }
}

function writeDocstring(text: string | undefined, indent: string): string {
  if (text === undefined || text === "") return "";
  const lines = text.replaceAll("\\", "\\\\").replaceAll('"""', "'''").split("\n");
  const [first = "", ...rest] = lines.map((line) => line.trimEnd());
  const end = rest.length > 0 || first.endsWith('"') ? `\n${indent}` : "";
  const more = rest.map((line) => `\n${line === "" ? "" : indent + line}`).join("");
  return `${indent}"""${first}${more}${end}"""\n`;
}
