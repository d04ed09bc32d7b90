import type { Environment } from "../kernel/caller.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { CrossKind, CrossState, Step } from "./rules.ts";

export type CrossRow = {
  readonly cross_id: string;
  readonly environment: Environment;
  readonly kind: CrossKind;
  readonly scheme: Scheme;
  readonly face_paise: number;
  readonly price_bps: number;
  readonly fee_bps: number;
  readonly seller_paise: number;
  readonly buyer_paise: number;
  readonly proposed_by: Side;
  /** Whose limits counted it as it was proposed; null where nobody noted it. */
  readonly proposing_key_id: string | null;
  readonly seller_iec: string;
  readonly seller_desk_id: string | null;
  readonly seller_firm_id: string | null;
  readonly buyer_iec: string;
  readonly buyer_desk_id: string | null;
  readonly buyer_firm_id: string | null;
  readonly awaited_iec: string | null;
  readonly names_credits: boolean;
  readonly scrip_nos: readonly string[];
  readonly terms_hash: string;
  readonly state: CrossState;
  readonly reason: string | null;
  readonly payment_ref: string | null;
  readonly settlement_id: string | null;
  readonly netting_ref: string | null;
  readonly due_at: Date | null;
  readonly history: readonly Step[];
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const crossColumns = fragment`
  c.cross_id, c.environment, c.kind, c.scheme, c.face_paise, c.price_bps, c.fee_bps, c.seller_paise,
  c.buyer_paise, c.proposed_by, c.proposing_key_id, c.seller_iec, c.seller_desk_id,
  c.seller_firm_id, c.buyer_iec, c.buyer_desk_id, c.buyer_firm_id, c.awaited_iec, c.names_credits,
  c.scrip_nos, c.terms_hash, c.state, c.reason, c.payment_ref, c.settlement_id, c.netting_ref,
  c.due_at, c.history, c.version, c.created_at, c.updated_at`;

/** Arrays within arrays do not pass as one array, so the numbers of each row travel as JSON. */
export async function insertCrosses(tx: Tx, rows: readonly CrossRow[]): Promise<void> {
  await tx.rows(sql`
    insert into crosses (
      cross_id, environment, kind, scheme, face_paise, price_bps, fee_bps, seller_paise, buyer_paise,
      proposed_by, proposing_key_id, seller_iec, seller_desk_id, seller_firm_id, buyer_iec,
      buyer_desk_id, buyer_firm_id, awaited_iec, names_credits, scrip_nos, terms_hash, state, reason,
      payment_ref, settlement_id, netting_ref, due_at, history, version, created_at, updated_at
    )
    select
      cross_id, environment, kind, scheme, face_paise, price_bps, fee_bps, seller_paise, buyer_paise,
      proposed_by, proposing_key_id, seller_iec, seller_desk_id, seller_firm_id, buyer_iec,
      buyer_desk_id, buyer_firm_id, awaited_iec, names_credits,
      array(select jsonb_array_elements_text(scrip_nos)), terms_hash, state, reason, payment_ref,
      settlement_id, netting_ref, due_at, history, version, created_at, updated_at
    from unnest(
      ${rows.map((row) => row.cross_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.price_bps)}::int[],
      ${rows.map((row) => row.fee_bps)}::int[],
      ${rows.map((row) => row.seller_paise)}::bigint[],
      ${rows.map((row) => row.buyer_paise)}::bigint[],
      ${rows.map((row) => row.proposed_by)}::text[],
      ${rows.map((row) => row.proposing_key_id)}::text[],
      ${rows.map((row) => row.seller_iec)}::text[],
      ${rows.map((row) => row.seller_desk_id)}::text[],
      ${rows.map((row) => row.seller_firm_id)}::text[],
      ${rows.map((row) => row.buyer_iec)}::text[],
      ${rows.map((row) => row.buyer_desk_id)}::text[],
      ${rows.map((row) => row.buyer_firm_id)}::text[],
      ${rows.map((row) => row.awaited_iec)}::text[],
      ${rows.map((row) => row.names_credits)}::boolean[],
      ${rows.map((row) => JSON.stringify(row.scrip_nos))}::jsonb[],
      ${rows.map((row) => row.terms_hash)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.payment_ref)}::text[],
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.netting_ref)}::text[],
      ${rows.map((row) => row.due_at)}::timestamptz[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.created_at)}::timestamptz[],
      ${rows.map((row) => row.updated_at)}::timestamptz[]
    ) as r (
      cross_id, environment, kind, scheme, face_paise, price_bps, fee_bps, seller_paise, buyer_paise,
      proposed_by, proposing_key_id, seller_iec, seller_desk_id, seller_firm_id, buyer_iec,
      buyer_desk_id, buyer_firm_id, awaited_iec, names_credits, scrip_nos, terms_hash, state, reason,
      payment_ref, settlement_id, netting_ref, due_at, history, version, created_at, updated_at
    )`);
}

/** What becomes of crosses, each of which was locked; their terms stay. */
export async function setCrosses(tx: Tx, rows: readonly CrossRow[]): Promise<void> {
  await tx.rows(sql`
    update crosses as c
    set seller_desk_id = r.seller_desk_id, seller_firm_id = r.seller_firm_id,
      buyer_desk_id = r.buyer_desk_id, buyer_firm_id = r.buyer_firm_id,
      awaited_iec = r.awaited_iec, scrip_nos = array(select jsonb_array_elements_text(r.scrip_nos)),
      state = r.state, reason = r.reason, payment_ref = r.payment_ref,
      settlement_id = r.settlement_id, due_at = r.due_at, history = r.history,
      version = r.version, updated_at = r.updated_at
    from unnest(
      ${rows.map((row) => row.cross_id)}::text[],
      ${rows.map((row) => row.seller_desk_id)}::text[],
      ${rows.map((row) => row.seller_firm_id)}::text[],
      ${rows.map((row) => row.buyer_desk_id)}::text[],
      ${rows.map((row) => row.buyer_firm_id)}::text[],
      ${rows.map((row) => row.awaited_iec)}::text[],
      ${rows.map((row) => JSON.stringify(row.scrip_nos))}::jsonb[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.payment_ref)}::text[],
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.due_at)}::timestamptz[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.updated_at)}::timestamptz[]
    ) as r (
      cross_id, seller_desk_id, seller_firm_id, buyer_desk_id, buyer_firm_id, awaited_iec, scrip_nos,
      state, reason, payment_ref, settlement_id, due_at, history, version, updated_at
    )
    where c.cross_id = r.cross_id`);
}

export async function lockCrosses(tx: Tx, crossIds: readonly string[]): Promise<CrossRow[]> {
  return await tx.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.cross_id = any(${crossIds}::text[])
    order by c.cross_id
    for update`);
}

/** Those whose settlements these are. */
export async function lockBySettlements(
  tx: Tx,
  settlementIds: readonly string[],
): Promise<CrossRow[]> {
  return await tx.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.settlement_id = any(${settlementIds}::text[])
    order by c.cross_id
    for update`);
}

/** Those that have reserved one of these credits. */
export async function listByCredits(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ cross_id: string }>(sql`
    select cross_id
    from crosses
    where environment = ${environment} and state in ('agreed', 'funded')
      and scrip_nos && ${scripNos}::text[]
    order by cross_id`);
  return rows.map((row) => row.cross_id);
}

/** Those whose time is up; two workers never take the same one. */
export async function claimOverdue(
  tx: Tx,
  {
    environment,
    bankIsUp,
    now,
    limit,
    only,
    except,
  }: Choice & {
    readonly environment: Environment;
    /** While it is away, nobody who waits for it is late. */
    readonly bankIsUp: boolean;
    readonly now: Date;
    readonly limit: number;
  },
): Promise<CrossRow[]> {
  return await tx.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.environment = ${environment} and c.state in ('proposed', 'agreed', 'funded')
      and c.due_at <= ${now}
      and (${bankIsUp} or c.state <> 'agreed' or c.payment_ref is null)
      and (${only}::text[] is null or c.cross_id = any(${only}::text[]))
      and c.cross_id <> all(${except}::text[])
    order by c.due_at
    limit ${limit}
    for update skip locked`);
}

/** What a desk has open that concerns nobody else: its proposals, and deals among its own firms. */
export async function lockOpenWithin(tx: Tx, deskId: string): Promise<CrossRow[]> {
  return await tx.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.due_at is not null
      and (c.seller_desk_id = ${deskId} or c.seller_desk_id is null)
      and (c.buyer_desk_id = ${deskId} or c.buyer_desk_id is null)
    order by c.cross_id
    for update`);
}

/** A worker that holds crosses and waits for a credit gives way to whoever has it. */
export async function yieldToCallers(tx: Tx): Promise<void> {
  await tx.rows(sql`set local lock_timeout = '250ms'`);
}

export type AddressedFirm = {
  readonly firm_id: string;
  readonly desk_id: string;
  readonly environment: Environment;
  readonly iec: string;
  readonly authorized_at: Date;
};

/** The firms that have one of these IECs and may deal, on whichever desks they are. */
export async function listAddressed(
  db: Db,
  environment: Environment,
  iecs: readonly string[],
): Promise<AddressedFirm[]> {
  return await db.rows(sql`
    select f.firm_id, f.desk_id, f.environment, f.iec, f.authorized_at
    from (select distinct unnest(${iecs}::text[]) as iec) as asked
    cross join lateral (
      select firm_id, desk_id, environment, iec, authorized_at
      from firms as found
      where found.environment = ${environment} and found.iec = asked.iec
        and found.connection_state = 'authorized'
      offset 0
    ) as f
    order by f.firm_id`);
}

/** What is open has less time left. Each was locked before. */
export async function bringCrossesNearer(
  tx: Tx,
  crossIds: readonly string[],
  { seconds, now }: Passage,
): Promise<void> {
  await tx.rows(sql`
    update crosses
    set due_at = due_at - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where cross_id = any(${crossIds}::text[])`);
}
