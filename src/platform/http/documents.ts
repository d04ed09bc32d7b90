// Answers that are JSON or a file (CSV, .xlsx, PDF).

import type { FastifyReply } from "fastify";

import type { Page } from "../../kernel/page.ts";
import { type PageAnswer, sendPage } from "./calls.ts";

/** The media type of each format that an answer may have. */
export const mediaTypes = {
  json: "application/json",
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pdf: "application/pdf",
} as const;

export type Format = keyof typeof mediaTypes;

export type FileAnswer = {
  readonly type:
    | "text/csv; charset=utf-8; header=present"
    | typeof mediaTypes.xlsx
    | typeof mediaTypes.pdf
    | "application/json; charset=utf-8";
  /** The name of the attachment; absent when it is not sent as one. */
  readonly name?: string;
  readonly content: string | Buffer;
};

/** A list as a file. */
export type ListFile = FileAnswer & {
  /** Whether the list goes on after the file. */
  readonly truncated: boolean;
  /** Asks for what follows. */
  readonly nextCursor: string | null;
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

/** Sends a list as JSON, or as a file whose headers say whether and where it goes on. */
export async function sendList<Name extends string, Row>(
  reply: FastifyReply,
  name: Name,
  list: Page<Row> | ListFile,
): Promise<PageAnswer<Name, Row>> {
  if (!isFile(list)) {
    reply.type("application/json; charset=utf-8");
    return await sendPage(reply, name, list);
  }
  if (list.truncated) reply.header("x-truncated", "true");
  if (list.nextCursor !== null) reply.header("x-next-cursor", list.nextCursor);
  return sendDocument<PageAnswer<Name, Row>>(reply, list);
}

function isFile<File extends FileAnswer>(document: object | File): document is File {
  return "content" in document && "type" in document;
}
