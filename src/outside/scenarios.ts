import type { Environment } from "../kernel/caller.ts";
import { type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { type Scenario, scenarios } from "./scenario-rules.ts";
import {
  deleteScenarios,
  insertScenario,
  listScenarios,
  takeScenarios as takeRows,
} from "./scenario-store.ts";

/** Setting a scenario twice sets it once; `market_open` removes `market_halt`. */
export async function setScenario(
  tx: Tx,
  { deskId, scenario, now }: { readonly deskId: string; readonly scenario: Scenario; now: Date },
): Promise<void> {
  if (scenario === "market_open") return await deleteScenarios(tx, deskId, ["market_halt"]);
  await insertScenario(tx, { desk_id: deskId, scenario, set_at: now });
}

/** The scenarios of a desk that have not applied yet. */
export async function readScenarios(db: Db, deskId: string): Promise<Scenario[]> {
  return (await listScenarios(db, deskId)).map(({ scenario }) => scenario);
}

export async function clearScenarios(tx: Tx, deskId: string): Promise<void> {
  await deleteScenarios(tx, deskId, scenarios);
}

/** Takes the next scenario of each desk; each applies once. Live desks have none. */
export function takeScenarios<Wanted extends Scenario>(
  environment: Environment,
  { deskIds, wanted }: { readonly deskIds: readonly string[]; readonly wanted: readonly Wanted[] },
): Query<Map<string, Wanted>> {
  if (environment === "live" || deskIds.length === 0) return known(new Map());
  return takeRows([...new Set(deskIds)], wanted).map(
    (rows) => new Map(rows.map((row) => [row.desk_id, row.scenario as Wanted])), // One of `wanted`.
  );
}

/** Takes the scenario of the first of these desks that has one. */
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
