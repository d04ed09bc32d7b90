// Serializes answers by functions compiled from their schemas; fields outside the schema are not sent.
// Compiling takes longer than most calls, and there are hundreds of schemas, so each is compiled for
// the first answer that needs it. Routes that share a schema share its function.

import fastJsonStringify from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";
import type { TObject, TSchema } from "typebox";

import { exactJson } from "../../kernel/json.ts";
import { istTimestamp } from "../../kernel/time.ts";
import { mapPaced, type Pace } from "../heavy/pace.ts";

type Write = (value: unknown) => string;

const writers = new WeakMap<TSchema, Write>();

export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let write: Write | undefined;
  return (value: unknown) => (write ??= findWriter(schema))(value);
};

function findWriter(schema: TSchema): Write {
  const made = writers.get(schema) ?? (fastJsonStringify(schema) as Write);
  writers.set(schema, made);
  return made;
}

/** Serializes an answer with long arrays in pieces, so that it does not block the event loop. */
export async function writeInPieces(
  { properties }: TObject,
  answer: Readonly<Record<string, unknown>>,
  pace: Pace,
): Promise<string> {
  const members: string[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const value = answer[name];
    if (value === undefined) continue;
    members.push(`${exactJson(name)}:${await writeMember(schema, value, pace)}`);
  }
  return `{${members.join(",")}}`;
}

async function writeMember(schema: TSchema, value: unknown, pace: Pace): Promise<string> {
  if (!Array.isArray(value) || !("items" in schema)) return findWriter(schema)(value);
  const write = findWriter(schema.items as TSchema); // Our arrays have one schema for all items.
  const items = await mapPaced(value as readonly unknown[], write, pace);
  return `[${items.join(",")}]`;
}

/** Names that differ on the wire, as under `/v1`. */
const wireNames = { paise: "amount_paise", state: "status" } as const;

/**
 * Names in snake case, money as `…_paise` and states as `status`, times in IST, bytes in hexadecimal,
 * sums with all their digits; what is undefined is left out.
 */
export function serializeAnswer(answer: unknown): string {
  return exactJson(toWire(answer));
}

/** What is served of a value. */
export function toWire(value: unknown): unknown {
  if (value instanceof Date) return istTimestamp(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toWireName(name), toWire(member)]),
  );
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

/** Converts camelCase names; keys that are data, such as a scheme's, stay as they are. */
function toWireName(name: string): string {
  if (name === "paise" || name === "state") return wireNames[name];
  if (!/^[a-z]+([A-Z][a-z0-9]*)+$/.test(name)) return name;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
