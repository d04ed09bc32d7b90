import type { Environment } from "../kernel/caller.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { RequirementTerms } from "./requirement-rules.ts";

export type RequirementRow = RequirementTerms & {
  readonly requirement_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export type FirmKey = { readonly deskId: string; readonly firmId: string };

export type RequirementFilter = {
  readonly scheme: Scheme | null;
  readonly dueBefore: IstDay | null;
};

/** The unique constraint on the references of a firm's requirements. */
export const referenceConstraint = "requirements_firm_id_reference_key";

const requirementColumns = fragment`
  requirement_id, environment, desk_id, firm_id, scheme, amount_paise, due_on, reference, version,
  created_at, updated_at`;

export async function insertRequirement(tx: Tx, row: RequirementRow): Promise<void> {
  await tx.rows(sql`
    insert into requirements (
      requirement_id, environment, desk_id, firm_id, scheme, amount_paise, due_on, reference,
      version, created_at, updated_at
    )
    values (
      ${row.requirement_id}, ${row.environment}, ${row.desk_id}, ${row.firm_id}, ${row.scheme},
      ${row.amount_paise}, ${row.due_on}, ${row.reference}, ${row.version}, ${row.created_at},
      ${row.updated_at}
    )`);
}

export async function findRequirement(
  db: Db,
  { deskId, firmId }: FirmKey,
  requirementId: string,
): Promise<RequirementRow | undefined> {
  const [row] = await db.rows<RequirementRow>(sql`
    select ${requirementColumns}
    from requirements
    where desk_id = ${deskId} and firm_id = ${firmId} and requirement_id = ${requirementId}`);
  return row;
}

export async function lockRequirement(
  tx: Tx,
  { deskId, firmId }: FirmKey,
  requirementId: string,
): Promise<RequirementRow | undefined> {
  const [row] = await tx.rows<RequirementRow>(sql`
    select ${requirementColumns}
    from requirements
    where desk_id = ${deskId} and firm_id = ${firmId} and requirement_id = ${requirementId}
    for update`);
  return row;
}

export async function findRequirementByReference(
  db: Db,
  { deskId, firmId }: FirmKey,
  reference: string,
): Promise<RequirementRow | undefined> {
  const [row] = await db.rows<RequirementRow>(sql`
    select ${requirementColumns}
    from requirements
    where desk_id = ${deskId} and firm_id = ${firmId} and reference = ${reference}`);
  return row;
}

/** Newest first. */
export async function listRequirements(
  db: Db,
  { deskId, firmId }: FirmKey,
  { after, fetch, scheme, dueBefore }: PageRequest & RequirementFilter,
): Promise<RequirementRow[]> {
  return await db.rows(sql`
    select ${requirementColumns}
    from requirements
    where desk_id = ${deskId} and firm_id = ${firmId}
      and (${scheme}::text is null or scheme = ${scheme})
      and (${dueBefore}::date is null or due_on < ${dueBefore}::date)
      and (${after?.at ?? null}::timestamptz is null
        or (created_at, requirement_id)
          < (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::text))
    order by created_at desc, requirement_id desc
    limit ${fetch}`);
}

export async function countRequirements(
  db: Db,
  { deskId, firmId }: FirmKey,
  { scheme, dueBefore }: RequirementFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from requirements
    where desk_id = ${deskId} and firm_id = ${firmId}
      and (${scheme}::text is null or scheme = ${scheme})
      and (${dueBefore}::date is null or due_on < ${dueBefore}::date)`);
  return row?.total ?? 0;
}

export async function setRequirementTerms(
  tx: Tx,
  deskId: string,
  change: RequirementTerms & { readonly requirementId: string; readonly now: Date },
): Promise<RequirementRow | undefined> {
  const [row] = await tx.rows<RequirementRow>(sql`
    update requirements
    set scheme = ${change.scheme}, amount_paise = ${change.amount_paise}, due_on = ${change.due_on},
      reference = ${change.reference}, updated_at = ${change.now}, version = version + 1
    where desk_id = ${deskId} and requirement_id = ${change.requirementId}
    returning ${requirementColumns}`);
  return row;
}

export async function deleteRequirement(
  tx: Tx,
  deskId: string,
  requirementId: string,
): Promise<void> {
  await tx.rows(sql`
    delete from requirements
    where desk_id = ${deskId} and requirement_id = ${requirementId}`);
}
