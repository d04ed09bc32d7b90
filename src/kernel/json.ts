// Strict reading and canonical writing of JSON.
//
// Two readers of one body must never see two different orders, so input on which parsers differ is
// refused: duplicate names, prototype names, NUL, lone surrogates, great depth.
//
// The work is linear in the text: one pass over it, one JSON.parse without a reviver (a reviver makes
// the parse fifty times as long), one walk over the value. Text that is too deep or has too many
// members is refused before it is parsed.

export const jsonDepthMax = 32;
/** Members of all objects and arrays; a batch of 500 orders with full metadata has fewer. */
export const jsonMembersMax = 40_000;
/** Members of one object; no schema allows nearly as many. */
export const jsonNamesMax = 1_000;

export type JsonObject = { readonly [name: string]: unknown };

type JsonVerdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export function parseStrictJson(text: string): JsonVerdict {
  const written = scanText(text);
  if (written.depth > jsonDepthMax) {
    return { ok: false, problem: `the body is nested deeper than ${jsonDepthMax} levels` };
  }
  if (written.members > jsonMembersMax) {
    return { ok: false, problem: `the body has more than ${jsonMembersMax} members` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "the body is not valid JSON" };
  }
  const found: NameCount = { names: 0, problem: undefined };
  inspect(value, found);
  if (found.problem) return { ok: false, problem: found.problem };
  // JSON.parse keeps the last of two equal names: fewer names in the value than in the text.
  if (found.names !== written.names) {
    return { ok: false, problem: "the body has two members of one name" };
  }
  if (written.losesFraction) {
    return { ok: false, problem: "the body has a number that cannot be kept exactly" };
  }
  return { ok: true, value };
}

/** The same bytes for the same value, whatever the order of names; the input of hashes. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  let members = "";
  for (const name of Object.keys(value).toSorted()) {
    const member = value[name];
    if (member === undefined) continue;
    if (members !== "") members += ",";
    members += `${quote(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** ASCII without controls, quotes and backslashes. */
const plainText = /^[ !#-[\]-~]*$/;

/** Most texts need no escape, and to call JSON.stringify for each takes longer than to look. */
function quote(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** TypeScript's library lacks it. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (this: void, text: string) => unknown };

/** JSON in which a BigInt is an integer with all its digits. */
export function exactJson(value: unknown): string {
  try {
    // A replacer makes this many times slower, and most values have no BigInt.
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, (_name, member: unknown) =>
      typeof member === "bigint" ? rawJson(String(member)) : member,
    );
  }
}

/** Integers with fewer digits are exact as doubles. */
const longInteger = /[:[,]-?\d{16}/;

/** Reads the output of `exactJson`: an integer beyond a double becomes a BigInt. */
export function readExactJson(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, value: unknown, context?: { source?: string }) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
    const digits = context?.source ?? "";
    return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
  });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether PostgreSQL can store the text and every reader decodes it the same way. */
export function isCleanText(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

type NameCount = { names: number; problem: string | undefined };

function inspect(value: unknown, found: NameCount): void {
  if (found.problem) return;
  if (typeof value === "string") {
    if (!isCleanText(value)) found.problem = "the body has text that is not valid Unicode";
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, found);
    return;
  }
  const names = Object.keys(value);
  found.names += names.length;
  if (names.length > jsonNamesMax) {
    found.problem = `the body has an object of more than ${jsonNamesMax} members`;
    return;
  }
  for (const name of names) {
    if (name === "__proto__") {
      found.problem = "the body has a member named __proto__";
      return;
    }
    inspect(name, found);
    inspect((value as JsonObject)[name], found);
  }
}

type ScannedText = {
  /** Colons outside strings: one for each member of an object. */
  names: number;
  /** Commas and opening brackets outside strings: an upper bound on members. */
  members: number;
  depth: number;
  losesFraction: boolean;
};

/**
 * Counts members and depth in one pass over the text, which stops at a limit. The counts mean nothing
 * for text that is not JSON.
 */
function scanText(text: string): ScannedText {
  const written = { names: 0, members: 0, depth: 0, losesFraction: false };
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 34 /* " */:
        at = endOfString(text, at);
        break;
      case 58 /* : */:
        written.names += 1;
        break;
      case 44 /* , */:
        written.members += 1;
        if (written.members > jsonMembersMax) return written;
        break;
      case 46 /* . */:
        written.losesFraction ||= isRoundedAway(text, at);
        break;
      case 91 /* [ */:
      case 123 /* { */:
        depth += 1;
        written.members += 1;
        if (depth > written.depth) written.depth = depth;
        if (depth > jsonDepthMax || written.members > jsonMembersMax) return written;
        break;
      case 93 /* ] */:
      case 125 /* } */:
        depth -= 1;
        break;
      default:
    }
  }
  return written;
}

/** The index of the closing quote of a string, or the end of the text. */
export function endOfString(text: string, quoteAt: number): number {
  for (let at = text.indexOf('"', quoteAt + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === 92 /* \ */) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

/** Whether parsing would round the number around this point, such as 100.00000000000000001. */
function isRoundedAway(text: string, pointAt: number): boolean {
  let end = pointAt + 1;
  let isWhole = true;
  for (; isDigit(text, end); end++) if (text[end] !== "0") isWhole = false;
  const hasExponent = text[end] === "e" || text[end] === "E";
  if (isWhole || hasExponent) return false;
  let start = pointAt;
  while (isDigit(text, start - 1)) start -= 1;
  return Number.isInteger(Number(text.slice(start, end)));
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}
