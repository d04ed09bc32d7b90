// What a schema does not name is not sent: answers are written by a function made from their schema.
// Making it takes longer than most calls, and there are hundreds, so each is made for the first
// answer that needs it. The routes that share a schema share its function.

import fastJsonStringify from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";
import type { TObject, TSchema } from "typebox";

import { mapPaced, type Pace } from "../heavy/pace.ts";

type Write = (value: unknown) => string;

const writers = new WeakMap<TSchema, Write>();

export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let write: Write | undefined;
  return (value: unknown) => (write ??= writerOf(schema))(value);
};

function writerOf(schema: TSchema): Write {
  const made = writers.get(schema) ?? (fastJsonStringify(schema) as Write);
  writers.set(schema, made);
  return made;
}

/** The same text for an answer whose arrays may be long, made so that others have their turns. */
export async function writeInPieces(
  { properties }: TObject,
  answer: Readonly<Record<string, unknown>>,
  pace: Pace,
): Promise<string> {
  const members: string[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const value = answer[name];
    if (value === undefined) continue;
    members.push(`${JSON.stringify(name)}:${await writeMember(schema, value, pace)}`);
  }
  return `{${members.join(",")}}`;
}

async function writeMember(schema: TSchema, value: unknown, pace: Pace): Promise<string> {
  if (!Array.isArray(value) || !("items" in schema)) return writerOf(schema)(value);
  const write = writerOf(schema.items as TSchema); // Ours name one schema for all items.
  const items = await mapPaced(value as readonly unknown[], write, pace);
  return `[${items.join(",")}]`;
}
