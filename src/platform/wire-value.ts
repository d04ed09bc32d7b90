// Values on their way to PostgreSQL. Sets travel as arrays: the driver escapes those element by
// element, but most elements need no escaping and a set has thousands, so they are written here.

/** As it goes over the wire: text, or bytes for a bytea. */
export type WireValue = string | Buffer | null;

/** No text that PostgreSQL takes has it, so it can stand between elements while they are escaped. */
const between = "\u0000";
const needsEscape = /["\\]/g;

export function wireValue(value: unknown): WireValue {
  if (Array.isArray(value)) return arrayLiteral(value);
  return Buffer.isBuffer(value) ? value : textOf(value);
}

/** An array as PostgreSQL reads it. */
function arrayLiteral(values: readonly unknown[]): string {
  if (values.length === 0) return "{}";
  if (values.every((value) => typeof value === "number" || typeof value === "boolean")) {
    return `{${values.join(",")}}`;
  }
  const texts: string[] = [];
  let hasNull = false;
  for (const value of values) {
    const text = textOf(value);
    hasNull ||= text === null;
    // A null is not a text, and no text of ours has this one.
    texts.push(text ?? between);
  }
  return hasNull ? withNulls(texts) : quoted(texts);
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") {
    return String(value);
  }
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  // Rows of one length are all that PostgreSQL would take.
  if (Array.isArray(value)) throw new Error("an array of arrays does not travel");
  return JSON.stringify(value);
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
