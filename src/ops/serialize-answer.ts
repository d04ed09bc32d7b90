import { exactJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";

/**
 * Names in snake case and money as `…_paise`, times in IST, bytes in hexadecimal, sums with all their digits; what is
 * undefined is left out.
 */
export function serializeAnswer(answer: unknown): string {
  return exactJson(plain(answer));
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return istTimestamp(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toWireName(name), plain(member)]),
  );
}

/** A name of ours; one that is data, such as a scheme's, stays as it is. */
function toWireName(name: string): string {
  if (name === "paise") return "amount_paise";
  if (!/^[a-z]+([A-Z][a-z0-9]*)+$/.test(name)) return name;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
