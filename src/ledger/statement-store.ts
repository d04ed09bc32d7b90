// Reads one firm's money over a span of time.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import type { EntryKind, KindSum, Posted } from "./rules.ts";
import { moved } from "./store.ts";

/** The accounts of a firm that hold paise. */
const moneyKinds = ["firm_cash", "desk_commission", "firm_dues"] as const;

type MoneyKind = (typeof moneyKinds)[number];

/** A posting on one of a firm's accounts; negative when money left. */
export type MoneyRow = {
  readonly entry_no: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly account_kind: MoneyKind;
  readonly paise: PaiseSum;
};

/**
 * Entries with a time from one instant up to, not including, another. Those that were written after
 * the one with the number `lateAfter` count as well when their time is earlier, from `lateFrom` on.
 */
export type Span = {
  readonly from: Date | null;
  readonly to: Date;
  /** Entries that were written after the one with this number do not count. */
  readonly upTo?: number | undefined;
  readonly late?: { readonly from: Date; readonly afterEntryNo: number } | undefined;
};

export type OwnedFirm = { readonly environment: Environment; readonly firmId: string };

const entrySides = fragment`
  join ledger_entries as e on e.entry_no = f.entry_no
  ${moved}
  cross join lateral (values (m.from_account, -1), (m.to_account, 1)) as side (account, sign)`;

/** A position among a firm's entries. */
export type EntryPlace = { readonly at: Date; readonly entryNo: number };

/** The next entries of a span, by time. */
export async function listFirmEntries(
  db: Db,
  firmId: string,
  span: Span,
  { after, limit }: { readonly after: EntryPlace | undefined; readonly limit: number },
): Promise<{ readonly at: Date; readonly entry_no: number }[]> {
  return await db.rows(sql`
    select f.at, f.entry_no
    from ledger_firm_entries as f
    where f.firm_id = ${firmId} and f.at < ${span.to}
      and f.at >= coalesce(${span.late?.from ?? span.from}::timestamptz, '-infinity')
      and (
        f.at >= coalesce(${span.from}::timestamptz, '-infinity')
        or f.entry_no > ${span.late?.afterEntryNo ?? null}::bigint
      )
      and f.entry_no <= coalesce(${span.upTo ?? null}::bigint, 9223372036854775807)
      and (f.at, f.entry_no) > (
        coalesce(${after?.at ?? null}::timestamptz, '-infinity'), ${after?.entryNo ?? 0}::bigint
      )
    order by f.at, f.entry_no
    limit ${limit}`);
}

/** The postings of these entries on the firm's accounts, in the order in which they took effect. */
export async function listMoney(
  db: Db,
  firm: OwnedFirm,
  entryNos: readonly number[],
): Promise<MoneyRow[]> {
  return await db.rows(sql`
    select e.entry_no, e.at, e.kind, e.subject, e.ordinal,
      split_part(side.account, ':', 1) as account_kind, sum(side.sign * m.amount) as paise
    from unnest(${entryNos}::bigint[]) as f (entry_no)
    ${entrySides}
    where e.environment = ${firm.environment} and m.scrip_no is null
      and split_part(side.account, ':', 2) = ${firm.firmId}
    group by e.entry_no, e.at, e.kind, e.subject, e.ordinal, account_kind
    order by e.entry_no, account_kind`);
}

/** The last entry number. */
export async function findLastNumber(db: Db): Promise<number> {
  const [row] = await db.rows<{ entry_no: number }>(sql`
    select coalesce(pg_sequence_last_value('ledger_entry_numbers'), 0) as entry_no`);
  return row?.entry_no ?? 0;
}

/**
 * The next transaction id: every open transaction that has written is below it. pg_snapshot_xmax would
 * not do: it is one past the last id that has ended, and newer open transactions may be above it.
 */
export async function findNextTransaction(db: Db): Promise<string> {
  const [row] = await db.rows<{ next: string }>(sql`
    select pg_current_xact_id()::text as next`);
  return row?.next ?? "0";
}

/** Whether all transactions below this one have ended. */
export async function findWhetherEnded(db: Db, next: string): Promise<boolean> {
  const [row] = await db.rows<{ ended: boolean }>(sql`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${next}::xid8 as ended`);
  return row?.ended ?? false;
}

/** The sums of a span, by account. */
export async function sumMoney(
  db: Db,
  firm: OwnedFirm,
  span: Span,
): Promise<{ readonly account_kind: MoneyKind; readonly paise: PaiseSum }[]> {
  return await db.rows(sql`
    select split_part(side.account, ':', 1) as account_kind,
      sum(side.sign * m.amount) as paise
    from ledger_firm_entries as f
    ${entrySides}
    where f.firm_id = ${firm.firmId} and f.at < ${span.to}
      and f.at >= coalesce(${span.late?.from ?? span.from}::timestamptz, '-infinity')
      and (
        f.at >= coalesce(${span.from}::timestamptz, '-infinity')
        or f.entry_no > ${span.late?.afterEntryNo ?? null}::bigint
      )
      and e.environment = ${firm.environment} and m.scrip_no is null
      and split_part(side.account, ':', 2) = ${firm.firmId}
    group by account_kind`);
}

export async function findFirstEntryAt(db: Db, firmId: string): Promise<Date | undefined> {
  const [row] = await db.rows<{ at: Date }>(sql`
    select at
    from ledger_firm_entries
    where firm_id = ${firmId}
    order by at
    limit 1`);
  return row?.at;
}

/**
 * The highest number among the firm's last entries since a time; 0 when there is none. So many are
 * looked at, because those that are written at one moment may be of several times.
 */
export async function findLastEntryNo(db: Db, firmId: string, since: Date): Promise<number> {
  const [row] = await db.rows<{ entry_no: number }>(sql`
    select coalesce(max(entry_no), 0) as entry_no
    from (
      select entry_no
      from ledger_firm_entries
      where firm_id = ${firmId} and at >= ${since}
      order by at desc, entry_no desc
      limit 1000
    ) as latest`);
  return row?.entry_no ?? 0;
}

/** The next accounts of firms that hold money, by name. */
export async function listMoneyAccounts(
  db: Db,
  environment: Environment,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly balance: string; readonly firm_id: string }[]> {
  return await db.rows(sql`
    select balance, firm_id
    from ledger_balances
    where balance > ${after} and environment = ${environment} and kind in ('firm_cash', 'desk_commission')
    order by balance
    limit ${limit}`);
}

export async function findOutsideBalance(db: Db, environment: Environment): Promise<PaiseSum> {
  const [row] = await db.rows<{ paise: PaiseSum }>(sql`
    select coalesce(sum(posted_paise), 0) as paise
    from ledger_balances
    where environment = ${environment} and kind = 'external_bank' and firm_id is null`);
  return row?.paise ?? 0;
}

/** The change of our bank account by each entry. */
export async function listOutsideEntries(
  db: Db,
  environment: Environment,
): Promise<{ kind: string; subject: string; paise: number }[]> {
  return await db.rows(sql`
    select e.kind, e.subject,
      sum(case when m.from_account = 'external_bank' then m.amount else -m.amount end)::bigint
        as paise
    from ledger_entries as e
    ${moved}
    where e.environment = ${environment} and e.phase = 'posted'
      and e.kind in ('deposit', 'payout', 'payout_return', 'refund', 'fee')
      and 'external_bank' in (m.from_account, m.to_account)
    group by e.entry_no, e.kind, e.subject
    order by e.entry_no`);
}

export type PostingSpan = {
  readonly environment: Environment;
  readonly from: Date;
  readonly to: Date;
};

/** The movements of money that were posted in a span, in their order. */
export async function listMoneyMoves(
  db: Db,
  { environment, from, to }: PostingSpan,
): Promise<Posted[]> {
  return await db.rows(sql`
    select e.entry_no, e.at, e.kind, e.subject, e.ordinal, m.from_account, m.to_account,
      m.amount as paise
    from ledger_entries as e
    ${moved}
    where e.environment = ${environment} and e.at >= ${from} and e.at < ${to}
      and e.phase = 'posted' and m.scrip_no is null
    order by e.entry_no, m.line`);
}

/** What accounts of each kind have now. */
export async function listKindSums(db: Db, environment: Environment): Promise<KindSum[]> {
  return await db.rows(sql`
    select kind, sum(posted_paise) as paise
    from ledger_balances
    where environment = ${environment}
    group by kind
    order by kind`);
}

/** What was posted to accounts of each kind from a time on. */
export async function listKindSumsSince(
  db: Db,
  environment: Environment,
  from: Date,
): Promise<KindSum[]> {
  return await db.rows(sql`
    select split_part(side.account, ':', 1) as kind, sum(m.amount::numeric * side.sign) as paise
    from ledger_entries as e
    ${moved}
    cross join lateral (values (m.from_account, -1), (m.to_account, 1)) as side (account, sign)
    where e.environment = ${environment} and e.at >= ${from} and e.phase = 'posted'
      and m.scrip_no is null
    group by 1`);
}
