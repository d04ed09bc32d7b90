import { Type } from "typebox";

import type { Environment } from "../kernel/caller.ts";
import { firstId } from "../kernel/ids.ts";
import type { StoredSteps } from "../kernel/lifecycle.ts";
import type { OriginKind } from "../kernel/scheme.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { command, type Db, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import { closedEnum, idFilter } from "../platform/http/wire.ts";
import { between, equals, list, meets, ofFirm } from "../platform/postgres/list.ts";
import {
  type PayoutKind,
  payoutKinds,
  type PayoutState,
  payoutStates,
  type Rail,
} from "./rules.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, int, json, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";

const payouts = table("payouts", {
  payout_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  kind: text<PayoutKind>(),
  /** Null for a withdrawal. */
  settlement_id: text().orNull,
  resend_of: text().orNull,
  paise: bigint(),
  /** What of its lines was set off from the firm's dues. */
  set_off_paise: bigint(),
  rail: text<Rail>(),
  ifsc: text().orNull,
  last4: text().orNull,
  /** The account that it left to, which the bank has confirmed; null until then. */
  account_id: text().orNull,
  state: text<PayoutState>(),
  reason: text().orNull,
  held_until: time().orNull,
  utr: text().orNull,
  /** The lead payout of its remittance; itself when it leaves alone. */
  remitted_with: text().orNull,
  remitted_paise: bigint().orNull,
  look_at: time().orNull,
  history: json<StoredSteps<PayoutState>>(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type PayoutRow = RowOf<typeof payouts>;

const payoutLines = table("payout_lines", {
  payout_id: text(),
  /** The order or cross that sold the credit. */
  order_id: text(),
  origin_kind: text<OriginKind>(),
  scrip_no: text(),
  paise: bigint(),
});
export type PayoutLineRow = RowOf<typeof payoutLines>;

export const payoutColumns = payouts.columns;

export const {
  list: listPayoutsById,
  lock: lockPayouts,
  set: setPayouts,
  setLater: setPayoutsLater,
} = rowsBy(payouts, {
  key: ["payout_id"],
  set: [
    "rail",
    "ifsc",
    "last4",
    "account_id",
    "state",
    "reason",
    "held_until",
    "utr",
    "remitted_with",
    "remitted_paise",
    "look_at",
    "history",
    "version",
    "updated_at",
  ],
});

export const { list: listLines } = rowsBy(payoutLines, { key: ["payout_id", "scrip_no"] });

export function insertLines(lines: readonly PayoutLineRow[]): Query<void> {
  return command(sql`insert into payout_lines ${payoutLines.values(payoutLines.all, lines)}`);
}

export function insertPayouts(rows: readonly PayoutRow[]): Query<void> {
  const unsent = { utr: null, account_id: null, remitted_with: null, remitted_paise: null };
  return command(sql`
    insert into payouts ${payouts.values(payouts.all, rows, unsent)}`);
}

/** Asked before a transaction is opened: usually no review is due. */
export async function hasUnsent(db: Db, now: Date): Promise<boolean> {
  const rows = await db.rows(sql`
    select
    from payouts
    where look_at <= ${now}
    limit 1`);
  return rows.length > 0;
}

/** Claims unsent payouts whose review is due; two workers never take the same one. */
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

/** Payouts that have not left, with or without holds, oldest first. */
export async function listWaiting(
  db: Db,
  { environment, state }: { environment: Environment; state: "scheduled" | "held" },
  limit: number,
): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where environment = ${environment} and queued_as = ${state}
    order by payout_id
    limit ${limit}`);
}

/** What left in live, before accounts had ids, to an account that the bank has not confirmed. */
export async function listToUnconfirmed(db: Db, limit: number): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where former_account = 'unconfirmed' and state in ('instructed', 'sent', 'paid')
    order by payout_id
    limit ${limit}`);
}

/** Locks all payouts of these remittances. No index has this order, so the planner cannot walk one. */
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
      and lead_utr = any(${utrs}::text[])`);
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

export async function lockPayoutsBySettlement(tx: Tx, settlementId: string): Promise<PayoutRow[]> {
  return await tx.rows(sql`
    select ${payoutColumns}
    from payouts
    where settlement_id = ${settlementId}
    order by payout_id
    for update`);
}

export async function listPayoutsBySettlement(db: Db, settlementId: string): Promise<PayoutRow[]> {
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where settlement_id = ${settlementId}
    order by payout_id`);
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

export const payoutList = list(payouts, {
  name: "payouts",
  within: ["desk_id", "firm_id"],
  newestFirst: ["created_at", "payout_id"],
  filters: {
    status: equals(
      "state",
      Type.Optional(closedEnum(payoutStates, { description: "Only those in this state." })),
    ),
    kind: equals(
      "kind",
      Type.Optional(closedEnum(payoutKinds, { description: "Only those of this kind." })),
    ),
    firm_id: ofFirm(idFilter("Only those of this firm.")),
    order_id: meets(
      (id) => `payout_id = any(array(select payout_id from payout_lines where order_id = ${id}))`,
      idFilter("Only those of this order."),
    ),
    settlement_id: equals("settlement_id", idFilter("Only those of this settlement.")),
    ...between("created_at", "scheduled"),
  },
});

/**
 * The unfinished payouts of a firm, which keep it from leaving. Those of a remittance that is with the
 * bank are found by its lead.
 */
export async function listUnfinished(
  db: Db,
  deskId: string,
  firmId: string,
): Promise<Pick<PayoutRow, "payout_id" | "paise">[]> {
  return await db.rows(sql`
    with queued as (
      select payout_id, paise
      from payouts
      where firm_id = ${firmId} and desk_id = ${deskId}
        and queued_as in ('scheduled', 'held', 'instructed', 'sent')
    )
    select payout_id, paise
    from queued
    union all
    select m.payout_id, m.paise
    from queued as lead
    cross join lateral (
      select payout_id, paise
      from payouts as found
      where found.remitted_with = lead.payout_id and found.remitted_with <> found.payout_id
      offset 0
    ) as m
    order by payout_id`);
}

/** What a firm has asked for since, what came back included; a payout's id tells when it was made. */
export async function sumWithdrawn(
  db: Db,
  { deskId, firmId, since }: { readonly deskId: string; readonly firmId: string; since: Date },
): Promise<number> {
  const [row] = await db.rows<{ paise: number }>(sql`
    select least(coalesce(sum(paise), 0), 4503599627370496)::bigint as paise
    from payouts
    where firm_id = ${firmId} and payout_id >= ${firstId("pay", since)} and kind = 'withdrawal'
      and desk_id = ${deskId} and created_at > ${since}`);
  return row?.paise ?? 0;
}

/** The last withdrawal of a firm, in any state. */
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

/**
 * For the operator, who sees every desk. The newest have the largest ids. Payouts that are with the bank
 * are found by the leads of their remittances.
 */
export async function listAllPayoutRows(
  db: Db,
  filter: {
    readonly environment: Environment | null;
    readonly status: PayoutState | null;
    readonly firmId: string | null;
    readonly settlementId: string | null;
    readonly fromId: string | null;
    readonly toId: string | null;
  },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<PayoutRow[]> {
  const withBank = filter.status === "instructed" || filter.status === "sent";
  const queuedAs = withBank || filter.status === "paid" ? null : filter.status;
  const remittedAs = withBank ? filter.status : null;
  return await db.rows(sql`
    select ${payoutColumns}
    from payouts
    where (${after?.id ?? null}::text is null or payout_id < ${after?.id ?? null})
      and (${filter.environment}::text is null or environment = ${filter.environment})
      and (${filter.status}::text is null or state = ${filter.status})
      and (${queuedAs}::text is null or queued_as = ${queuedAs})
      and (
        ${remittedAs}::text is null
        or payout_id = any(array(
          select remitted.payout_id
          from payouts as lead
          cross join lateral (
            select lead.payout_id
            union all
            select payout_id
            from payouts as found
            where found.remitted_with = lead.payout_id and found.remitted_with <> found.payout_id
          ) as remitted
          where lead.environment in ('live', 'sandbox') and lead.queued_as = ${remittedAs}
        ))
      )
      and (${filter.firmId}::text is null or firm_id = ${filter.firmId})
      and (${filter.settlementId}::text is null or settlement_id = ${filter.settlementId})
      and (${filter.fromId}::text is null or payout_id >= ${filter.fromId})
      and (${filter.toId}::text is null or payout_id < ${filter.toId})
    order by payout_id desc
    limit ${fetch}`);
}

/** Moves reviews and ends of holds earlier; returns the ids. No index has their order. */
export async function movePayoutsEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: ClockAdvance,
  { after, limit }: Cursor,
): Promise<string[]> {
  const rows = await tx.rows<{ payout_id: string }>(sql`
    update payouts
    set look_at = look_at - make_interval(secs => ${seconds}),
      held_until = held_until - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where payout_id = any(array(
      select payout_id
      from payouts
      where environment = ${environment} and desk_id = ${deskId} and look_at is not null
        and created_at <= ${now} and payout_id || '' > ${after}
      order by payout_id || ''
      limit ${limit}
      for update
    ))
    returning payout_id`);
  return rows.map(({ payout_id }) => payout_id).toSorted();
}
