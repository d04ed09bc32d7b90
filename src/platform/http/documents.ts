// An answer that is JSON, or the same as a file that people keep.

import type { FastifyReply } from "fastify";

export type FileAnswer = {
  readonly type:
    | "text/csv; charset=utf-8; header=present"
    | "application/pdf"
    | "application/json; charset=utf-8";
  /** What it is kept as; none for what is read by programs. */
  readonly name?: string;
  readonly content: string | Buffer;
};

export type Document<Answer> = Answer | FileAnswer;

/** The file as an attachment of that name, or the answer as it is. */
export function sendDocument<Answer extends object>(
  reply: FastifyReply,
  document: Document<Answer>,
): Answer {
  if (!isFile(document)) {
    reply.type("application/json; charset=utf-8");
    return document;
  }
  const { type, name } = document;
  reply.type(type);
  if (name !== undefined) reply.header("content-disposition", `attachment; filename="${name}"`);
  return document.content as unknown as Answer; // Sent as the bytes they are, past every schema.
}

function isFile(document: object): document is FileAnswer {
  return "content" in document && "type" in document;
}
