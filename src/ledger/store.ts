import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres.ts";
import type {
  AccountKind,
  Balance,
  EntryKind,
  EntryName,
  HeldAs,
  MovementRow,
  Resolution,
} from "./rules.ts";

export type PendingRow = MovementRow & {
  readonly entry_no: number;
  readonly environment: Environment;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly held_as: HeldAs;
};

/** The pending entries of these names, a row for each movement in its order. */
export async function findPending(tx: Tx, names: readonly EntryName[]): Promise<PendingRow[]> {
  return await tx.rows(sql`
    select e.entry_no, e.environment, e.kind, e.subject, e.ordinal, e.held_as,
      m.from_account, m.to_account, m.scrip_no, m.amount
    from unnest(
      ${names.map((name) => name.environment)}::text[],
      ${names.map((name) => name.kind)}::text[],
      ${names.map((name) => name.subject)}::text[],
      ${names.map((name) => name.ordinal ?? 0)}::int[]
    ) as asked (environment, kind, subject, ordinal)
    join lateral (
      select entry_no, environment, kind, subject, ordinal, held_as, movements
      from ledger_entries as found
      where found.subject = asked.subject and found.kind = asked.kind
        and found.ordinal = asked.ordinal and found.environment = asked.environment
        and found.resolves is null and found.phase = 'pending'
      limit 1
    ) as e on true
    cross join lateral unnest(e.movements) with ordinality
      as m (from_account, to_account, scrip_no, amount, line)
    order by e.entry_no, m.line`);
}

export async function findWritten(
  tx: Tx,
  names: readonly EntryName[],
): Promise<{ environment: Environment; kind: EntryKind; subject: string; ordinal: number }[]> {
  return await tx.rows(sql`
    select asked.environment, asked.kind, asked.subject, asked.ordinal
    from unnest(
      ${names.map((name) => name.environment)}::text[],
      ${names.map((name) => name.kind)}::text[],
      ${names.map((name) => name.subject)}::text[],
      ${names.map((name) => name.ordinal ?? 0)}::int[]
    ) as asked (environment, kind, subject, ordinal)
    join lateral (
      select found.entry_no
      from ledger_entries as found
      where found.subject = asked.subject and found.kind = asked.kind
        and found.ordinal = asked.ordinal and found.environment = asked.environment
        and found.resolves is null
      limit 1
    ) as e on true`);
}

export async function findResolutions(
  tx: Tx,
  entryNos: readonly number[],
): Promise<{ resolves: number; phase: Resolution["as"] }[]> {
  return await tx.rows(sql`
    select resolves, phase
    from ledger_entries
    where resolves = any(${entryNos}::bigint[])`);
}

/** A balance's place: its account, and which stripe of it where it has several. */
export type BalanceKey = {
  readonly environment: Environment;
  readonly account: string;
  readonly stripe: number;
};

export type AccountRow = Omit<BalanceKey, "stripe"> & {
  readonly kind: string;
  readonly firm_id: string;
};

/** Makes the balances that are missing. What has no row cannot be locked. */
export async function openAccounts(tx: Tx, rows: readonly AccountRow[]): Promise<void> {
  await tx.rows(sql`
    insert into ledger_balances (environment, account, stripe, kind, firm_id)
    select a.environment, a.account, 0, a.kind, a.firm_id
    from unnest(
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.account)}::text[],
      ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.firm_id)}::text[]
    ) as a (environment, account, kind, firm_id)
    where not exists (
      select
      from ledger_balances as b
      where b.account = a.account and b.environment = a.environment and b.stripe = 0
    )
    order by a.account
    on conflict do nothing`);
}

export type BalanceRow = BalanceKey & Balance;

/** In the order of their accounts, so that two sets never wait for each other in a circle. */
export async function lockBalances(tx: Tx, keys: readonly BalanceKey[]): Promise<BalanceRow[]> {
  return await tx.rows(sql`
    select b.environment, b.account, b.stripe, b.posted_paise, b.escrow_paise,
      b.pending_out_paise, b.pending_in_paise
    from unnest(
      ${keys.map((key) => key.environment)}::text[],
      ${keys.map((key) => key.account)}::text[],
      ${keys.map((key) => key.stripe)}::smallint[]
    ) as k (environment, account, stripe)
    join ledger_balances as b
      on b.account = k.account and b.environment = k.environment and b.stripe = k.stripe
    order by b.account, b.environment
    for update of b`);
}

/** Adds to balances that are locked. */
export async function addToBalances(tx: Tx, rows: readonly BalanceRow[]): Promise<void> {
  await tx.rows(sql`
    update ledger_balances as b
    set posted_paise = b.posted_paise + c.posted_paise,
      escrow_paise = b.escrow_paise + c.escrow_paise,
      pending_out_paise = b.pending_out_paise + c.pending_out_paise,
      pending_in_paise = b.pending_in_paise + c.pending_in_paise,
      version = b.version + 1
    from unnest(
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.account)}::text[],
      ${rows.map((row) => row.stripe)}::smallint[],
      ${rows.map((row) => row.posted_paise)}::bigint[],
      ${rows.map((row) => row.escrow_paise)}::bigint[],
      ${rows.map((row) => row.pending_out_paise)}::bigint[],
      ${rows.map((row) => row.pending_in_paise)}::bigint[]
    ) as c (
      environment, account, stripe, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
    )
    where b.account = c.account and b.environment = c.environment and b.stripe = c.stripe`);
}

export type EntryRow = {
  readonly environment: Environment;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly phase: "pending" | "posted" | "voided";
  readonly held_as: HeldAs | null;
  readonly resolves: number | null;
  readonly movements: readonly MovementRow[];
};

export type NumberedRow = Pick<EntryRow, "environment" | "kind" | "subject" | "ordinal"> & {
  readonly entry_no: number;
};

/** Writes entries and, for those that are posted, which firms they concern; gives their numbers. */
export async function insertEntries(
  tx: Tx,
  rows: readonly EntryRow[],
  now: Date,
): Promise<NumberedRow[]> {
  return await tx.rows(sql`
    with written as (
      insert into ledger_entries (
        environment, kind, subject, ordinal, phase, held_as, resolves, at, movements
      )
      select environment, kind, subject, ordinal, phase, held_as, resolves, ${now}::timestamptz,
        movements::ledger_movement[]
      from unnest(
        ${rows.map((row) => row.environment)}::text[],
        ${rows.map((row) => row.kind)}::text[],
        ${rows.map((row) => row.subject)}::text[],
        ${rows.map((row) => row.ordinal)}::int[],
        ${rows.map((row) => row.phase)}::text[],
        ${rows.map((row) => row.held_as)}::text[],
        ${rows.map((row) => row.resolves)}::bigint[],
        ${rows.map((row) => literalOf(row.movements))}::text[]
      ) with ordinality
        as r (environment, kind, subject, ordinal, phase, held_as, resolves, movements, position)
      order by position
      returning entry_no, environment, kind, subject, ordinal, phase, movements
    ), concerned as (
      insert into ledger_firm_entries (firm_id, at, entry_no)
      select distinct split_part(account, ':', 2), ${now}::timestamptz, w.entry_no
      from written as w
      cross join lateral unnest(w.movements) as m (from_account, to_account, scrip_no, amount)
      cross join lateral (values (m.from_account), (m.to_account)) as side (account)
      where w.phase = 'posted' and strpos(account, ':') > 0
    )
    select entry_no, environment, kind, subject, ordinal
    from written`);
}

/** Movements as PostgreSQL writes them; names have no character that would need a quote. */
function literalOf(movements: readonly MovementRow[]): string {
  const parts = movements.map(
    ({ from_account, to_account, scrip_no, amount }) =>
      `"(${from_account},${to_account},${scrip_no ?? ""},${amount})"`,
  );
  return `{${parts.join(",")}}`;
}

export type CreditKey = { readonly environment: Environment; readonly scrip_no: string };
export type OwnerRow = CreditKey & {
  readonly account: string;
  readonly pending_entry_no: number | null;
};

export async function lockOwners(tx: Tx, keys: readonly CreditKey[]): Promise<OwnerRow[]> {
  return await tx.rows(sql`
    select o.environment, o.scrip_no, o.account, o.pending_entry_no
    from unnest(
      ${keys.map((key) => key.environment)}::text[],
      ${keys.map((key) => key.scrip_no)}::text[]
    ) as k (environment, scrip_no)
    join credit_owners as o on o.environment = k.environment and o.scrip_no = k.scrip_no
    order by o.scrip_no, o.environment
    for update of o`);
}

/** For credits that were not in the books: who brings one in at the same time runs into the key. */
export async function insertOwners(tx: Tx, rows: readonly OwnerRow[]): Promise<void> {
  await tx.rows(sql`
    insert into credit_owners (environment, scrip_no, account, pending_entry_no)
    select environment, scrip_no, account, pending_entry_no
    from unnest(
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.account)}::text[],
      ${rows.map((row) => row.pending_entry_no)}::bigint[]
    ) as r (environment, scrip_no, account, pending_entry_no)
    order by scrip_no`);
}

/** For credits that are locked. */
export async function setOwners(tx: Tx, rows: readonly OwnerRow[]): Promise<void> {
  await tx.rows(sql`
    update credit_owners as o
    set account = r.account, pending_entry_no = r.pending_entry_no
    from unnest(
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.account)}::text[],
      ${rows.map((row) => row.pending_entry_no)}::bigint[]
    ) as r (environment, scrip_no, account, pending_entry_no)
    where o.environment = r.environment and o.scrip_no = r.scrip_no`);
}

/** Balances of firms, all of one moment. */
export async function listBalances(
  db: Db,
  environment: Environment,
  firmIds: readonly string[],
): Promise<(BalanceRow & { firm_id: string; kind: string; version: number })[]> {
  return await db.rows(sql`
    select b.environment, b.account, b.stripe, b.kind, b.firm_id, b.posted_paise, b.escrow_paise,
      b.pending_out_paise, b.pending_in_paise, b.version
    from unnest(${firmIds}::text[]) as f (firm_id)
    cross join unnest(array['firm_cash', 'desk_commission', 'firm_dues']) as k (kind)
    join ledger_balances as b
      on b.account = k.kind || ':' || f.firm_id and b.environment = ${environment} and b.stripe = 0`);
}

export async function listOwners(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<OwnerRow[]> {
  return await db.rows(sql`
    select environment, scrip_no, account, pending_entry_no
    from credit_owners
    where environment = ${environment} and scrip_no = any(${scripNos}::text[])`);
}

/** Where a reader of postings has come to. */
export type PostingPlace = { readonly at: Date; readonly entryNo: number };

export type PostingRow = {
  readonly entry_no: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly line: number;
  readonly account_kind: AccountKind;
  readonly scrip_no: string | null;
  /** Paise or one credit; below zero when it left the account. */
  readonly amount: number;
};

/** The postings of a number of entries that concern a firm, whole entries in their order. */
export async function listPostings(
  db: Db,
  { environment, firmId }: { readonly environment: Environment; readonly firmId: string },
  {
    from,
    to,
    after,
    limit,
  }: {
    readonly from: Date;
    readonly to: Date;
    readonly after: PostingPlace | undefined;
    readonly limit: number;
  },
): Promise<PostingRow[]> {
  return await db.rows(sql`
    select e.entry_no, e.at, e.kind, e.subject, e.ordinal, m.line::int as line,
      split_part(side.account, ':', 1) as account_kind, m.scrip_no, side.sign * m.amount as amount
    from (
      select f.entry_no
      from ledger_firm_entries as f
      where f.firm_id = ${firmId} and f.at >= ${from} and f.at < ${to}
        and (f.at, f.entry_no) > (
          coalesce(${after?.at ?? null}::timestamptz, '-infinity'), ${after?.entryNo ?? 0}::bigint
        )
      order by f.at, f.entry_no
      limit ${limit}
    ) as f
    join ledger_entries as e on e.entry_no = f.entry_no and e.environment = ${environment}
    cross join lateral unnest(e.movements) with ordinality
      as m (from_account, to_account, scrip_no, amount, line)
    cross join lateral (values (m.from_account, -1), (m.to_account, 1)) as side (account, sign)
    where split_part(side.account, ':', 2) = ${firmId}
    order by e.at, e.entry_no, m.line, side.sign`);
}
