import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type Db, sql, type Tx } from "../platform/postgres.ts";
import type { LegState, SettlementState } from "./rules.ts";

/** One credit that changed hands, as the market is told of it. */
export type DealRow = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly dealt_at: Date;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly buyer_bps: number;
  readonly state: LegState;
};

/** The tape, oldest first: from the first instant, up to and without the second. */
export async function listDeals(
  db: Db,
  {
    environment,
    scheme,
    from,
    to,
  }: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<DealRow[]> {
  return await db.rows(sql`
    select legs.settlement_id, legs.scrip_no, legs.dealt_at, legs.seller_firm_id,
      settlements.buyer_firm_id, legs.face_paise, legs.seller_bps, legs.buyer_bps, legs.state
    from settlement_legs as legs
    join settlements using (settlement_id)
    where legs.environment = ${environment} and legs.scheme = ${scheme}
      and legs.dealt_at >= ${from} and legs.dealt_at < ${to}
    order by legs.dealt_at, legs.settlement_id, legs.scrip_no`);
}

/** When the tape begins; undefined while it is empty. */
export async function findFirstDealAt(
  db: Db,
  { environment, scheme }: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  const [row] = await db.rows<{ dealt_at: Date }>(sql`
    select dealt_at
    from settlement_legs
    where environment = ${environment} and scheme = ${scheme}
    order by dealt_at
    limit 1`);
  return row?.dealt_at;
}

export type SettlementRow = {
  readonly settlement_id: string;
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly origin: string;
  readonly buyer_desk_id: string;
  readonly buyer_firm_id: string;
  readonly buyer_order_id: string | null;
  readonly state: SettlementState;
  readonly reason: string | null;
  readonly face_paise: number;
  readonly buyer_paise: number;
  readonly due_at: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export type LegRow = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly ordinal: number;
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly dealt_at: Date;
  readonly seller_desk_id: string;
  readonly seller_firm_id: string;
  readonly seller_order_id: string | null;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly buyer_bps: number;
  readonly seller_paise: number;
  readonly buyer_paise: number;
  readonly state: LegState;
  readonly reason: string | null;
};

export async function insertSettlements(tx: Tx, rows: readonly SettlementRow[]): Promise<void> {
  await tx.rows(sql`
    insert into settlements (
      settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, buyer_order_id,
      state, face_paise, buyer_paise, due_at, version, created_at, updated_at
    )
    select
      settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, buyer_order_id,
      state, face_paise, buyer_paise, due_at, 1, created_at, created_at
    from unnest(
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.origin)}::text[],
      ${rows.map((row) => row.buyer_desk_id)}::text[],
      ${rows.map((row) => row.buyer_firm_id)}::text[],
      ${rows.map((row) => row.buyer_order_id)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.buyer_paise)}::bigint[],
      ${rows.map((row) => row.due_at)}::timestamptz[],
      ${rows.map((row) => row.created_at)}::timestamptz[]
    ) as r (
      settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, buyer_order_id,
      state, face_paise, buyer_paise, due_at, created_at
    )`);
}

export async function insertLegs(tx: Tx, rows: readonly LegRow[]): Promise<void> {
  await tx.rows(sql`
    insert into settlement_legs (
      settlement_id, scrip_no, ordinal, environment, scheme, dealt_at, seller_desk_id,
      seller_firm_id, seller_order_id, face_paise, seller_bps, buyer_bps, seller_paise, buyer_paise,
      state
    )
    select *
    from unnest(
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.ordinal)}::int[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.dealt_at)}::timestamptz[],
      ${rows.map((row) => row.seller_desk_id)}::text[],
      ${rows.map((row) => row.seller_firm_id)}::text[],
      ${rows.map((row) => row.seller_order_id)}::text[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.seller_bps)}::int[],
      ${rows.map((row) => row.buyer_bps)}::int[],
      ${rows.map((row) => row.seller_paise)}::bigint[],
      ${rows.map((row) => row.buyer_paise)}::bigint[],
      ${rows.map((row) => row.state)}::text[]
    )`);
}

export async function listStates(
  db: Db,
  settlementIds: readonly string[],
): Promise<Pick<SettlementRow, "settlement_id" | "state">[]> {
  return await db.rows(sql`
    select settlement_id, state
    from settlements
    where settlement_id = any(${settlementIds}::text[])`);
}
