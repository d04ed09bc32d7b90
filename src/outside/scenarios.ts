import type { Environment } from "../kernel/caller.ts";
import { type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { type Scenario, scenarios } from "./scenario-rules.ts";
import {
  deleteScenarios,
  insertScenario,
  listScenarios,
  takeScenarios as takeRows,
} from "./scenario-store.ts";

/** A scenario that is set twice is set once; an open market is one that is not halted. */
export async function setScenario(
  tx: Tx,
  { deskId, scenario, now }: { readonly deskId: string; readonly scenario: Scenario; now: Date },
): Promise<void> {
  if (scenario === "market_open") return await deleteScenarios(tx, deskId, ["market_halt"]);
  await insertScenario(tx, { desk_id: deskId, scenario, set_at: now });
}

/** What has been set for a desk and has not happened yet. */
export async function readScenarios(db: Db, deskId: string): Promise<Scenario[]> {
  return (await listScenarios(db, deskId)).map(({ scenario }) => scenario);
}

export async function clearScenarios(tx: Tx, deskId: string): Promise<void> {
  await deleteScenarios(tx, deskId, scenarios);
}

/** What is to happen to each of these desks, by desk; it happens once. Live desks have none. */
export function takeScenarios<Wanted extends Scenario>(
  environment: Environment,
  { deskIds, wanted }: { readonly deskIds: readonly string[]; readonly wanted: readonly Wanted[] },
): Query<Map<string, Wanted>> {
  if (environment === "live" || deskIds.length === 0) return known(new Map());
  return takeRows([...new Set(deskIds)], wanted).map(
    (rows) => new Map(rows.map((row) => [row.desk_id, row.scenario as Wanted])), // Only those were asked for.
  );
}

/** What is to happen to the next thing of one of these desks; the one after it is left alone. */
export function takeScenarioFor<Wanted>(
  taken: Map<string, Wanted>,
  ...deskIds: string[]
): Wanted | null {
  const deskId = deskIds.find((id) => taken.has(id));
  if (deskId === undefined) return null;
  const scenario = taken.get(deskId) ?? null;
  taken.delete(deskId);
  return scenario;
}
