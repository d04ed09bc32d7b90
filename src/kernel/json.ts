// Strict reading and canonical writing of JSON.
//
// Two readers of one body must never see two different orders, so what JSON.parse would quietly
// settle is refused here: duplicate names, prototype names, NUL, lone surrogates, great depth.

export const jsonDepthMax = 32;

export type JsonObject = { readonly [name: string]: unknown };

export type JsonVerdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export function parseStrictJson(text: string): JsonVerdict {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "the body is not valid JSON" };
  }
  const found: Tally = { names: 0, problem: undefined };
  inspect(value, 0, found);
  if (found.problem) return { ok: false, problem: found.problem };
  // JSON.parse keeps the last of two equal names: fewer names in the value than in the text.
  if (found.names !== countNames(text)) {
    return { ok: false, problem: "the body has two members of one name" };
  }
  if (losesFraction(text)) {
    return { ok: false, problem: "the body has a number that cannot be kept exactly" };
  }
  return { ok: true, value };
}

/** The same bytes for the same value, whatever the order of names: what fingerprints are made of. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  let members = "";
  for (const name of Object.keys(value).toSorted()) {
    const member = value[name];
    if (member === undefined) continue;
    if (members !== "") members += ",";
    members += `${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Text that PostgreSQL can hold and that every other reader will read the same way. */
export function isCleanText(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

type Tally = { names: number; problem: string | undefined };

function inspect(value: unknown, depth: number, found: Tally): void {
  if (found.problem) return;
  if (typeof value === "string") {
    if (!isCleanText(value)) found.problem = "the body has text that is not valid Unicode";
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depth >= jsonDepthMax) {
    found.problem = `the body is nested deeper than ${jsonDepthMax} levels`;
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth + 1, found);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    found.names += 1;
    if (name === "__proto__") {
      found.problem = "the body has a member named __proto__";
      return;
    }
    inspect(name, depth, found);
    inspect(member, depth + 1, found);
  }
}

/** Whether a number such as 100.00000000000000001 would quietly become a whole one. */
function losesFraction(text: string): boolean {
  if (!/\d\.\d/.test(text)) return false;
  let lost = false;
  JSON.parse(text, (_name, value: unknown, context?: { source?: string }) => {
    const isWhole = typeof value === "number" && Number.isInteger(value);
    if (isWhole && /^-?\d+\.0*[1-9]\d*$/.test(context?.source ?? "")) lost = true;
    return value;
  });
  return lost;
}

/** In JSON text every colon outside a string follows a member's name, and nothing else has one. */
function countNames(text: string): number {
  let names = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 92) at += 1;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 58) names += 1;
  }
  return names;
}
