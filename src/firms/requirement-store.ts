import { Type } from "typebox";

import type { Environment } from "../kernel/caller.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { calendarDay, closedEnum } from "../platform/http/wire.ts";
import { equals, list, meets } from "../platform/postgres/list.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bigint, day, int, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { RequirementTerms } from "./requirement-rules.ts";

const requirements = table("requirements", {
  requirement_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  scheme: text<Scheme>().orNull,
  amount_paise: bigint(),
  due_on: day(),
  reference: text(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type RequirementRow = RowOf<typeof requirements>;

export type FirmKey = { readonly deskId: string; readonly firmId: string };

/** The unique constraint on the references of a firm's requirements. */
export const referenceConstraint = "requirements_firm_id_reference_key";

const requirementColumns = requirements.columns;

export async function insertRequirement(tx: Tx, row: RequirementRow): Promise<void> {
  await tx.rows(sql`
    insert into requirements ${requirements.values(requirements.all, [row])}`);
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

export const requirementList = list(requirements, {
  name: "requirements",
  within: ["desk_id", "firm_id"],
  newestFirst: ["created_at", "requirement_id"],
  filters: {
    scheme: equals(
      "scheme",
      Type.Optional(closedEnum(schemes, { description: "Only those that name this scheme." })),
    ),
    due_before: meets(
      (value) => `due_on < ${value}::date`,
      Type.Optional(calendarDay("Only those due before this day.")),
      { type: "date" },
    ),
  },
});

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
