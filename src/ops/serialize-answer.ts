import { exactJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";

/** Names that differ on the wire, as under `/v1`. */
const wireNames = { paise: "amount_paise", state: "status" } as const;

/**
 * Names in snake case, money as `…_paise` and states as `status`, times in IST, bytes in hexadecimal,
 * sums with all their digits; what is undefined is left out.
 */
export function serializeAnswer(answer: unknown): string {
  return exactJson(toPlain(answer));
}

/** The type of a value after serialization. */
export type Served<Value> = Value extends Date | Uint8Array
  ? string
  : Value extends readonly (infer Item)[]
    ? Served<Item>[]
    : Value extends object
      ? { [Name in keyof Value as ServedName<Name>]: Served<Value[Name]> }
      : Value;

type ServedName<Name> = Name extends keyof typeof wireNames
  ? (typeof wireNames)[Name]
  : Name extends string
    ? SnakeCase<Name>
    : never;

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

function toPlain(value: unknown): unknown {
  if (value instanceof Date) return istTimestamp(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toWireName(name), toPlain(member)]),
  );
}

/** Converts camelCase names; keys that are data, such as a scheme's, stay as they are. */
function toWireName(name: string): string {
  if (name === "paise" || name === "state") return wireNames[name];
  if (!/^[a-z]+([A-Z][a-z0-9]*)+$/.test(name)) return name;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
