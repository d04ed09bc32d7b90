import { idBodyPattern } from "../kernel/ids.ts";

const anyId = new RegExp(`^[a-z]{3}_${idBodyPattern}$`, "i");

/** Whether a text has the form of an id, whatever its kind. */
export function isAnyId(text: string): boolean {
  return anyId.test(text);
}

/** Whether a text begins like an id, also a shortened or mistyped one: no firm has such a name. */
export function looksLikeId(text: string): boolean {
  return /^[a-z]{3}_[0-9a-z]{6,}$/i.test(text.trim());
}

/** The pattern for names that begin with this text. */
export function toNamePattern(text: string): string {
  return `${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Signs that names are divided by besides spaces; the index of names takes them for spaces too. */
const signs = /[./\-&,()_@:'"\s]+/;

/** A text search for words that begin like these, all of them; empty when there is none. */
export function toWordQuery(text: string): string {
  const words = text.split(signs).filter((word) => word !== "");
  return words.map((word) => `'${word.replaceAll("\\", "\\\\")}':*`).join(" & ");
}
