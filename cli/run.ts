// `npx scripdesk <noun> <verb>`: what an operator does, beside a running service or alone.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { ConfigError } from "../src/config.ts";
import { Failure } from "../src/kernel/failure.ts";
import { Unusable } from "../src/platform/http/errors.ts";
import { type Command, UsageError } from "./command.ts";
import { findNearest } from "../src/kernel/text.ts";

/** 0 done · 1 refused or not healthy · 2 the command line is wrong · 3 the service cannot run here */
const exitCodes = { refused: 1, usage: 2, unusable: 3 } as const;

type CommandFile = () => Promise<{ readonly commands: readonly Command[] }>;

const deals: CommandFile = () => import("./deals.ts");
const desks: CommandFile = () => import("./desks.ts");
const payouts: CommandFile = () => import("./payouts.ts");
const people: CommandFile = () => import("./people.ts");
const prices: CommandFile = () => import("./prices.ts");
const proofs: CommandFile = () => import("./proofs.ts");
const registry: CommandFile = () => import("./registry.ts");
const support: CommandFile = () => import("./support.ts");
const backup: CommandFile = () => import("./backup.ts");

/**
 * The first words of commands, under what an operator is about, and the file of each. It is loaded when
 * it is asked for: loading all takes longer than most commands run.
 */
const groups: Readonly<Record<string, Readonly<Record<string, CommandFile>>>> = {
  "Run the service": {
    serve: () => import("./serve.ts"),
    migrate: () => import("./migrate.ts"),
    doctor: () => import("./doctor.ts"),
    backup,
    backups: backup,
    restore: backup,
    retention: () => import("./retention.ts"),
    schedules: () => import("./schedules.ts"),
  },
  "See what there is": { today: desks, find: desks },
  "People and approvals": {
    operators: people,
    "sign-in": people,
    "sign-out": people,
    approvals: people,
  },
  "Desks, keys and plans": { desks, keys: desks, plans: desks },
  "Firms and what customs and banks say of them": { firms: desks, registry },
  "Credits, prices and the house": {
    house: () => import("./house.ts"),
    credits: registry,
    rates: prices,
    market: prices,
    inventory: prices,
  },
  "Orders and deals": { orders: deals, settlements: deals, crosses: deals },
  Money: { payouts, bank: () => import("./bank.ts"), deposits: deals, money: proofs },
  "Statements, taxes and the calendar": {
    statements: () => import("./statements.ts"),
    accounts: () => import("./accounts.ts"),
    tax: () => import("./tax.ts"),
    calendar: registry,
  },
  "The public and integrators": {
    enquiries: support,
    requests: desks,
    webhooks: support,
    listen: () => import("./listen.ts"),
    mcp: () => import("./mcp.ts"),
  },
  "Notices by mail": { notices: people },
  Proofs: { ledger: proofs, audit: proofs },
  "The sandbox": { seed: () => import("./seed.ts") },
};

export async function run(words: readonly string[]): Promise<number> {
  if (words[0] === "--version" || words[0] === "-v") return await printVersion();
  const command = await findCommand(words);
  if (!command || words.includes("--help")) {
    process.stdout.write(command ? command.help() : await explainCommands(words));
    return command || asksForHelp(words) ? 0 : exitCodes.usage;
  }
  try {
    return await command.run(words.slice(command.name.length));
  } catch (error) {
    return explain(error);
  }
}

/** The command whose whole name the words begin with; the longest, where there are two. */
async function findCommand(words: readonly string[]): Promise<Command | undefined> {
  const [noun = ""] = words;
  const files = Object.assign({}, ...Object.values(groups)) as Readonly<
    Record<string, CommandFile>
  >;
  const some = Object.hasOwn(files, noun) ? await load({ [noun]: files[noun] as CommandFile }) : [];
  return some
    .filter(({ name }) => name.every((word, index) => words[index] === word))
    .toSorted((one, other) => other.name.length - one.name.length)[0];
}

async function load(files: Readonly<Record<string, CommandFile>>): Promise<Command[]> {
  const loaded = await Promise.all(
    Object.entries(files).map(async ([noun, file]) =>
      (await file()).commands.filter(({ name }) => name[0] === noun),
    ),
  );
  return loaded.flat();
}

async function printVersion(): Promise<number> {
  const text = await readFile(join(import.meta.dirname, "../package.json"), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string }; // Ours.
  process.stdout.write(`scripdesk ${version}\n`);
  return 0;
}

function asksForHelp(words: readonly string[]): boolean {
  return words.length === 0 || words.includes("--help") || words[0] === "help";
}

/** One clear line for whatever the operator can mend; a stack only for our own mistakes. */
function explain(error: unknown): number {
  if (error instanceof UsageError) return say(error.message, exitCodes.usage);
  if (error instanceof Failure) return say(error.message, exitCodes.refused);
  if (error instanceof Unusable || error instanceof ConfigError) {
    return say(error.message, exitCodes.unusable);
  }
  throw error;
}

function say(message: string, code: number): number {
  process.stderr.write(`scripdesk: ${message}\n`);
  return code;
}

/** All commands by group, or those of one noun; after a mistake, also what may have been meant. */
async function explainCommands(words: readonly string[]): Promise<string> {
  const commands = (await Promise.all(Object.values(groups).map(load))).flat();
  const names = commands.map(({ name }) => name.join(" "));
  const widest = Math.max(...names.map((name) => name.length));
  const list = (some: readonly Command[]) =>
    some.map(({ name, summary }) => `  ${name.join(" ").padEnd(widest)}  ${summary}`);
  const asked = words.filter((word) => word !== "help" && !word.startsWith("-"));
  const [noun] = asked;
  const ofNoun = commands.filter(({ name }) => name.length > 1 && name[0] === noun);
  const mistake = asksForHelp(words) ? undefined : describeMistake(asked, names);
  if (ofNoun.length > 0) {
    const about = mistake === undefined || asked.length === 1 ? [] : [mistake, ""];
    return [...about, ...list(ofNoun), ""].join("\n");
  }
  const titled = await Promise.all(
    Object.entries(groups).map(async ([title, own]) => ["", title, ...list(await load(own))]),
  );
  return [
    ...(mistake === undefined ? [] : [mistake, ""]),
    "scripdesk: a trading service for duty credit scrips",
    "",
    "usage: npx scripdesk <command> [--help] [--json], npx scripdesk --version",
    ...titled.flat(),
    "",
    "Settings come from the environment; see docs/INSTALL.md or `npx scripdesk serve --help`.",
    "Exit codes: 0 done, 1 refused or unhealthy, 2 wrong command line, 3 cannot run here.",
    "",
  ].join("\n");
}

function describeMistake(asked: readonly string[], names: readonly string[]): string {
  const meant = findNearest(asked.slice(0, 3).join(" "), names);
  const suggestion = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return `scripdesk: no command "${asked.join(" ")}"${suggestion}`;
}
