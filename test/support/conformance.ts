// Whether answers are what an OpenAPI document says, and have no field that it does not name.

import assert from "node:assert/strict";

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { isObject } from "../../src/kernel/json.ts";
import type { Answer, Send } from "./service.ts";

type Responses = Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>;
type Document = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly operationId: string; readonly responses: Responses }>>
    >
  >;
};

/** Asserts that the answer to a call is as documented; a path that is not in the document is let be. */
export type CheckAnswer = (
  method: string,
  path: string,
  answer: Pick<Answer, "status" | "body" | "text">,
) => void;

export function openConformance(given: object): CheckAnswer {
  const document = refuseUnnamed(given) as Document; // A document with fewer freedoms.
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "api", undefined, false);
  const operations = Object.entries(document.paths).flatMap(([template, item]) => {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return Object.entries(item).map(([method, { operationId, responses }]) => {
      const place = `api#/paths/${escapePointer(template)}/${method}/responses`;
      return { method, template, pattern, operationId, responses, place };
    });
  });
  // A path without a parameter before one that also fits.
  operations.sort((one, other) => countParameters(one.template) - countParameters(other.template));
  const validators = new Map<string, ValidateFunction>();
  const compileOnce = (reference: string) => {
    const known = validators.get(reference) ?? ajv.compile({ $ref: reference });
    validators.set(reference, known);
    return known;
  };
  return (method, path, { status, body, text }) => {
    const [bare = ""] = path.split("?");
    const operation = operations.find(
      (candidate) => candidate.method === method.toLowerCase() && candidate.pattern.test(bare),
    );
    if (!operation) return;
    const { operationId, responses, place } = operation;
    const response = responses[status];
    assert.ok(response, `${operationId} documents no ${status}: ${text.slice(0, 500)}`);
    // Of a stream only how it opened is known.
    if (response.content && "text/event-stream" in response.content) return;
    const where = response.$ref === undefined ? `${place}/${status}` : `api${response.$ref}`;
    const validate = compileOnce(encodeURI(`${where}/content/application~1json/schema`));
    assert.ok(
      validate(body),
      `${operationId} ${status} is not as documented: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 2_000)}`,
    );
  };
}

/** A client whose every answer is checked. */
export function checkedSender(send: Send, check: CheckAnswer): Send {
  return async (method, path, options) => {
    const answer = await send(method, path, options);
    check(method, path, answer);
    return answer;
  };
}

/** Every object of the document takes the fields that it names and no other, unless it says so. */
function refuseUnnamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refuseUnnamed);
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, refuseUnnamed(member)]),
  );
  const isShape = [inner["type"]].flat().includes("object") && isObject(inner["properties"]);
  if (!isShape || "additionalProperties" in inner) return inner;
  return { ...inner, additionalProperties: false };
}

function escapePointer(path: string): string {
  return path.replaceAll("~", "~0").replaceAll("/", "~1");
}

function countParameters(template: string): number {
  return template.split("{").length;
}
