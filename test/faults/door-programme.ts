// The part of the stalls that looks at doors: each attack on the service as it is, then on one that has
// the defects that made these attacks known, where every one must be seen.

import { join } from "node:path";

import { freePort } from "../support/free-port.ts";
import { dataDirectory, type Scope, serve } from "../support/process.ts";
import { type DoorAttack, doorAttacks, slowReceivers } from "./door-attacks.ts";
import { type DoorRow, doorTable, isDoorHeld, measureDoor, openDoorSystem } from "./doors.ts";
import type { Say, Settings } from "./outcome.ts";
import { type Victim, victims } from "./victim-calls.ts";

const attackMs = 20_000;
const attackQuickMs = 6_000;
/** Of the attacks, those of a short look. */
const quickWords = ["the document", "readyz", "after 9.5 s", "long text"];
const manyWord = "40,000";

const openDoors = { program: join(import.meta.dirname, "open-doors-serve.ts"), words: [] };

export type DoorReport = {
  readonly rows: readonly DoorRow[];
  readonly control: readonly DoorRow[];
};

/** The attacks that a run of the stalls has chosen, on every victim. */
export async function runDoors(
  scope: Scope,
  { only = "", quick }: Pick<Settings, "only" | "quick">,
  say: Say,
): Promise<DoorReport> {
  const attacks = doorAttacks
    .filter(({ name }) => name.includes(only))
    .filter(({ name }) => !quick || quickWords.some((word) => name.includes(word)));
  return await runAttacks(
    scope,
    { attacks, kinds: victims, quick, isControlled: only === "" },
    say,
  );
}

/** Receivers that say 200 slowly, judged by the pings of others alone. */
export async function runSlowReceivers(
  scope: Scope,
  { quick }: Pick<Settings, "quick">,
  say: Say,
): Promise<DoorReport> {
  const chosen = { attacks: [slowReceivers], kinds: ["ping"], isControlled: true } as const;
  return await runAttacks(scope, { ...chosen, quick }, say);
}

type ChosenAttacks = {
  readonly attacks: readonly DoorAttack[];
  readonly kinds: readonly Victim[];
  readonly quick: boolean;
  readonly isControlled: boolean;
};

async function runAttacks(
  scope: Scope,
  { attacks, kinds, quick, isControlled }: ChosenAttacks,
  say: Say,
): Promise<DoorReport> {
  if (attacks.length === 0) return { rows: [], control: [] };
  const ms = quick ? attackQuickMs : attackMs;
  const dataDir = await dataDirectory(scope);
  const opsPort = await freePort();
  const settings = {
    DATA_DIR: dataDir,
    OPS_PORT: String(opsPort),
    LOG_LEVEL: "silent",
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
  };
  let service = await serve(scope, settings);
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const hasMany = attacks.some(({ name }) => name.includes(manyWord));
  const system = await openDoorSystem(service, { dataDir, opsUrl, hasMany });
  say("furnished for the doors");
  const measure = async () => {
    const rows: DoorRow[] = [];
    for (const [at, attack] of attacks.entries()) {
      say(`${at + 1} of ${attacks.length}: ${attack.name}`);
      rows.push(await measureDoor(service, system, { attack, kinds, ms }));
      say(doorTable(rows.slice(-1)).split("\n").at(-1) ?? "");
    }
    return rows;
  };
  const rows = await measure();
  if (!isControlled) return { rows, control: [] };
  service.signal("SIGTERM");
  await service.ended;
  say("control: keyless answers made anew, nothing shared, heavy work on the event loop");
  service = await serve(scope, settings, openDoors);
  return { rows, control: await measure() };
}

/** Whether every attack is held, and the control saw some. */
export function areDoorsHeld({ rows, control }: DoorReport): boolean {
  return rows.every(isDoorHeld) && (control.length === 0 || !control.every(isDoorHeld));
}
