import { Type } from "typebox";

import type { Environment } from "../kernel/caller.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { calendarDay, closedEnum } from "../platform/http/wire.ts";
import { equals, list, meets } from "../platform/postgres/list.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
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
  /** The due day for which the desk was told that it is not covered. */
  uncovered_told_for: day().orNull,
  uncovered_checked_on: day().orNull,
  created_at: time(),
  updated_at: time(),
});
export type RequirementRow = RowOf<typeof requirements>;

export type FirmKey = { readonly deskId: string; readonly firmId: string };

/** The unique constraint on the references of a firm's requirements. */
export const referenceConstraint = "requirements_firm_id_reference_key";

const requirementColumns = requirements.columns;

export const { insert: insertRequirement, lock: lockRequirements } = rowsBy(requirements, {
  key: ["requirement_id"],
});

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

/** Those that are due until this day and of which nothing was told today; `skip locked`. */
export async function claimUntold(
  tx: Tx,
  { dueUntil, today }: { readonly dueUntil: IstDay; readonly today: IstDay },
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<RequirementRow[]> {
  return await tx.rows(sql`
    select ${requirementColumns}
    from requirements
    where uncovered_told_for is distinct from due_on and due_on <= ${dueUntil}::date
      and (uncovered_checked_on is null or uncovered_checked_on < ${today}::date)
      and (${only}::text[] is null or requirement_id = any(${only}::text[]))
      and requirement_id <> all(${except}::text[])
    order by due_on
    limit ${limit}
    for update skip locked`);
}

/** The rows are locked. */
export async function setChecked(
  tx: Tx,
  rows: readonly Pick<RequirementRow, (typeof checkedColumns)[number]>[],
): Promise<void> {
  await tx.rows(sql`
    update requirements as q
    set ${setCheckedColumns}
    from ${requirements.rows(checkedColumns, rows)} as r
    where q.requirement_id = r.requirement_id`);
}

const checkedColumns = ["requirement_id", "uncovered_told_for", "uncovered_checked_on"] as const;
const setCheckedColumns = requirements.assign(["uncovered_told_for", "uncovered_checked_on"]);

/** Moves what a desk's firms will have to pay earlier; returns the ids. */
export async function moveDueDaysEarlier(
  tx: Tx,
  { environment, deskId, days, now }: ClockAdvance,
  { after, limit, oldest }: Cursor & { readonly oldest: IstDay },
): Promise<string[]> {
  const rows = await tx.rows<{ requirement_id: string }>(sql`
    update requirements
    set due_on = due_on - ${days}::int, uncovered_told_for = uncovered_told_for - ${days}::int,
      uncovered_checked_on = null, version = version + 1, updated_at = ${now}
    where requirement_id = any(array(
      select requirement_id
      from requirements
      where environment = ${environment} and desk_id = ${deskId} and created_at <= ${now}
        and due_on > ${oldest}::date and requirement_id > ${after}
      order by requirement_id
      limit ${limit}
      for update
    ))
    returning requirement_id`);
  return rows.map(({ requirement_id }) => requirement_id).toSorted();
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
      reference = ${change.reference}, updated_at = ${change.now}, version = version + 1,
      uncovered_told_for = case
        when amount_paise = ${change.amount_paise} and due_on = ${change.due_on}::date
        then uncovered_told_for
      end,
      uncovered_checked_on = null
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
