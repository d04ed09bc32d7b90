import type { Environment } from "../kernel/caller.ts";
import {
  command,
  type Db,
  type Query,
  query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { bigint, type RowOf, table, text, time } from "../platform/postgres/table.ts";

const unpaidDeals = table("unpaid_deals", {
  settlement_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  pan: text().orNull,
  buyer_paise: bigint(),
  failed_at: time(),
  until: time(),
  lifted_at: time().orNull,
  lifted_by: text().orNull,
  lift_reason: text().orNull,
});
export type UnpaidRow = RowOf<typeof unpaidDeals>;

const unpaidColumns = unpaidDeals.as("u");

export async function insertUnpaid(tx: Tx, rows: readonly UnpaidRow[]): Promise<void> {
  await tx.rows(sql`insert into unpaid_deals ${unpaidDeals.values(unpaidDeals.all, rows)}`);
}

/** Those of the firms that an unpaid deal counts against: their own, or one of their PAN. */
export function listBarred(
  environment: Environment,
  firmIds: readonly string[],
  now: Date,
): Query<{ readonly firm_id: string }[]> {
  return query(sql`
    select f.firm_id
    from unnest(${firmIds}::text[]) as asked (firm_id)
    cross join lateral (
      select firm_id, pan
      from firms
      where firms.firm_id = asked.firm_id
      limit 1
    ) as f
    where exists (
      select from unpaid_deals as u
      where u.firm_id = f.firm_id and u.lifted_at is null and u.until > ${now}
        and u.environment = ${environment}
    ) or exists (
      select from unpaid_deals as u
      where u.pan = f.pan and u.lifted_at is null and u.until > ${now}
        and u.environment = ${environment}
    )`);
}

export async function findUnpaid(db: Db, settlementId: string): Promise<UnpaidRow | undefined> {
  const [row] = await db.rows<UnpaidRow>(sql`
    select ${unpaidColumns}
    from unpaid_deals as u
    where u.settlement_id = ${settlementId}`);
  return row;
}

/** Locks what still counts against the firm and the PAN of a deal, that deal included. */
export async function lockUnpaid(
  tx: Tx,
  { environment, firm_id, pan }: Pick<UnpaidRow, "environment" | "firm_id" | "pan">,
  now: Date,
): Promise<UnpaidRow[]> {
  return await tx.rows(sql`
    select ${unpaidColumns}
    from unpaid_deals as u
    where (u.pan = ${pan} or u.firm_id = ${firm_id}) and u.environment = ${environment}
      and u.lifted_at is null and u.until > ${now}
    order by u.settlement_id
    for update`);
}

export function setLifted(
  settlementIds: readonly string[],
  { by, reason, now }: { readonly by: string; readonly reason: string; readonly now: Date },
): Query<void> {
  return command(sql`
    update unpaid_deals
    set lifted_at = ${now}, lifted_by = ${by}, lift_reason = ${reason}
    where settlement_id = any(${settlementIds}::text[])`);
}

/** Newest first. */
export async function listUnpaid(
  db: Db,
  {
    environment,
    before,
    limit,
  }: {
    readonly environment: Environment;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<UnpaidRow[]> {
  return await db.rows(sql`
    select ${unpaidColumns}
    from unpaid_deals as u
    where u.environment = ${environment}
      and (${before}::text is null or u.settlement_id < ${before})
    order by u.settlement_id desc
    limit ${limit}`);
}

/** The sum of unfunded purchases by desk; desks without any are left out. */
export function listUnfundedOfDesks(
  environment: Environment,
  deskIds: readonly string[],
): Query<{ desk_id: string; unfunded_paise: number }[]> {
  return query(sql`
    select buyer_desk_id as desk_id,
      least(sum(buyer_paise), 9007199254740991)::bigint as unfunded_paise
    from settlements
    where state = 'pending' and buyer_desk_id = any(${deskIds}::text[])
      and environment = ${environment}
    group by buyer_desk_id`);
}
