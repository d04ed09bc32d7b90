// Reads and writes JSON with one long list, item by item. The generators yield where they may be
// interrupted. Bytes and values equal those of `exactJson` and `readExactJson`.

import { endOfString, exactJson, readExactJson } from "./json.ts";

/** Writes an object; its member `list`, if present, item by item. */
export function* writeLongJson(value: object, list: string): Generator<void, string> {
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const isList = name === list && Array.isArray(member);
    const text: string = isList ? yield* writeList(member) : exactJson(member);
    members.push(`${exactJson(name)}:${text}`);
  }
  return `{${members.join(",")}}`;
}

function* writeList(items: readonly unknown[]): Generator<void, string> {
  const texts: string[] = [];
  for (const item of items) {
    texts.push(exactJson(item));
    yield;
  }
  return `[${texts.join(",")}]`;
}

/**
 * Reads an object; its member `list`, an array of objects, item by item. The first `"list":` in the
 * text is that member: inside a string the quotes would be escaped.
 */
export function* readLongJson(text: string, list: string): Generator<void, unknown> {
  const opening = `${exactJson(list)}:[`;
  const opensAt = text.indexOf(opening);
  if (opensAt < 0) return readExactJson(text);
  const from = opensAt + opening.length;
  const items: unknown[] = [];
  let depth = 0;
  let begun = from;
  let at = from;
  for (; depth > 0 || text[at] !== "]"; at++) {
    const code = text.charCodeAt(at);
    if (code === 34 /* " */) at = endOfString(text, at);
    else if (code === 123 /* { */ && depth++ === 0) begun = at;
    else if (code === 125 /* } */ && --depth === 0) {
      items.push(readExactJson(text.slice(begun, at + 1)));
      yield;
    } else if (Number.isNaN(code)) throw new SyntaxError("a list without an end");
  }
  const rest = readExactJson(text.slice(0, from) + text.slice(at)) as Record<string, unknown>;
  return { ...rest, [list]: items };
}
