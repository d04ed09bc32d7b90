// Chooses the format of an answer by the Accept header, for routes that have a choice. `format` in the
// query goes before it. Where nothing that is accepted can be answered, the answer is JSON: the contract
// has no 406, and errors are JSON whatever is accepted.

import type { preValidationHookHandler } from "fastify";

import { isObject } from "../../kernel/json.ts";
import { type Format, mediaTypes } from "./documents.ts";
import type { App } from "./server.ts";

/** Gives every route with a `format` parameter a choice by Accept. */
export function negotiateFormats(app: App): void {
  app.addHook("onRoute", (route) => {
    const formats = findFormats(route.schema?.querystring);
    if (formats.length === 0) return;
    route.preValidation = [buildChooser(formats), route.preValidation ?? []].flat();
  });
}

function findFormats(querystring: unknown): Format[] {
  const properties = isObject(querystring) ? querystring["properties"] : undefined;
  const format = isObject(properties) ? properties["format"] : undefined;
  const values = isObject(format) && Array.isArray(format["enum"]) ? format["enum"] : [];
  return values.filter((value): value is Format => Object.hasOwn(mediaTypes, value as string));
}

function buildChooser(formats: readonly Format[]): preValidationHookHandler {
  return (request, reply, next) => {
    reply.header("vary", "Accept");
    const query = request.query as Record<string, unknown>; // Parsed by the framework.
    const chosen = chooseFormat(request.headers.accept, formats);
    if (query["format"] === undefined && chosen !== "json") query["format"] = chosen;
    next();
  };
}

type MediaRange = { readonly type: string; readonly q: number };

/** The accepted format with the highest weight, of several the first that is offered; else JSON. */
export function chooseFormat(accept: string | undefined, formats: readonly Format[]): Format {
  if (accept === undefined) return "json";
  const ranges = accept.split(",").flatMap((part) => parseRange(part) ?? []);
  let best: { format: Format; q: number } = { format: "json", q: 0 };
  for (const format of formats) {
    const q = weigh(mediaTypes[format], ranges);
    if (q > best.q) best = { format, q };
  }
  return best.format;
}

/** The weight of the most specific range that names the type. */
function weigh(mediaType: string, ranges: readonly MediaRange[]): number {
  const [group = ""] = mediaType.split("/");
  for (const name of [mediaType, `${group}/*`, "*/*"]) {
    const found = ranges.filter(({ type }) => type === name);
    if (found.length > 0) return Math.max(...found.map(({ q }) => q));
  }
  return 0;
}

/** Parameters but the weight are ignored: no format has variants. */
function parseRange(text: string): MediaRange | undefined {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return undefined;
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (weight === undefined) return { type, q: 1 };
  const q = Number(weight.slice(weight.indexOf("=") + 1));
  return q >= 0 && q <= 1 ? { type, q } : undefined;
}
