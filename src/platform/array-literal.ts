// Sets travel to PostgreSQL as arrays. The driver escapes an array element by element; most elements
// need no escaping, and a set has thousands, so arrays are written here and handed over as text.

/** No text that PostgreSQL takes has it, so it can stand between elements while they are escaped. */
const between = "\u0000";
const needsEscape = /["\\]/g;

/** An array as PostgreSQL reads it; undefined for what the driver had better write itself. */
export function arrayLiteral(values: readonly unknown[]): string | undefined {
  if (values.length === 0) return "{}";
  if (values.every((value) => typeof value === "number" || typeof value === "boolean")) {
    return `{${values.join(",")}}`;
  }
  const texts: string[] = [];
  let hasNull = false;
  for (const value of values) {
    const text = textOf(value);
    if (text === undefined) return undefined;
    hasNull ||= text === null;
    // A null is not a text, and no text of ours has this one.
    texts.push(text ?? between);
  }
  return hasNull ? withNulls(texts) : quoted(texts);
}

function textOf(value: unknown): string | null | undefined {
  if (typeof value === "string") return value;
  if (value === null) return null;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value instanceof Date) return value.toISOString();
  return undefined;
}

function quoted(texts: readonly string[]): string {
  const joined = texts.join(between);
  const escaped = joined.replaceAll(needsEscape, "\\$&");
  return `{"${escaped.replaceAll(between, '","')}"}`;
}

function withNulls(texts: readonly string[]): string {
  const parts = texts.map((text) =>
    text === between ? "NULL" : `"${text.replaceAll(needsEscape, "\\$&")}"`,
  );
  return `{${parts.join(",")}}`;
}
