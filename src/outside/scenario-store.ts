import { type Db, query, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { Scenario } from "./scenario-rules.ts";

type ScenarioRow = {
  readonly desk_id: string;
  readonly scenario: Scenario;
  readonly set_at: Date;
};

export async function insertScenario(tx: Tx, row: ScenarioRow): Promise<void> {
  await tx.rows(sql`
    insert into sandbox_scenarios (desk_id, scenario, set_at)
    values (${row.desk_id}, ${row.scenario}, ${row.set_at})
    on conflict do nothing`);
}

export async function listScenarios(db: Db, deskId: string): Promise<ScenarioRow[]> {
  return await db.rows(sql`
    select desk_id, scenario, set_at
    from sandbox_scenarios
    where desk_id = ${deskId}
    order by set_at, scenario`);
}

/** The scenarios of these desks, of those that are wanted. */
export function listWanted(
  deskIds: readonly string[],
  wanted: readonly Scenario[],
): Query<Pick<ScenarioRow, "desk_id" | "scenario">[]> {
  return query(sql`
    select desk_id, scenario
    from sandbox_scenarios
    where desk_id = any(${deskIds}::text[]) and scenario = any(${wanted}::text[])`);
}

/** Deletes and returns the first matching scenario of each desk; skips locked rows. */
export function takeScenarios(
  deskIds: readonly string[],
  wanted: readonly Scenario[],
): Query<ScenarioRow[]> {
  return query(sql`
    delete from sandbox_scenarios
    where (desk_id, scenario) in (
      select s.desk_id, s.scenario
      from sandbox_scenarios as s
      where s.desk_id = any(${deskIds}::text[]) and s.scenario = any(${wanted}::text[])
        and not exists (
          select
          from sandbox_scenarios as e
          where e.desk_id = s.desk_id and e.scenario = any(${wanted}::text[])
            and (e.set_at, e.scenario) < (s.set_at, s.scenario)
        )
      order by s.desk_id
      for update skip locked
    )
    returning desk_id, scenario, set_at`);
}

export async function deleteScenarios(
  tx: Tx,
  deskId: string,
  unwanted: readonly Scenario[],
): Promise<void> {
  await tx.rows(sql`
    delete from sandbox_scenarios
    where desk_id = ${deskId} and scenario = any(${unwanted}::text[])`);
}
