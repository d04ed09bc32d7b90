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

/** A file of commands. It is loaded when a command begins with one of its nouns. */
type CommandFile = {
  readonly nouns: readonly string[];
  readonly load: () => Promise<readonly Command[]>;
};

/** Every command, under what an operator is about. Loading all takes longer than most commands run. */
const groups: Readonly<Record<string, readonly CommandFile[]>> = {
  "Run the service": [
    { nouns: ["serve"], load: async () => [(await import("./serve.ts")).serveCommand] },
    { nouns: ["migrate"], load: async () => [(await import("./migrate.ts")).migrateCommand] },
    { nouns: ["doctor"], load: async () => [(await import("./doctor.ts")).doctor] },
    {
      nouns: ["backup", "restore"],
      load: async () => (await import("./backup.ts")).backupCommands,
    },
    { nouns: ["retention"], load: async () => (await import("./retention.ts")).retentionCommands },
  ],
  "See what there is": [
    {
      nouns: ["today", "find"],
      load: async () => (await import("./overview.ts")).overviewCommands,
    },
  ],
  "People and approvals": [
    {
      nouns: ["operators", "sign-in", "sign-out"],
      load: async () => (await import("./people.ts")).peopleCommands,
    },
    { nouns: ["approvals"], load: async () => (await import("./approvals.ts")).approvalCommands },
  ],
  "Desks, keys and plans": [
    { nouns: ["desks"], load: async () => (await import("./desks.ts")).deskCommands },
    { nouns: ["keys"], load: async () => (await import("./keys.ts")).keyCommands },
    { nouns: ["plans"], load: async () => (await import("./plans.ts")).planCommands },
  ],
  "Firms and what customs and banks say of them": [
    { nouns: ["firms"], load: async () => (await import("./firms.ts")).firmCommands },
    { nouns: ["registry"], load: async () => (await import("./registry.ts")).registryCommands },
  ],
  "Credits, prices and the house": [
    { nouns: ["house"], load: async () => (await import("./house.ts")).houseCommands },
    { nouns: ["credits"], load: async () => (await import("./credits.ts")).creditCommands },
    { nouns: ["rates"], load: async () => (await import("./rates.ts")).rateCommands },
    { nouns: ["market"], load: async () => (await import("./rates.ts")).marketCommands },
    { nouns: ["inventory"], load: async () => (await import("./inventory.ts")).inventoryCommands },
  ],
  "Orders and deals": [
    { nouns: ["orders"], load: async () => (await import("./orders.ts")).orderCommands },
    {
      nouns: ["settlements"],
      load: async () => (await import("./settlements.ts")).settlementCommands,
    },
    { nouns: ["crosses"], load: async () => (await import("./crosses.ts")).crossCommands },
  ],
  Money: [
    { nouns: ["payouts"], load: async () => (await import("./payouts.ts")).payoutCommands },
    {
      nouns: ["payouts"],
      load: async () => (await import("./payout-files.ts")).payoutFileCommands,
    },
    { nouns: ["bank"], load: async () => (await import("./bank.ts")).bankCommands },
    { nouns: ["deposits"], load: async () => (await import("./deposits.ts")).depositCommands },
    { nouns: ["money"], load: async () => (await import("./money.ts")).moneyCommands },
  ],
  "Statements, taxes and the calendar": [
    {
      nouns: ["statements"],
      load: async () => (await import("./statements.ts")).statementCommands,
    },
    { nouns: ["tax"], load: async () => (await import("./tax.ts")).taxCommands },
    { nouns: ["calendar"], load: async () => (await import("./calendar.ts")).calendarCommands },
  ],
  "The public and integrators": [
    { nouns: ["enquiries"], load: async () => (await import("./enquiries.ts")).enquiryCommands },
    { nouns: ["webhooks"], load: async () => (await import("./webhooks.ts")).webhookCommands },
    { nouns: ["listen"], load: async () => [(await import("./listen.ts")).listenCommand] },
    { nouns: ["mcp"], load: async () => [(await import("./mcp.ts")).mcpCommand] },
  ],
  "Notices by mail": [
    { nouns: ["notices"], load: async () => (await import("./notices.ts")).noticeCommands },
  ],
  Proofs: [
    { nouns: ["ledger"], load: async () => (await import("./ledger.ts")).ledgerCommands },
    { nouns: ["audit"], load: async () => (await import("./audit.ts")).auditCommands },
  ],
  "The sandbox": [{ nouns: ["seed"], load: async () => [(await import("./seed.ts")).seedCommand] }],
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

async function findCommand(words: readonly string[]): Promise<Command | undefined> {
  const [noun = ""] = words;
  const files = Object.values(groups).flat();
  const some = await load(files.filter(({ nouns }) => nouns.includes(noun)));
  return some.find(({ name }) => name.every((word, index) => words[index] === word));
}

async function load(files: readonly CommandFile[]): Promise<Command[]> {
  return (await Promise.all(files.map((file) => file.load()))).flat();
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
  const commands = await load(Object.values(groups).flat());
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
    "Settings come from the environment; see docs/OPERATIONS.md or `npx scripdesk serve --help`.",
    "Exit codes: 0 done, 1 refused or unhealthy, 2 wrong command line, 3 cannot run here.",
    "",
  ].join("\n");
}

function describeMistake(asked: readonly string[], names: readonly string[]): string {
  const meant = findNearest(asked.slice(0, 3).join(" "), names);
  const suggestion = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return `scripdesk: no command "${asked.join(" ")}"${suggestion}`;
}
