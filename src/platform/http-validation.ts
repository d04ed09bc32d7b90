// One schema validates, serialises, types the handler and is the OpenAPI document. This file turns
// what a schema finds wrong into the contract's answers:
//
//   body     no object at all                        400 bad_request, transport form
//            unknown field, value outside an enum    400 bad_request, names the allowed values
//            anything else                           422 unprocessable, one problem per field
//   query    value outside an enum                   400 bad_request
//            anything else                           422 validation_error, transport form
//
// Bodies are taken as they are: "100" is not 100, and nothing is dropped. Query strings are text,
// so their numbers are read: plain whole numbers, and 1.5 is not 1.

import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";

import { Failure, type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";

const wholeNumberForm = /^-?(0|[1-9][0-9]*)$/;

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // Path parameters are opaque text that names something or nothing; headers are read by the edge.
  if (httpPart === "params" || httpPart === "headers") return (value: unknown) => ({ value });
  const check = Compile(schema);
  const isQuery = httpPart === "querystring";
  return (value: unknown) => {
    const taken = isQuery ? withNumbers(schema, value as JsonObject) : value;
    if (check.Check(taken)) return { value: taken };
    const problems = check.Errors(taken);
    return { error: isQuery ? queryFailure(problems) : bodyFailure(problems) };
  };
};

/** The query with whole numbers where the schema has them; any other text stays and is refused. */
function withNumbers(schema: TSchema, query: JsonObject): JsonObject {
  const properties: unknown = "properties" in schema ? schema.properties : {};
  const taken = Object.entries(query).map(([name, text]) => {
    const property = isObject(properties) ? properties[name] : undefined;
    const isNumber =
      isObject(property) &&
      property["type"] === "integer" &&
      typeof text === "string" &&
      wholeNumberForm.test(text);
    return [name, isNumber ? Number(text) : text] as const;
  });
  return Object.fromEntries(taken);
}

type Problems = readonly TLocalizedValidationError[];

function bodyFailure(problems: Problems): Failure {
  const notAnObject = problems.find(
    (found) => found.instancePath === "" && found.keyword === "type",
  );
  if (notAnObject) {
    return new Failure("bad_request", "the body must be a JSON object", { form: "transport" });
  }
  return unknownField(problems) ?? outsideEnum(problems) ?? unprocessable(...fieldsOf(problems));
}

function queryFailure(problems: Problems): Failure {
  const known = outsideEnum(problems);
  if (known) return known;
  const fields = fieldsOf(problems);
  const message = fields[0] ? `${fields[0].path}: ${fields[0].problem}` : "the query is not valid";
  return new Failure("validation_error", message, { form: "transport", detail: { fields } });
}

function unknownField(problems: Problems): Failure | undefined {
  for (const found of problems) {
    if (found.keyword !== "additionalProperties") continue;
    const [name] = found.params.additionalProperties;
    const field = dotted(`${found.instancePath}/${name}`);
    return new Failure("bad_request", `${field} is not a field of this request`, {
      detail: { field, problem: "unknown field" },
    });
  }
  return undefined;
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

function fieldsOf(problems: Problems): FieldProblem[] {
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
        return []; // Said better by additionalProperties.
      default:
        return [{ path: at, problem: found.message }];
    }
  });
  // A value of the wrong type breaks most rules of its field; the first one says it.
  return fields.filter((field, index) => fields.findIndex((f) => f.path === field.path) === index);
}

/** `/orders/3/face_paise` as `orders.3.face_paise` */
function dotted(pointer: string): string {
  return pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
}
