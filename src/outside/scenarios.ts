import type { Environment } from "../kernel/caller.ts";
import { type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { partyScenarios, type Scenario, scenarios, taskScenario } from "./scenario-rules.ts";
import {
  deleteScenarios,
  insertScenario,
  listScenarios,
  listWanted,
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

/** How the parties of these desks behave in the sandbox. */
export type Parties = {
  /** The desks whose firms do their tasks themselves. */
  readonly manual: ReadonlySet<string>;
  /** The desks of which a party is to be late or to do nothing, in their next settlement. */
  readonly unreliable: ReadonlySet<string>;
};

export function findParties(environment: Environment, deskIds: readonly string[]): Query<Parties> {
  const nobody = { manual: new Set<string>(), unreliable: new Set<string>() };
  if (environment === "live" || deskIds.length === 0) return known(nobody);
  const wanted: readonly Scenario[] = [taskScenario, ...partyScenarios];
  return listWanted([...new Set(deskIds)], wanted).map((rows) => {
    const isManual = ({ scenario }: (typeof rows)[number]) => scenario === taskScenario;
    const toDesks = (some: typeof rows) => new Set(some.map(({ desk_id }) => desk_id));
    return {
      manual: toDesks(rows.filter(isManual)),
      unreliable: toDesks(rows.filter((row) => !isManual(row))),
    };
  });
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
