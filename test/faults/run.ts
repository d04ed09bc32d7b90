// `npm run faults -- <programme> [--count N] [--minutes M] [--seed S] [--only TEXT] [--quick]`: the long
// versions of what the tests prove in short. The seed is printed first; the same seed makes the same run.
// `npm run faults -- all` runs every programme, `npm run faults -- --quick` a short form of each.
//
//   exit 0   everything that was promised held, and the control failed as it must
//   exit 1   something did not hold
//   exit 2   there is no such programme
//   exit 3   it cannot run here: a program or a right is missing

import { parseArgs } from "node:util";

import { endOnSignals } from "../support/programme-stack.ts";
import { runAll } from "./all-programmes.ts";
import { runFailovers, runRestore, runUpgrade } from "./cluster-programmes.ts";
import { isInside } from "./namespace.ts";
import { type Outcome, type Say, type Settings, tellStarter } from "./outcome.ts";
import { runPower } from "./power-programme.ts";
import {
  runEconomies,
  runFuzz,
  runKills,
  runLoad,
  runStalls,
  runWebhooks,
} from "./service-programmes.ts";
import { runSoak } from "./soak-programme.ts";

type Programme = {
  readonly about: string;
  /** Whether it measures times or memory, which another programme beside it would change. */
  readonly isAlone?: boolean;
  run(settings: Settings, say: Say): Promise<Outcome>;
};

const programmes: Readonly<Record<string, Programme>> = {
  failover: {
    about: "a Patroni cluster that loses its primary under order load: nothing lost, nothing twice",
    run: runFailovers,
  },
  fuzz: {
    about: "requests made from docs/openapi.json, most of them wrong: no 5xx, all as documented",
    run: runFuzz,
  },
  webhooks: {
    about:
      "deliveries while services and PostgreSQL are killed: none lost; slow receivers delay nobody",
    run: runWebhooks,
  },
  economy: {
    about:
      "colluding desks against the house, cards constant and moving, and against a bank's own record: nobody gains",
    run: runEconomies,
  },
  stall: {
    about:
      "others' calls beside heavy requests and beside what strangers send: not slowed, none fails",
    isAlone: true,
    run: runStalls,
  },
  load: {
    about: "desks at work in both environments beside the heavy requests: no 5xx, memory flat",
    isAlone: true,
    run: runLoad,
  },
  kill: {
    about: "kill -9 of the service and of PostgreSQL under order load: nothing lost, nothing twice",
    run: runKills,
  },
  soak: {
    about: "an hour of mixed load with faults in between: nothing lost, no 5xx besides, no growth",
    isAlone: true,
    run: runSoak,
  },
  power: {
    about: "power cuts under order load, each disk started again: nothing lost, nothing twice",
    run: runPower,
  },
  upgrade: {
    about: "nodes upgraded one after the other from the last version, under load: nothing dropped",
    run: runUpgrade,
  },
  restore: {
    about: "an external PostgreSQL backed up under load and restored to a moment: row by row",
    run: runRestore,
  },
};

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: "string" },
      minutes: { type: "string" },
      seed: { type: "string" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    showHelp();
    return;
  }
  const settings = {
    count: wholeNumber(values.count),
    minutes: wholeNumber(values.minutes),
    seed: wholeNumber(values.seed) ?? Math.floor(Math.random() * 2 ** 31),
    only: values.only,
    quick: values.quick,
  };
  const name = positionals[0] ?? (values.quick ? "all" : undefined);
  if (!isInside && name !== undefined) say(`${name}, seed ${settings.seed}`);
  if (name === "all") {
    const listed = Object.entries(programmes).map(([name, { isAlone = false }]) => ({
      name,
      isAlone,
    }));
    const what = { program: import.meta.filename, programmes: listed };
    if (!(await runAll(what, settings, say))) process.exitCode = 1;
    return;
  }
  const programme = name === undefined ? undefined : programmes[name];
  if (!programme) {
    showHelp();
    process.exitCode = name === undefined ? 0 : 2;
    return;
  }
  const outcome = await programme.run(settings, say);
  if (!isInside) say(describe(outcome));
  tellStarter(outcome);
  if ("missing" in outcome) process.exitCode = 3;
  else if (!outcome.held) process.exitCode = 1;
}

function showHelp(): void {
  say("npm run faults -- <programme> [--count N] [--minutes M] [--seed S] [--only TEXT] [--quick]");
  say("npm run faults -- all       every programme, which takes hours");
  say("npm run faults -- --quick   a short form of each, in ten minutes; writes nothing down");
  for (const [known, { about }] of Object.entries(programmes)) say(`  ${known}  ${about}`);
}

function describe(outcome: Outcome): string {
  if ("missing" in outcome) return `cannot run here: ${outcome.missing}`;
  const { held, counts, control } = outcome;
  return `${counts}; control: ${control}: ${held ? "held" : "FAILED"}`;
}

class WrongOption extends Error {}

function isParseError(error: unknown): boolean {
  return (
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE")
  );
}

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new WrongOption(`${text} is not a whole number`);
  return Number(text);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  endOnSignals();
  await main();
} catch (error) {
  if (!(error instanceof WrongOption) && !isParseError(error)) throw error;
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
