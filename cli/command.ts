// A command is its name, its options and what it does; help and parsing derive from that.

import { parseArgs } from "node:util";

import { pino } from "pino";

import { readConfig } from "../src/config.ts";
import { type OpenedContext, openContext } from "../src/open-context.ts";
import { findNearest } from "../src/kernel/text.ts";

export class UsageError extends Error {}

export type Option = {
  readonly help: string;
  readonly type?: "string" | "boolean";
  readonly required?: boolean;
  readonly default?: string;
};

export type Options = Readonly<Record<string, Option>>;

type Values<Declared extends Options> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { type: "boolean" }
    ? boolean
    : Declared[Name] extends { required: true } | { default: string }
      ? string
      : string | undefined;
};

export type Command = {
  readonly name: readonly string[];
  readonly summary: string;
  help(): string;
  run(words: readonly string[]): Promise<number>;
};

const json = { json: { type: "boolean", help: "print JSON for programs" } } as const;

export function command<const Declared extends Options>(spec: {
  readonly name: string;
  readonly summary: string;
  readonly options: Declared;
  /** The name of the one word that may follow, if the command takes one. */
  readonly operand?: string;
  /** Set when the word may be left out. */
  readonly operandOptional?: boolean;
  readonly example?: string;
  readonly run: (values: Values<Declared & typeof json>, operand: string) => Promise<number | void>;
}): Command {
  const options: Options = { ...spec.options, ...json };
  return {
    name: spec.name.split(" "),
    summary: spec.summary,
    help: () => helpText(spec, options),
    async run(words) {
      const { values, operand } = parse(words, options, spec);
      const code = await spec.run(values as Values<Declared & typeof json>, operand); // Checked against the same options.
      return code ?? 0;
    },
  };
}

/**
 * Runs with the service's own database, started for the occasion when no service has it open. Where
 * there is none, only the commands that begin an installation make it: a forgotten DATA_DIR would
 * otherwise show an empty service.
 */
export async function withContext<Result>(
  work: (opened: OpenedContext) => Promise<Result>,
  {
    create = false,
    as = "visitor",
  }: { readonly create?: boolean; as?: "visitor" | "service" } = {},
): Promise<Result> {
  const config = readConfig(process.env);
  const log = pino({ level: "silent" });
  const opened = await openContext(config, { as, create, log, now: () => new Date() });
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

export { print, printOne } from "./print.ts";

export function wholeNumber(name: string, text: string): number {
  const value = naturalNumber(name, text);
  if (value >= 1) return value;
  throw new UsageError(`--${name} must be a positive whole number, not "${text}"`);
}

/** A whole number that may be 0. */
export function naturalNumber(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new UsageError(`--${name} must be a whole number, not "${text}"`);
}

export function parseChoice<const Allowed extends readonly string[]>(
  name: string,
  text: string,
  allowed: Allowed,
): Allowed[number] {
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new UsageError(`--${name} must be ${allowed.join(" or ")}, not "${text}"`);
}

function parse(
  words: readonly string[],
  options: Options,
  { operand: operandName, operandOptional }: { operand?: string; operandOptional?: boolean },
) {
  try {
    const { values, positionals } = parseArgs({
      args: joinValues(words, options),
      allowPositionals: operandName !== undefined,
      options: Object.fromEntries(
        Object.entries(options).map(([name, option]) => [name, { type: option.type ?? "string" }]),
      ),
    });
    const isLeftOut = operandOptional === true && positionals.length === 0;
    if (operandName !== undefined && positionals.length !== 1 && !isLeftOut) {
      throw new Error(`give one ${operandName}`);
    }
    for (const [name, option] of Object.entries(options)) {
      values[name] ??= option.type === "boolean" ? false : option.default;
      if (option.required && values[name] === undefined) throw new Error(`--${name} is required`);
    }
    return { values, operand: positionals[0] ?? "" };
  } catch (error) {
    throw new UsageError(explainWrong(error as Error, Object.keys(options)), { cause: error });
  }
}

/** A value may begin with a dash, as the place in a list does now and then. */
function joinValues(words: readonly string[], options: Options): string[] {
  const takesNext = (word = "", next = "") =>
    word.startsWith("--") &&
    Object.hasOwn(options, word.slice(2)) &&
    options[word.slice(2)]?.type !== "boolean" &&
    next.startsWith("-") &&
    !Object.hasOwn(options, next.slice(2));
  return words.flatMap((word, at) => {
    if (takesNext(words[at - 1], word)) return [];
    return takesNext(word, words[at + 1]) ? [`${word}=${words[at + 1]}`] : [word];
  });
}

/** One sentence for a person; the first of what Node's parser says, and what may have been meant. */
function explainWrong({ message }: Error, known: readonly string[]): string {
  const [, typed] = /^Unknown option '--([^']+)'/.exec(message) ?? [];
  if (typed === undefined) return message;
  const meant = findNearest(typed, known);
  const hint = meant === undefined ? "see --help" : `did you mean --${meant}?`;
  return `there is no option --${typed}; ${hint}`;
}

function helpText(
  spec: { name: string; summary: string; operand?: string; example?: string },
  options: Options,
): string {
  const operand = spec.operand ? ` ${spec.operand}` : "";
  const rows = Object.entries(options).map(([name, option]): [string, string] => {
    const value = option.type === "boolean" ? "" : " …";
    const note = option.required ? " (required)" : option.default && ` (${option.default})`;
    return [`--${name}${value}`, `${option.help}${note || ""}`];
  });
  const widest = Math.max(...rows.map(([flag]) => flag.length));
  return [
    `usage: npx scripdesk ${spec.name}${operand} [options]`,
    "",
    spec.summary,
    "",
    ...rows.map(([flag, text]) => `  ${flag.padEnd(widest)}  ${text}`),
    ...(spec.example ? ["", "example:", `  ${spec.example}`] : []),
    "",
  ].join("\n");
}
