/** What is looked at before the first live day, in the order in which it is best done. */
export const liveStepNames = [
  "people",
  "house",
  "rate_card",
  "key",
  "tax_lines",
  "calendar",
  "bank_statement",
  "notices",
  "public_page",
] as const;

/** The pattern for names that begin with this text. */
export function toNamePattern(text: string): string {
  return `${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Signs that names are divided by besides spaces; the index of names takes them for spaces too. */
const signs = /[./\-&,()_@:'"\s]+/;

export function splitWords(text: string): string[] {
  return text.split(signs).filter((word) => word !== "");
}

/** So many different words begin with one or two letters that reading them all takes long. */
const lettersOfStart = 3;

/** A text search for words that begin like these, all of them; a shorter one must be a whole word. */
export function toStartQuery(words: readonly string[]): string {
  return words
    .map((word) => `${quoteWord(word)}${word.length < lettersOfStart ? "" : ":*"}`)
    .join(" & ");
}

/** A text search for exactly these words, all of them. */
export function toWordQuery(words: readonly string[]): string {
  return words.map(quoteWord).join(" & ");
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("\\", "\\\\")}'`;
}
