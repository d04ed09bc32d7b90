import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres.ts";
import type { Scenario } from "./rules.ts";
import { takeScenarios as takeRows } from "./store.ts";

/** What is to happen to each of these desks, by desk; it happens once. Live desks have none. */
export async function takeScenarios<Wanted extends Scenario>(
  tx: Tx,
  environment: Environment,
  { deskIds, wanted }: { readonly deskIds: readonly string[]; readonly wanted: readonly Wanted[] },
): Promise<Map<string, Wanted>> {
  if (environment === "live" || deskIds.length === 0) return new Map();
  const rows = await takeRows(tx, [...new Set(deskIds)], wanted);
  return new Map(rows.map((row) => [row.desk_id, row.scenario as Wanted])); // Only those were asked for.
}

/** What is to happen to the next thing of one of these desks; the one after it is left alone. */
export function takeFrom<Wanted>(taken: Map<string, Wanted>, ...deskIds: string[]): Wanted | null {
  const deskId = deskIds.find((id) => taken.has(id));
  if (deskId === undefined) return null;
  const scenario = taken.get(deskId) ?? null;
  taken.delete(deskId);
  return scenario;
}
