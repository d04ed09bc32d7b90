import type { Db, Tx } from "../platform/postgres.ts";
import { type Scenario, scenarios } from "./rules.ts";
import { deleteScenarios, insertScenario, listScenarios } from "./store.ts";

/** A scenario that is set twice is set once; an open market is one that is not halted. */
export async function setScenario(
  tx: Tx,
  { deskId, scenario, now }: { readonly deskId: string; readonly scenario: Scenario; now: Date },
): Promise<void> {
  if (scenario === "market_open") return await deleteScenarios(tx, deskId, ["market_halt"]);
  await insertScenario(tx, { desk_id: deskId, scenario, set_at: now });
}

/** What has been set for a desk and has not happened yet. */
export async function scenariosOf(db: Db, deskId: string): Promise<Scenario[]> {
  return (await listScenarios(db, deskId)).map(({ scenario }) => scenario);
}

export async function forgetScenarios(tx: Tx, deskId: string): Promise<void> {
  await deleteScenarios(tx, deskId, scenarios);
}
