import { exactJson } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, query, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import type {
  CreditState,
  CrossState,
  GroupCredit,
  GroupRequirement,
  MemberFacts,
  Proposal,
} from "./rules.ts";

/** A credit with the firm that holds it or will receive it. */
type HeldCredit = Omit<GroupCredit, "is_movable"> & { readonly state: CreditState };

export type HoldingsRow = {
  /** Newest firm first. */
  readonly firms: readonly MemberFacts[];
  /** Listed credits, and those that a deal brings to a member; no expired ones. */
  readonly credits: readonly HeldCredit[];
  /** Due today or later. */
  readonly requirements: readonly GroupRequirement[];
};

type GroupOfDesk = { readonly deskId: string; readonly groupId: string };

type HoldingsLimits = {
  readonly today: IstDay;
  readonly creditsMax: number;
  readonly requirementsMax: number;
};

/**
 * The holdings of a group, in one statement and so in one snapshot; of credits and requirements at
 * most one more than the limit. Undefined when there is no such group.
 */
export function findHoldings(
  { deskId, groupId }: GroupOfDesk,
  { today, creditsMax, requirementsMax }: HoldingsLimits,
): Query<HoldingsRow | undefined> {
  return query<HoldingsRow>(sql`
    with members as (
      select firm_id, pan, connection_state, mandate, created_at
      from firms
      where desk_id = ${deskId} and group_id = ${groupId}
    ),
    coming as (
      select c.buyer_firm_id as firm_id, c.environment, unnest(c.scrip_nos) as scrip_no
      from crosses as c
      where c.buyer_firm_id in (select firm_id from members) and c.state in ('agreed', 'funded')
      union all
      select s.buyer_firm_id, s.environment, l.scrip_no
      from settlements as s
      join settlement_legs as l on l.settlement_id = s.settlement_id
      where s.buyer_firm_id in (select firm_id from members) and s.due_at is not null
        and s.buyer_firm_id not in (
          'frm_00000000000000000000000001', 'frm_00000000000000000000000002'
        )
        and l.awaited
    ),
    held as (
      select scrip_no, firm_id, scheme, face_paise, expires_on, state
      from credits
      where firm_id in (select firm_id from members)
        and state = 'listed' and expires_on >= ${today}::date
      union all
      select c.scrip_no, coming.firm_id, c.scheme, c.face_paise, c.expires_on, c.state
      from coming
      cross join lateral (
        select scrip_no, scheme, face_paise, expires_on, state
        from credits as found
        where found.environment = coming.environment and found.scrip_no = coming.scrip_no
          and found.standing = 'live' and found.state in ('reserved', 'in_settlement')
          and found.expires_on >= ${today}::date
        limit 1
      ) as c
      limit ${creditsMax + 1}
    ),
    owed as (
      select requirement_id, firm_id, scheme, amount_paise, due_on, version
      from requirements
      where firm_id in (select firm_id from members) and due_on >= ${today}::date
      limit ${requirementsMax + 1}
    )
    select
      coalesce(
        (
          select json_agg(
            json_build_object(
              'firm_id', firm_id, 'pan', pan, 'connection_state', connection_state,
              'mandate', mandate
            )
            order by created_at desc, firm_id desc
          )
          from members
        ),
        '[]'
      ) as firms,
      coalesce((select json_agg(h) from held as h), '[]') as credits,
      coalesce((select json_agg(o) from owed as o), '[]') as requirements
    from groups
    where desk_id = ${deskId} and group_id = ${groupId}`).map(([row]) => row);
}

/** A stored proposal, with its requirement and the version of it. */
type ProposalRow = Proposal & {
  readonly requirement_id: string;
  readonly requirement_version: number;
};

export type RunRow = {
  readonly netting_ref: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly group_id: string;
  readonly key_id: string;
  readonly proposals: readonly ProposalRow[];
  readonly created_at: Date;
  readonly valid_until: Date;
  readonly crossed_at: Date | null;
};

export async function insertRun(db: Db, row: RunRow): Promise<void> {
  await db.rows(sql`
    insert into netting_runs (
      netting_ref, environment, desk_id, group_id, key_id, proposals, created_at, valid_until
    )
    values (
      ${row.netting_ref}, ${row.environment}, ${row.desk_id}, ${row.group_id}, ${row.key_id},
      ${exactJson(row.proposals)}::jsonb, ${row.created_at}, ${row.valid_until}
    )`);
}

export async function lockRun(
  tx: Tx,
  { deskId, groupId }: GroupOfDesk,
  nettingRef: string,
): Promise<RunRow | undefined> {
  const [row] = await tx.rows<RunRow>(sql`
    select
      netting_ref, environment, desk_id, group_id, key_id, proposals, created_at, valid_until,
      crossed_at
    from netting_runs
    where desk_id = ${deskId} and group_id = ${groupId} and netting_ref = ${nettingRef}
    for update`);
  return row;
}

export async function setCrossed(
  tx: Tx,
  deskId: string,
  { nettingRef, now }: { readonly nettingRef: string; readonly now: Date },
): Promise<void> {
  await tx.rows(sql`
    update netting_runs
    set crossed_at = ${now}
    where desk_id = ${deskId} and netting_ref = ${nettingRef}`);
}

/** The members of a group with their IECs. */
export async function listMembers(
  tx: Tx,
  { deskId, groupId }: GroupOfDesk,
): Promise<{ readonly firm_id: string; readonly iec: string | null }[]> {
  return await tx.rows(sql`
    select firm_id, iec
    from firms
    where desk_id = ${deskId} and group_id = ${groupId}`);
}

/** Locks requirements FOR SHARE until the transaction ends. */
export async function lockRequirementsForShare(
  tx: Tx,
  deskId: string,
  requirementIds: readonly string[],
): Promise<{ readonly requirement_id: string; readonly version: number }[]> {
  return await tx.rows(sql`
    select requirement_id, version
    from requirements
    where desk_id = ${deskId} and requirement_id = any(${requirementIds}::text[])
    order by requirement_id
    for share`);
}

/** A cross that came from a netting. */
type NettedCrossRow = {
  readonly cross_id: string;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly scheme: Scheme;
  readonly scrip_nos: readonly string[];
  readonly face_paise: number;
  readonly price_bps: number;
  readonly buyer_paise: number;
  readonly state: CrossState;
  readonly version: number;
};

export async function listCrosses(
  db: Db,
  deskId: string,
  nettingRef: string,
): Promise<NettedCrossRow[]> {
  return await db.rows(sql`
    select
      cross_id, seller_firm_id, buyer_firm_id, scheme, scrip_nos, face_paise, price_bps,
      buyer_paise, state, version
    from crosses
    where netting_ref = ${nettingRef} and seller_desk_id = ${deskId} and buyer_desk_id = ${deskId}
    order by seller_firm_id, buyer_firm_id, scheme`);
}
