import { exactJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";

/** Times in IST, bytes in hexadecimal, sums with all their digits; what is undefined is left out. */
export function serializeAnswer(answer: unknown): string {
  return exactJson(plain(answer));
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return istTimestamp(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
