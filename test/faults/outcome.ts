// What comes of a programme, and how one that runs in a process of its own tells who started it.

import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";

import { endChild, openStack } from "../support/programme-stack.ts";

export type Outcome =
  | {
      /** Whether everything that was promised held, and the control did what it must. */
      readonly held: boolean;
      /** What was done, in a few words. */
      readonly counts: string;
      /** What the control showed, in a few words. */
      readonly control: string;
    }
  /** Why it cannot run here. */
  | { readonly missing: string };

export type Say = (line: string) => void;

export type Settings = {
  readonly count: number | undefined;
  readonly minutes: number | undefined;
  readonly seed: number;
  /**
   * Of the stalls, those whose name has this text; nothing is written down then. Of the economy, the
   * part with the `bank`.
   */
  readonly only: string | undefined;
  /** A short look; nothing is written down. */
  readonly quick: boolean;
};

const tellsVariable = "SCRIPDESK_FAULTS_TELLS";
/** The pipe after input, output and errors. */
const pipe = 3;

/** Tells whoever started this process as a programme; nobody else. */
export function tellStarter(outcome: Outcome): void {
  if (process.env[tellsVariable] === "yes") writeSync(pipe, JSON.stringify(outcome));
}

export type ToldOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** What each line of its output begins with, where another programme's lines come between them. */
  readonly prefix?: string;
};

/** Runs a command that ends with a programme, and returns what that tells. */
export async function runTold(
  command: string,
  words: readonly string[],
  { env = {}, prefix }: ToldOptions = {},
): Promise<Outcome> {
  await using stack = openStack();
  const output = prefix === undefined ? "inherit" : "pipe";
  const child = spawn(command, words, {
    stdio: ["inherit", output, output, "pipe"],
    env: { ...process.env, ...env, [tellsVariable]: "yes" },
  });
  stack.defer(() => endChild(child));
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (line) => process.stdout.write(`${prefix}: ${line}\n`));
  }
  const told = await text(child.stdio[pipe] as Readable);
  if (told !== "") return JSON.parse(told) as Outcome;
  return { held: false, counts: "it ended early", control: "not seen" };
}
