// What a schema does not name is not sent: answers are written by a function made from their schema.
// Making it takes longer than most calls, and there are hundreds, so each is made for the first
// answer that needs it. The routes that share a schema share its function.

import fastJsonStringify from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";
import type { TSchema } from "typebox";

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
