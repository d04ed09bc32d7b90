// Serializes answers by functions compiled from their schemas; fields outside the schema are not sent.
// Compiling takes longer than most calls, and there are hundreds of schemas, so each is compiled for
// the first answer that needs it. Routes that share a schema share its function.

import fastJsonStringify from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";
import type { TObject, TSchema } from "typebox";

import { exactJson } from "../../kernel/json.ts";
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
