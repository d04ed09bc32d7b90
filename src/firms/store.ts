import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres.ts";

export type FirmRow = {
  readonly firm_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly legal_name: string;
  readonly iec: string | null;
  readonly pan: string | null;
  readonly connection_state: string;
  readonly created_at: Date;
};

/** The firm, unless another desk of that name was there first. */
export async function insertFirm(tx: Tx, firm: FirmRow): Promise<boolean> {
  const inserted = await tx.rows(sql`
    insert into firms (
      firm_id, environment, desk_id, legal_name, iec, pan, connection_state, created_at, updated_at
    )
    values (
      ${firm.firm_id}, ${firm.environment}, ${firm.desk_id}, ${firm.legal_name}, ${firm.iec},
      ${firm.pan}, ${firm.connection_state}, ${firm.created_at}, ${firm.created_at}
    )
    on conflict (environment, legal_name) where desk_id = firm_id do nothing
    returning 1`);
  return inserted.length > 0;
}

export async function findDeskByName(
  db: Db,
  environment: Environment,
  legalName: string,
): Promise<FirmRow | undefined> {
  const [row] = await db.rows<FirmRow>(sql`
    select firm_id, environment, desk_id, legal_name, iec, pan, connection_state, created_at
    from firms
    where environment = ${environment} and legal_name = ${legalName} and desk_id = firm_id`);
  return row;
}

/** A firm of this desk: its own or a client firm. */
export async function findFirm(
  db: Db,
  deskId: string,
  firmId: string,
): Promise<FirmRow | undefined> {
  const [row] = await db.rows<FirmRow>(sql`
    select firm_id, environment, desk_id, legal_name, iec, pan, connection_state, created_at
    from firms
    where desk_id = ${deskId} and firm_id = ${firmId}`);
  return row;
}

export async function countDesks(db: Db): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from firms
    where desk_id = firm_id`);
  return row?.total ?? 0;
}

/** Client firms by the thousand, as seeding makes them; those that are there already stay. */
export async function insertClients(tx: Tx, firms: readonly FirmRow[]): Promise<void> {
  await tx.rows(sql`
    insert into firms (
      firm_id, environment, desk_id, legal_name, iec, pan, connection_state, created_at, updated_at
    )
    select firm_id, environment, desk_id, legal_name, iec, iec, connection_state, at, at
    from unnest(
      ${firms.map((firm) => firm.firm_id)}::text[],
      ${firms.map((firm) => firm.environment)}::text[],
      ${firms.map((firm) => firm.desk_id)}::text[],
      ${firms.map((firm) => firm.legal_name)}::text[],
      ${firms.map((firm) => firm.iec)}::text[],
      ${firms.map((firm) => firm.connection_state)}::text[],
      ${firms.map((firm) => firm.created_at)}::timestamptz[]
    ) as f (firm_id, environment, desk_id, legal_name, iec, connection_state, at)
    on conflict do nothing`);
}
