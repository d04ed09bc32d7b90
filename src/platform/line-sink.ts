// Appends lines outside the database: to a file, or to a URL by POST.

import { open } from "node:fs/promises";

import type { Outbound } from "./outbound.ts";

export type LineSink = {
  /** Resolves when the lines are durable; throws when that is not certain. */
  append(lines: readonly string[]): Promise<void>;
};

/** `place` is a path or a URL, checked when the configuration was read. */
export function openLineSink(place: string, outbound: Pick<Outbound, "post">): LineSink {
  if (/^https?:\/\//.test(place)) return { append: (lines) => post(outbound, place, lines) };
  return { append: (lines) => appendToFile(place, lines) };
}

async function appendToFile(path: string, lines: readonly string[]): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.appendFile(lines.map((line) => `${line}\n`).join(""));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function post(
  outbound: Pick<Outbound, "post">,
  url: string,
  lines: readonly string[],
): Promise<void> {
  const answer = await outbound.post({
    url: new URL(url),
    headers: { "content-type": "application/x-ndjson" },
    body: Buffer.from(lines.map((line) => `${line}\n`).join("")),
  });
  if (answer.kind === "answered" && answer.status >= 200 && answer.status < 300) return;
  const why = answer.kind === "answered" ? `answered ${answer.status}` : answer.fault;
  throw new Error(`the place for checkpoints took nothing: ${why}`);
}
