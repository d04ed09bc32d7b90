// JSON whose one list is long, read and written item by item. Each pauses where it may be interrupted.
// The texts are those of `exactJson`, and what is read is what `readExactJson` would read.

import { endOfString, exactJson, readExactJson } from "./json.ts";

/** The text of an object of which one member, if it is there, is a long list. */
export function* writeLongJson(value: object, list: string): Generator<void, string> {
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const isList = name === list && Array.isArray(member);
    const text: string = isList ? yield* writeList(member) : exactJson(member);
    members.push(`${JSON.stringify(name)}:${text}`);
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
 * Reads the text of an object of which one member is a list of objects; the first member of that name
 * is taken for it. A text is not taken for a member: within one, a quote has a backslash before it.
 */
export function* readLongJson(text: string, list: string): Generator<void, unknown> {
  const opening = `${JSON.stringify(list)}:[`;
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
