// `npx scripdesk <noun> <verb>`: what an operator does, beside a running service or alone.

import { ConfigError } from "../src/config.ts";
import { Failure } from "../src/kernel/failure.ts";
import { Unusable } from "../src/platform/http/errors.ts";
import { approvalCommands } from "./approvals.ts";
import { auditCommands } from "./audit.ts";
import { calendarCommands } from "./calendar.ts";
import { bankCommands } from "./bank.ts";
import { type Command, UsageError } from "./command.ts";
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
import { migrateCommand } from "./migrate.ts";
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

const commands: readonly Command[] = [
  serveCommand,
  migrateCommand,
  ...overviewCommands,
  ...peopleCommands,
  ...approvalCommands,
  ...keyCommands,
  ...planCommands,
  ...firmCommands,
  ...registryCommands,
  ...creditCommands,
  ...rateCommands,
  ...marketCommands,
  ...inventoryCommands,
  ...ledgerCommands,
  ...auditCommands,
  ...enquiryCommands,
  ...crossCommands,
  ...orderCommands,
  ...settlementCommands,
  ...payoutCommands,
  ...payoutFileCommands,
  ...bankCommands,
  ...depositCommands,
  ...deskCommands,
  ...statementCommands,
  ...calendarCommands,
  ...taxCommands,
  ...webhookCommands,
  listenCommand,
  seedCommand,
  doctor,
];

export async function run(words: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => name.every((word, index) => words[index] === word));
  if (!command || words.includes("--help")) {
    process.stdout.write(command ? command.help() : overview(words));
    return command || asksForHelp(words) ? 0 : exitCodes.usage;
  }
  try {
    return await command.run(words.slice(command.name.length));
  } catch (error) {
    return explain(error);
  }
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

function overview(words: readonly string[]): string {
  const unknown = asksForHelp(words) ? "" : `scripdesk: no command "${words.join(" ")}"\n\n`;
  const widest = Math.max(...commands.map(({ name }) => name.join(" ").length));
  const lines = commands.map(
    ({ name, summary }) => `  ${name.join(" ").padEnd(widest)}  ${summary}`,
  );
  return [
    `${unknown}scripdesk: a trading service for duty credit scrips`,
    "",
    "usage: npx scripdesk <command> [--help] [--json]",
    "",
    ...lines,
    "",
    "Settings come from the environment; see docs/OPERATIONS.md or `npx scripdesk serve --help`.",
    "Exit codes: 0 done, 1 refused or unhealthy, 2 wrong command line, 3 cannot run here.",
    "",
  ].join("\n");
}
