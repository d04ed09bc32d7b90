import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";

export type RateRow = {
  readonly desk_id: string;
  readonly environment: Environment;
  readonly bps: number;
  readonly version: number;
  readonly updated_at: Date;
};

/** Desks without a row have the default rate. */
export async function listRates(db: Db, deskIds: readonly string[]): Promise<RateRow[]> {
  return await db.rows(sql`
    select desk_id, environment, bps, version, updated_at
    from commission_rates
    where desk_id = any(${deskIds}::text[])`);
}

/** Concurrent calls queue on the row, so each raises the version by one. */
export async function upsertRate(
  tx: Tx,
  rate: Omit<RateRow, "version">,
): Promise<Pick<RateRow, "version">> {
  const [row] = await tx.rows<{ version: number }>(sql`
    insert into commission_rates as known (desk_id, environment, bps, version, updated_at)
    values (${rate.desk_id}, ${rate.environment}, ${rate.bps}, 1, ${rate.updated_at})
    on conflict (desk_id) do update
    set bps = excluded.bps, version = known.version + 1, updated_at = excluded.updated_at
    returning version`);
  return row ?? { version: 1 };
}
