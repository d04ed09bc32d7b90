// One schema validates, serialises, types the handler and is the OpenAPI document. This file maps
// the errors of a schema to the contract's answers:
//
//   body     no object at all                        400 bad_request, transport form
//            unknown field, value outside an enum    400 bad_request, names the allowed values
//            anything else                           422 unprocessable, one problem per field;
//                                                    so are control characters in text
//   query    value outside an enum                   400 bad_request
//            anything else                           422 validation_error, transport form
//
// Body values are not converted: "100" is not 100. An optional field that is null counts as left out;
// in a PATCH null clears a field that is nullable. Query strings are text, so whole numbers and
// booleans are parsed where the schema asks for them. On public routes undeclared parameters are
// ignored.

import type { FastifySchemaCompiler } from "fastify";
import type { Static, TObject, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { Settings } from "typebox/system";

import { Failure, type FieldProblem, hintAtPlus, unprocessable } from "../../kernel/failure.ts";
import { isCleanText, isObject } from "../../kernel/json.ts";
import { hasControls } from "../../kernel/text.ts";

/** More than the fields of any body, so that an unknown field is found after all missing ones. */
const problemsMax = 64;
Settings.Set({ maxErrors: problemsMax });

const publicPrefix = "/public/";

export const compileValidator: FastifySchemaCompiler<TSchema> = (route) => {
  const { schema, httpPart, method } = route;
  // Path parameters are opaque ids that use cases look up; headers are read by the edge.
  if (httpPart === "params" || httpPart === "headers") return (value: unknown) => ({ value });
  const isQuery = httpPart === "querystring";
  const ignoresUnknown = isQuery && route.url?.startsWith(publicPrefix);
  let check: Validator | undefined;
  return (sent: unknown) => {
    const value = ignoresUnknown ? pickDeclared(schema, sent) : sent;
    const unclean = isQuery ? findUnclean(value) : [];
    if (unclean.length > 0) return { error: invalidQuery(unclean) };
    const taken = isQuery ? fromText(schema, value) : value;
    check ??= findCheck(schema);
    if (isQuery && !check.Check(taken)) return { error: queryFailure(check.Errors(taken), taken) };
    if (isQuery) return { value: taken };
    let without = taken;
    if (!check.Check(taken)) {
      without = method === "PATCH" ? taken : withoutNulls(schema, taken);
      if (!check.Check(without)) return { error: bodyFailure(check.Errors(without)) };
    }
    const acting = findControls(schema, without);
    return acting.length > 0 ? { error: unprocessable(...acting) } : { value: without };
  };
};

/** The query without undeclared parameters. */
function pickDeclared(schema: TSchema, query: unknown): unknown {
  if (!isObject(query)) return query;
  const known = "properties" in schema && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(known, name)));
}

/** The value without its optional fields that are null, at any depth. */
function withoutNulls(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value;
  const { properties, items, required } = schema;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(items, item));
  if (!isObject(value) || !isObject(properties)) return value;
  const isOptional = (name: string) =>
    Object.hasOwn(properties, name) && !(Array.isArray(required) && required.includes(name));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== null || !isOptional(name))
      .map(([name, member]) => [
        name,
        Object.hasOwn(properties, name) ? withoutNulls(properties[name], member) : member,
      ]),
  );
}

const checks = new WeakMap<TSchema, Validator>();

/** Compiled on first use, so that the service starts faster. */
function findCheck(schema: TSchema): Validator {
  const made = checks.get(schema) ?? Compile(schema);
  checks.set(schema, made);
  return made;
}

/** Query parameters with bad characters; the text of a body is checked when it is parsed. */
function findUnclean(query: unknown): FieldProblem[] {
  return Object.entries(isObject(query) ? query : {}).flatMap(([path, text]) =>
    typeof text === "string" && (!isCleanText(text) || hasControls(text, "line"))
      ? [{ path, problem: "must be plain text" }]
      : [],
  );
}

type Walked = {
  readonly properties?: Readonly<Record<string, Walked>>;
  readonly patternProperties?: Readonly<Record<string, Walked>>;
  readonly items?: Walked;
  readonly anyOf?: readonly Walked[];
  readonly contentMediaType?: string;
};

/**
 * Finds texts with control characters. A text is one line, unless its schema has a media type or it is
 * part of the caller's metadata. Values outside the schema are not checked.
 */
function findControls(schema: TSchema, value: unknown): FieldProblem[] {
  const found: FieldProblem[] = [];
  if (mayAct(value)) walk(schema, value, []);
  return found;

  function walk(part: Walked, inner: unknown, path: readonly string[]): void {
    if (typeof inner === "string") {
      const form = part.contentMediaType === undefined ? "line" : "lines";
      if (found.length < problemsMax && hasControls(inner, form)) {
        found.push({ path: path.join("."), problem: "must not have control characters" });
      }
      return;
    }
    if (typeof inner !== "object" || inner === null) return;
    for (const variant of part.anyOf ?? []) walk(variant, inner, path);
    if (Array.isArray(inner)) {
      const { items } = part;
      if (items) inner.forEach((item, at) => walk(items, item, [...path, String(at)]));
      return;
    }
    const own = Object.values(part.patternProperties ?? {}).length > 0 ? ownText : undefined;
    for (const [name, member] of Object.entries(inner)) {
      const declared = part.properties?.[name] ?? own;
      if (declared) walk(declared, member, [...path, name]);
    }
  }
}

/** A fast check without the schema: nearly every body has no control characters. */
function mayAct(value: unknown): boolean {
  if (typeof value === "string") return hasControls(value, "line");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(mayAct);
}

/** The schema of the caller's own metadata. */
const ownText: Walked = { contentMediaType: "text/plain" };

const wholeNumber = /^-?(?:0|[1-9]\d{0,15})$/;

/** Parses numbers and booleans of a query; `1.5`, `1e1`, `01` and ` 1` stay text and fail the check. */
function fromText(schema: TSchema, query: unknown): unknown {
  if (!isObject(query) || !("properties" in schema) || !isObject(schema.properties)) return query;
  const taken: Record<string, unknown> = { ...query };
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = query[name];
    if (typeof text !== "string" || !isObject(property)) continue;
    if (property["type"] === "integer" && wholeNumber.test(text)) taken[name] = Number(text);
    if (property["type"] === "boolean" && text === "true") taken[name] = true;
    if (property["type"] === "boolean" && text === "false") taken[name] = false;
  }
  return taken;
}

/**
 * For a batch, which answers each item by itself: the body is validated without its items, and a list
 * over its `maxItems` is refused. `itemCheck` validates the items.
 */
export const compileBatchValidator: FastifySchemaCompiler<TSchema> = (route) => {
  if (route.httpPart !== "body") return compileValidator(route);
  const whole = route.schema as TObject<Record<string, TSchema & { maxItems?: number }>>;
  const limits = Object.entries(whole.properties).flatMap(([name, { maxItems }]) =>
    maxItems === undefined ? [] : [{ name, maxItems }],
  );
  const lists = limits.map(({ name }) => [name, { type: "array", minItems: 1 }] as const);
  const properties = { ...whole.properties, ...Object.fromEntries(lists) };
  const check = compileValidator({ ...route, schema: { ...whole, properties } });
  return (value: unknown) => {
    const list = limits.find(({ name, maxItems }) => itemCount(value, name) > maxItems);
    return list ? { error: overLimit(list) } : check(value);
  };
};

/** Validates one item of a batch; returns it, or the Failure that a call with it alone would get. */
export function itemCheck<Schema extends TSchema>(
  schema: Schema,
): (value: unknown) => Static<Schema> | Failure {
  let check: Validator | undefined;
  return (value) => {
    check ??= findCheck(schema);
    const without = check.Check(value) ? value : withoutNulls(schema, value);
    if (check.Check(without)) {
      const acting = findControls(schema, without);
      return acting.length > 0 ? unprocessable(...acting) : (without as Static<Schema>); // Checked.
    }
    if (!isObject(value)) return unprocessable({ path: "", problem: "must be an object" });
    return bodyFailure(check.Errors(without));
  };
}

function itemCount(value: unknown, name: string): number {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.length : 0;
}

function overLimit({ name, maxItems }: { name: string; maxItems: number }): Failure {
  return new Failure("bad_request", `${name} takes at most ${maxItems} items in one call`, {
    detail: { field: name, problem: `at most ${maxItems} items` },
  });
}

type Problems = readonly TLocalizedValidationError[];

function bodyFailure(problems: Problems): Failure {
  const notAnObject = problems.find(
    (found) => found.instancePath === "" && found.keyword === "type",
  );
  if (notAnObject) {
    return new Failure("bad_request", "the body must be a JSON object", { form: "transport" });
  }
  return (
    unknownField(problems) ?? outsideEnum(problems) ?? unprocessable(...listFieldProblems(problems))
  );
}

function queryFailure(problems: Problems, query: unknown): Failure {
  const known = outsideEnum(problems);
  const sent = isObject(query) ? query : {};
  const fields = listFieldProblems(problems).map(({ path, problem }) => ({
    path,
    problem: `${problem}${hintAtPlus(sent[path])}`,
  }));
  return known ?? invalidQuery(fields);
}

function unknownField(problems: Problems): Failure | undefined {
  // The validator reports each unknown field under the keyword `boolean` before their summary, which
  // is cut off when there are very many.
  const found = problems.find(({ keyword }) => keyword === "boolean");
  return found && notAField(dotted(found.instancePath));
}

/** The answer to a body where none is declared. */
export function unknownFields(body: object): Failure {
  return notAField(Object.keys(body)[0] ?? "");
}

/** The answer to a query where none is declared. */
export function unknownParameters(query: object): Failure {
  const fields = Object.keys(query).map((path) => ({ path, problem: "is not known here" }));
  return invalidQuery(fields);
}

function notAField(field: string): Failure {
  return new Failure("bad_request", `${field} is not a field of this request`, {
    detail: { field, problem: "unknown field" },
  });
}

function invalidQuery(fields: readonly FieldProblem[]): Failure {
  const message = fields[0] ? `${fields[0].path}: ${fields[0].problem}` : "the query is not valid";
  return new Failure("validation_error", message, { form: "transport", detail: { fields } });
}

function outsideEnum(problems: Problems): Failure | undefined {
  for (const found of problems) {
    if (found.keyword !== "enum") continue;
    const field = dotted(found.instancePath);
    const allowed = found.params.allowedValues;
    return new Failure("bad_request", `${field} must be one of ${allowed.join(", ")}`, {
      detail: { field, allowed },
    });
  }
  return undefined;
}

function listFieldProblems(problems: Problems): FieldProblem[] {
  const fields = problems.flatMap((found) => {
    const at = dotted(found.instancePath);
    switch (found.keyword) {
      case "required":
        return found.params.requiredProperties.map((name) => ({
          path: at ? `${at}.${name}` : name,
          problem: "is required",
        }));
      case "additionalProperties":
        return found.params.additionalProperties.map((name) => ({
          path: at ? `${at}.${name}` : name,
          problem: "is not known here",
        }));
      case "boolean":
        return []; // Reported by additionalProperties, too.
      default:
        return [{ path: at, problem: found.message }];
    }
  });
  // A value of the wrong type breaks most rules of its field; the first problem is enough.
  return fields.filter((field, index) => fields.findIndex((f) => f.path === field.path) === index);
}

/** `/orders/3/face_paise` as `orders.3.face_paise` */
function dotted(pointer: string): string {
  return pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
}
