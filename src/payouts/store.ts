import type { Environment } from "../kernel/caller.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { PayoutKind, PayoutState, PayoutStep, Rail } from "./rules.ts";

export type PayoutRow = {
  readonly payout_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly kind: PayoutKind;
  /** Null for a withdrawal. */
  readonly settlement_id: string | null;
  readonly resend_of: string | null;
  readonly paise: number;
  readonly rail: Rail;
  readonly ifsc: string | null;
  readonly last4: string | null;
  readonly state: PayoutState;
  readonly reason: string | null;
  readonly held_until: Date | null;
  readonly utr: string | null;
  /** The first of those that leave as one remittance; itself when it leaves alone. */
  readonly remitted_with: string | null;
  readonly remitted_paise: number | null;
  readonly look_at: Date | null;
  readonly history: readonly PayoutStep[];
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export type PayoutLineRow = {
  readonly payout_id: string;
  readonly order_id: string;
  readonly scrip_no: string;
  readonly paise: number;
};

const payoutColumns = fragment`
  payout_id, environment, desk_id, firm_id, kind, settlement_id, resend_of, paise, rail, ifsc, last4,
  state, reason, held_until, utr, remitted_with, remitted_paise, look_at, history, version, created_at, updated_at`;

export async function insertPayouts(tx: Tx, rows: readonly PayoutRow[]): Promise<void> {
  await tx.rows(sql`
    insert into payouts (
      payout_id, environment, desk_id, firm_id, kind, settlement_id, resend_of, paise, rail, ifsc,
      last4, state, reason, held_until, look_at, history, version, created_at, updated_at
    )
    select *
    from unnest(
      ${rows.map((row) => row.payout_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.resend_of)}::text[],
      ${rows.map((row) => row.paise)}::bigint[],
      ${rows.map((row) => row.rail)}::text[],
      ${rows.map((row) => row.ifsc)}::text[],
      ${rows.map((row) => row.last4)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.held_until)}::timestamptz[],
      ${rows.map((row) => row.look_at)}::timestamptz[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.created_at)}::timestamptz[],
      ${rows.map((row) => row.updated_at)}::timestamptz[]
    )`);
}

export async function insertLines(tx: Tx, rows: readonly PayoutLineRow[]): Promise<void> {
  await tx.rows(sql`
    insert into payout_lines (payout_id, order_id, scrip_no, paise)
    select *
    from unnest(
      ${rows.map((row) => row.payout_id)}::text[],
      ${rows.map((row) => row.order_id)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.paise)}::bigint[]
    )`);
}

/** Whether there is a payout to look at; usually there is none. */
export async function hasUnsent(db: Db, now: Date): Promise<boolean> {
  const rows = await db.rows(sql`
    select
    from payouts
    where look_at <= ${now}
    limit 1`);
  return rows.length > 0;
}

/** What has not been sent and is to be looked at; two workers never take the same one. */
export async function claimUnsent(
  tx: Tx,
  now: Date,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<PayoutRow[]> {
  return await tx.rows(sql`
    select ${payoutColumns}
    from payouts
    where look_at <= ${now}
      and (${only}::text[] is null or payout_id = any(${only}::text[]))
      and payout_id <> all(${except}::text[])
    order by look_at
    limit ${limit}
    for update skip locked`);
}

export async function lockPayouts(tx: Tx, payoutIds: readonly string[]): Promise<PayoutRow[]> {
  return await tx.rows(sql`
    select ${payoutColumns}
    from payouts
    where payout_id = any(${payoutIds}::text[])
    order by payout_id
    for update`);
}

/** What is due and not held, the oldest first. */
export async function listScheduled(
  db: Db,
  environment: Environment,
  limit: number,
): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where environment = ${environment} and state = 'scheduled' and look_at is not null
    order by payout_id
    limit ${limit}`);
}

/** Locks all that left with these; by an order that no index has, so that none is walked for it. */
export async function lockRemitted(tx: Tx, leadIds: readonly string[]): Promise<PayoutRow[]> {
  return await tx.rows(sql`
    select ${payoutColumns}
    from payouts
    where (payout_id = any(${leadIds}::text[]) and remitted_with = payout_id)
      or (remitted_with = any(${leadIds}::text[]) and remitted_with <> payout_id)
    order by payout_id || ''
    for update`);
}

/** The first payouts of remittances that left under these references of the bank. */
export async function listByUtr(
  db: Db,
  environment: Environment,
  utrs: readonly string[],
): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where environment = ${environment} and rail = any(array['RTGS', 'NEFT', 'IMPS'])
      and utr = any(${utrs}::text[]) and remitted_with = payout_id`);
}

/**
 * Locks the first payouts of a settlement, which every later one is a resend of. Whoever adds to the
 * chain or needs all of it takes this lock first: a lock on the last row lets the next one slip in.
 */
export async function lockPayoutChain(tx: Tx, settlementId: string): Promise<void> {
  await tx.rows(sql`
    select
    from payouts
    where settlement_id = ${settlementId} and resend_of is null
    order by payout_id
    for update`);
}

export async function lockPayoutsOf(tx: Tx, settlementId: string): Promise<PayoutRow[]> {
  return await tx.rows(sql`
    select ${payoutColumns}
    from payouts
    where settlement_id = ${settlementId}
    order by payout_id
    for update`);
}

export async function listPayoutsOf(db: Db, settlementId: string): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where settlement_id = ${settlementId}
    order by payout_id`);
}

export async function listPayoutsById(db: Db, payoutIds: readonly string[]): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where payout_id = any(${payoutIds}::text[])`);
}

/** Each was locked before. */
export async function setPayouts(tx: Tx, rows: readonly PayoutRow[]): Promise<void> {
  await tx.rows(sql`
    update payouts as p
    set rail = r.rail, ifsc = r.ifsc, last4 = r.last4, state = r.state, reason = r.reason,
      held_until = r.held_until, utr = r.utr, remitted_with = r.remitted_with,
      remitted_paise = r.remitted_paise, look_at = r.look_at, history = r.history,
      version = r.version, updated_at = r.updated_at
    from unnest(
      ${rows.map((row) => row.payout_id)}::text[],
      ${rows.map((row) => row.rail)}::text[],
      ${rows.map((row) => row.ifsc)}::text[],
      ${rows.map((row) => row.last4)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.held_until)}::timestamptz[],
      ${rows.map((row) => row.utr)}::text[],
      ${rows.map((row) => row.remitted_with)}::text[],
      ${rows.map((row) => row.remitted_paise)}::bigint[],
      ${rows.map((row) => row.look_at)}::timestamptz[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.updated_at)}::timestamptz[]
    ) as r (
      payout_id, rail, ifsc, last4, state, reason, held_until, utr, remitted_with, remitted_paise,
      look_at, history, version, updated_at
    )
    where p.payout_id = r.payout_id`);
}

export async function listLines(db: Db, payoutIds: readonly string[]): Promise<PayoutLineRow[]> {
  return await db.rows(sql`
    select payout_id, order_id, scrip_no, paise
    from payout_lines
    where payout_id = any(${payoutIds}::text[])
    order by payout_id, scrip_no`);
}

export async function findPayout(
  db: Db,
  { deskId, firmId }: Visibility,
  payoutId: string,
): Promise<PayoutRow | undefined> {
  const [row] = await db.rows<PayoutRow>(sql`
    select ${payoutColumns}
    from payouts
    where payout_id = ${payoutId} and desk_id = ${deskId}
      and (${firmId}::text is null or firm_id = ${firmId})`);
  return row;
}

export type PayoutFilter = {
  readonly status: string | null;
  readonly kind: string | null;
  readonly firmId: string | null;
  readonly orderId: string | null;
  readonly settlementId: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

/** Newest first. */
export async function listPayoutRows(
  db: Db,
  deskId: string,
  filter: PayoutFilter,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where desk_id = ${deskId}
      and (created_at, payout_id) < (
        coalesce(${after?.at ?? null}::timestamptz, 'infinity'), ${after?.id ?? ""}
      )
      and (${filter.status}::text is null or state = ${filter.status})
      and (${filter.kind}::text is null or kind = ${filter.kind})
      and (${filter.firmId}::text is null or firm_id = ${filter.firmId})
      and (${filter.settlementId}::text is null or settlement_id = ${filter.settlementId})
      and (${filter.from}::timestamptz is null or created_at >= ${filter.from})
      and (${filter.to}::timestamptz is null or created_at < ${filter.to})
      and (
        ${filter.orderId}::text is null
        or payout_id = any(array(
          select payout_id
          from payout_lines
          where order_id = ${filter.orderId}
        ))
      )
    order by created_at desc, payout_id desc
    limit ${fetch}`);
}

export async function countPayouts(db: Db, deskId: string, filter: PayoutFilter): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from payouts
    where desk_id = ${deskId}
      and (${filter.status}::text is null or state = ${filter.status})
      and (${filter.kind}::text is null or kind = ${filter.kind})
      and (${filter.firmId}::text is null or firm_id = ${filter.firmId})
      and (${filter.settlementId}::text is null or settlement_id = ${filter.settlementId})
      and (${filter.from}::timestamptz is null or created_at >= ${filter.from})
      and (${filter.to}::timestamptz is null or created_at < ${filter.to})
      and (
        ${filter.orderId}::text is null
        or payout_id = any(array(
          select payout_id
          from payout_lines
          where order_id = ${filter.orderId}
        ))
      )`);
  return row?.total ?? 0;
}

/** What keeps a firm from leaving. */
export async function listUnfinished(
  db: Db,
  deskId: string,
  firmId: string,
): Promise<Pick<PayoutRow, "payout_id" | "paise">[]> {
  return await db.rows(sql`
    select payout_id, paise
    from payouts
    where firm_id = ${firmId} and desk_id = ${deskId} and state in ('scheduled', 'held', 'instructed', 'sent')
    order by payout_id`);
}

/** The last withdrawal of a firm, whatever became of it. */
export async function findLastWithdrawal(
  db: Db,
  deskId: string,
  firmId: string,
): Promise<Pick<PayoutRow, "state" | "ifsc" | "last4"> | undefined> {
  const [row] = await db.rows<Pick<PayoutRow, "state" | "ifsc" | "last4">>(sql`
    select state, ifsc, last4
    from payouts
    where firm_id = ${firmId} and kind = 'withdrawal'
      and desk_id = ${deskId}
    order by created_at desc, payout_id desc
    limit 1`);
  return row;
}

/** For the operator, who sees every desk. */
export async function listAllPayoutRows(
  db: Db,
  filter: {
    readonly environment: Environment | null;
    readonly status: string | null;
    readonly payoutId: string | null;
  },
  limit: number,
): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where (${filter.environment}::text is null or environment = ${filter.environment})
      and (${filter.status}::text is null or state = ${filter.status})
      and (${filter.payoutId}::text is null or payout_id = ${filter.payoutId})
    order by created_at desc, payout_id desc
    limit ${limit}`);
}

/** What is held of a desk is held less long; how many there are. */
export async function bringPayoutsNearer(
  tx: Tx,
  { environment, deskId, seconds, now }: Passage,
): Promise<number> {
  const rows = await tx.rows(sql`
    update payouts
    set look_at = look_at - make_interval(secs => ${seconds}),
      held_until = held_until - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where environment = ${environment} and desk_id = ${deskId} and look_at is not null
    returning payout_id`);
  return rows.length;
}
