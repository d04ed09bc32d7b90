import type { Environment } from "../kernel/caller.ts";
import type { IstDay } from "../kernel/time.ts";
import type { ListedRows } from "../platform/postgres/list.ts";
import { type Db, fragment, part, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bucketStarts, heldStates, type MemberSums } from "./group-rules.ts";
import type { FirmState } from "./rules.ts";

export type GroupRow = {
  readonly group_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly name: string;
  readonly member_count: number;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

type MemberRow = {
  readonly firm_id: string;
  readonly legal_name: string;
  readonly connection_state: string;
  readonly created_at: Date;
};

const groupColumns = fragment`
  group_id, environment, desk_id, name, version, created_at, updated_at,
  (select count(*) from firms where firms.group_id = groups.group_id) as member_count`;

/** The unique constraint on the names of a desk's groups. */
export const groupNameConstraint = "groups_desk_id_name_key";

export async function insertGroup(tx: Tx, group: GroupRow): Promise<void> {
  await tx.rows(sql`
    insert into groups (group_id, environment, desk_id, name, version, created_at, updated_at)
    values (
      ${group.group_id}, ${group.environment}, ${group.desk_id}, ${group.name}, ${group.version},
      ${group.created_at}, ${group.updated_at}
    )`);
}

export async function findGroup(
  db: Db,
  deskId: string,
  groupId: string,
): Promise<GroupRow | undefined> {
  const [row] = await db.rows<GroupRow>(sql`
    select ${groupColumns}
    from groups
    where desk_id = ${deskId} and group_id = ${groupId}`);
  return row;
}

export async function findGroupByName(
  db: Db,
  deskId: string,
  name: string,
): Promise<GroupRow | undefined> {
  const [row] = await db.rows<GroupRow>(sql`
    select ${groupColumns}
    from groups
    where desk_id = ${deskId} and name = ${name}`);
  return row;
}

/**
 * Locks the group and its membership. Read the row afterwards: it may have changed while waiting.
 */
export async function lockGroup(tx: Tx, deskId: string, groupId: string): Promise<boolean> {
  const locked = await tx.rows(sql`
    select
    from groups
    where desk_id = ${deskId} and group_id = ${groupId}
    for update`);
  return locked.length > 0;
}

/** Newest first. */
export const listGroupRows = (deskId: string): ListedRows<GroupRow> => ({
  columns: groupColumns,
  found: part`from groups where desk_id = ${deskId}`,
  newestFirst: ["created_at", "group_id"],
});

export async function setGroupName(
  tx: Tx,
  deskId: string,
  change: { readonly groupId: string; readonly name: string; readonly now: Date },
): Promise<void> {
  await tx.rows(sql`
    update groups
    set name = ${change.name}, updated_at = ${change.now}, version = version + 1
    where desk_id = ${deskId} and group_id = ${change.groupId}`);
}

/** Membership is a column of firms; this raises the group's version when it changes. */
export async function setGroupChanged(
  tx: Tx,
  deskId: string,
  change: { readonly groupId: string; readonly now: Date },
): Promise<void> {
  await tx.rows(sql`
    update groups
    set updated_at = ${change.now}, version = version + 1
    where desk_id = ${deskId} and group_id = ${change.groupId}`);
}

export async function deleteGroup(tx: Tx, deskId: string, groupId: string): Promise<void> {
  await tx.rows(sql`
    delete from groups
    where desk_id = ${deskId} and group_id = ${groupId}`);
}

/** Newest firm first. */
export const listMemberRows = (deskId: string, groupId: string): ListedRows<MemberRow> => ({
  columns: fragment`firm_id, legal_name, connection_state, created_at`,
  found: part`from firms where desk_id = ${deskId} and group_id = ${groupId}`,
  newestFirst: ["created_at", "firm_id"],
});

/**
 * What each member holds and owes, in one statement and so from one snapshot. Undefined when there
 * is no such group. Sums are text, because a sum of paise may exceed a safe integer.
 */
export async function sumMembers(
  db: Db,
  { deskId, groupId }: { readonly deskId: string; readonly groupId: string },
  today: IstDay,
): Promise<readonly MemberSums[] | undefined> {
  const [row] = await db.rows<{ members: readonly MemberSums[] }>(sql`
    with members as (
      select firm_id, legal_name, created_at
      from firms
      where desk_id = ${deskId} and group_id = ${groupId}
    ),
    held as (
      select
        firm_id, scheme,
        width_bucket(expires_on - ${today}::date, ${bucketStarts}::int[]) as bucket,
        count(*) as count,
        sum(face_paise)::text as face_paise,
        coalesce(sum(face_paise) filter (where state = 'listed'), 0)::text as available_paise
      from credits
      where firm_id in (select firm_id from members)
        and state = any(${heldStates}::text[])
        and expires_on >= ${today}::date
      group by firm_id, scheme, bucket
    ),
    owed as (
      select firm_id, scheme, count(*) as count, sum(amount_paise)::text as amount_paise
      from requirements
      where firm_id in (select firm_id from members) and due_on >= ${today}::date
      group by firm_id, scheme
    )
    select coalesce(
      (
        select json_agg(
          json_build_object(
            'firm_id', m.firm_id,
            'legal_name', m.legal_name,
            'held', (
              select coalesce(json_agg(h), '[]') from held as h where h.firm_id = m.firm_id
            ),
            'owed', (
              select coalesce(json_agg(o), '[]') from owed as o where o.firm_id = m.firm_id
            )
          )
          order by m.created_at desc, m.firm_id desc
        )
        from members as m
      ),
      '[]'
    ) as members
    from groups
    where desk_id = ${deskId} and group_id = ${groupId}`);
  return row?.members;
}

/** The columns of a firm that membership changes need. */
export type Membership = {
  readonly firm_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly legal_name: string;
  readonly connection_state: FirmState;
  readonly group_id: string | null;
  readonly version: number;
};

export async function lockMembership(
  tx: Tx,
  deskId: string,
  firmId: string,
): Promise<Membership | undefined> {
  const [row] = await tx.rows<Membership>(sql`
    select firm_id, environment, desk_id, legal_name, connection_state, group_id, version
    from firms
    where desk_id = ${deskId} and firm_id = ${firmId}
    for update`);
  return row;
}

export async function setFirmGroup(
  tx: Tx,
  deskId: string,
  change: { readonly firmId: string; readonly groupId: string | null; readonly now: Date },
): Promise<Membership | undefined> {
  const [row] = await tx.rows<Membership>(sql`
    update firms
    set group_id = ${change.groupId}, updated_at = ${change.now}, version = version + 1
    where desk_id = ${deskId} and firm_id = ${change.firmId}
    returning firm_id, environment, desk_id, legal_name, connection_state, group_id, version`);
  return row;
}
