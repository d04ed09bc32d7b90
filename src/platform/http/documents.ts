// Answers that are JSON or a file (CSV, PDF).

import type { FastifyReply } from "fastify";

export type FileAnswer = {
  readonly type:
    | "text/csv; charset=utf-8; header=present"
    | "application/pdf"
    | "application/json; charset=utf-8";
  /** The name of the attachment; absent when it is not sent as one. */
  readonly name?: string;
  readonly content: string | Buffer;
};

export type Document<Answer> = Answer | FileAnswer;

/** Sends a file as an attachment, or the answer as JSON. */
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
  return document.content as unknown as Answer; // Fastify sends bytes and text without the serializer.
}

function isFile(document: object): document is FileAnswer {
  return "content" in document && "type" in document;
}
