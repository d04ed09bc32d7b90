// Bytes on a socket, for what no HTTP client would send.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

import type { Answer } from "./service.ts";

/** Everything the other side says to these bytes until it closes the connection. */
export async function sayTo(url: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = await openSocket(url);
  const heard = hear(socket);
  for (const part of parts) socket.write(part);
  return await heard;
}

/** The same, as the answers it is made of. */
export async function rawAnswers(
  url: string,
  ...parts: readonly (string | Buffer)[]
): Promise<Answer[]> {
  return splitAnswers(await sayTo(url, ...parts));
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port, protocol } = new URL(url);
  const to = { host: hostname, port: Number(port) };
  const isTls = protocol === "https:";
  const socket = isTls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  socket.on("error", () => {}); // A reset is one way to be cut; what was heard before it counts.
  await once(socket, isTls ? "secureConnect" : "connect");
  return socket;
}

/** What is heard on a socket until it is closed from the other side. */
export async function hear(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(chunks).toString();
}

export function splitAnswers(heard: string): Answer[] {
  const answers: Answer[] = [];
  let rest = Buffer.from(heard);
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`no answer: ${rest.toString()}`);
    const [first = "", ...lines] = rest.subarray(0, end).toString().split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    const headers = new Headers(lines.map((line) => line.split(": ", 2) as [string, string]));
    const bodyAt = end + 4;
    const length = Number(headers.get("content-length") ?? 0);
    const text = rest.subarray(bodyAt, bodyAt + length).toString();
    rest = rest.subarray(bodyAt + length);
    if (status === 100) continue; // An interim answer says only that the body may come.
    answers.push({ status, headers, text, body: text === "" ? undefined : JSON.parse(text) });
  }
  return answers;
}
