// `npx scripdesk <noun> <verb>`: what an operator does, beside a running service or alone.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { ConfigError } from "../src/config.ts";
import { Failure } from "../src/kernel/failure.ts";
import { Unusable } from "../src/platform/http/errors.ts";
import { approvalCommands } from "./approvals.ts";
import { auditCommands } from "./audit.ts";
import { calendarCommands } from "./calendar.ts";
import { bankCommands } from "./bank.ts";
import { backupCommands } from "./backup.ts";
import { type Command, UsageError } from "./command.ts";
import { findNearest } from "./nearest.ts";
import { creditCommands } from "./credits.ts";
import { crossCommands } from "./crosses.ts";
import { depositCommands } from "./deposits.ts";
import { deskCommands } from "./desks.ts";
import { doctor } from "./doctor.ts";
import { enquiryCommands } from "./enquiries.ts";
import { firmCommands } from "./firms.ts";
import { inventoryCommands } from "./inventory.ts";
import { keyCommands } from "./keys.ts";
import { ledgerCommands } from "./ledger.ts";
import { listenCommand } from "./listen.ts";
import { mcpCommand } from "./mcp.ts";
import { migrateCommand } from "./migrate.ts";
import { noticeCommands } from "./notices.ts";
import { orderCommands } from "./orders.ts";
import { overviewCommands } from "./overview.ts";
import { payoutFileCommands } from "./payout-files.ts";
import { payoutCommands } from "./payouts.ts";
import { peopleCommands } from "./people.ts";
import { planCommands } from "./plans.ts";
import { marketCommands, rateCommands } from "./rates.ts";
import { registryCommands } from "./registry.ts";
import { seedCommand } from "./seed.ts";
import { serveCommand } from "./serve.ts";
import { settlementCommands } from "./settlements.ts";
import { statementCommands } from "./statements.ts";
import { taxCommands } from "./tax.ts";
import { webhookCommands } from "./webhooks.ts";

/** 0 done · 1 refused or not healthy · 2 the command line is wrong · 3 the service cannot run here */
const exitCodes = { refused: 1, usage: 2, unusable: 3 } as const;

/** Every command, under what an operator is about. */
const groups: Readonly<Record<string, readonly Command[]>> = {
  "Run the service": [serveCommand, migrateCommand, doctor, ...backupCommands],
  "See what there is": [...overviewCommands],
  "People and approvals": [...peopleCommands, ...approvalCommands],
  "Desks, keys and plans": [...deskCommands, ...keyCommands, ...planCommands],
  "Firms and what customs and banks say of them": [...firmCommands, ...registryCommands],
  "Credits, prices and the house": [
    ...creditCommands,
    ...rateCommands,
    ...marketCommands,
    ...inventoryCommands,
  ],
  "Orders and deals": [...orderCommands, ...settlementCommands, ...crossCommands],
  Money: [...payoutCommands, ...payoutFileCommands, ...bankCommands, ...depositCommands],
  "Statements, taxes and the calendar": [...statementCommands, ...taxCommands, ...calendarCommands],
  "The public and integrators": [...enquiryCommands, ...webhookCommands, listenCommand, mcpCommand],
  "Notices by mail": [...noticeCommands],
  Proofs: [...ledgerCommands, ...auditCommands],
  "The sandbox": [seedCommand],
};

const commands = Object.values(groups).flat();

export async function run(words: readonly string[]): Promise<number> {
  if (words[0] === "--version" || words[0] === "-v") return await printVersion();
  const command = commands.find(({ name }) => name.every((word, index) => words[index] === word));
  if (!command || words.includes("--help")) {
    process.stdout.write(command ? command.help() : explainCommands(words));
    return command || asksForHelp(words) ? 0 : exitCodes.usage;
  }
  try {
    return await command.run(words.slice(command.name.length));
  } catch (error) {
    return explain(error);
  }
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
function explainCommands(words: readonly string[]): string {
  const asked = words.filter((word) => word !== "help" && !word.startsWith("-"));
  const [noun] = asked;
  const ofNoun = commands.filter(({ name }) => name.length > 1 && name[0] === noun);
  const unknown = asksForHelp(words) ? "" : `scripdesk: no command "${asked.join(" ")}"`;
  if (ofNoun.length > 0) {
    const about = unknown === "" || asked.length === 1 ? [] : [`${unknown}${suggest(asked)}`, ""];
    return [...about, ...listCommands(ofNoun), ""].join("\n");
  }
  return [
    ...(unknown === "" ? [] : [`${unknown}${suggest(asked)}`, ""]),
    "scripdesk: a trading service for duty credit scrips",
    "",
    "usage: npx scripdesk <command> [--help] [--json], npx scripdesk --version",
    ...Object.entries(groups).flatMap(([title, own]) => ["", title, ...listCommands(own)]),
    "",
    "Settings come from the environment; see docs/OPERATIONS.md or `npx scripdesk serve --help`.",
    "Exit codes: 0 done, 1 refused or unhealthy, 2 wrong command line, 3 cannot run here.",
    "",
  ].join("\n");
}

function listCommands(some: readonly Command[]): string[] {
  const widest = Math.max(...commands.map(({ name }) => name.join(" ").length));
  return some.map(({ name, summary }) => `  ${name.join(" ").padEnd(widest)}  ${summary}`);
}

function suggest(asked: readonly string[]): string {
  const names = commands.map(({ name }) => name.join(" "));
  const meant = findNearest(asked.slice(0, 3).join(" "), names);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}
