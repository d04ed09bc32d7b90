import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
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
      ${column(names, "environment")}::text[],
      ${column(names, "kind")}::text[],
      ${column(names, "subject")}::text[],
      ${listOf(names.map(({ ordinal = 0 }) => ordinal))}::int[]
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

/** A row for each movement, in the order of the entries. */
export async function listEntriesAbout(
  db: Db,
  { environment, kind, subject }: Omit<EntryName, "ordinal">,
): Promise<(MovementRow & { readonly ordinal: number })[]> {
  return await db.rows(sql`
    select e.ordinal, m.from_account, m.to_account, m.scrip_no, m.amount
    from ledger_entries as e
    cross join lateral unnest(e.movements) with ordinality
      as m (from_account, to_account, scrip_no, amount, line)
    where e.subject = ${subject} and e.kind = ${kind} and e.environment = ${environment}
      and e.resolves is null
    order by e.ordinal, m.line`);
}

/**
 * Those of the named entries that exist, and others of these subjects, kinds and ordinals: a set is
 * mostly about something new, and then one look past the end of the index says so for all of it.
 */
export async function findWritten(
  tx: Tx,
  names: readonly EntryName[],
): Promise<{ environment: Environment; kind: EntryKind; subject: string; ordinal: number }[]> {
  return await tx.rows(sql`
    select environment, kind, subject, ordinal
    from ledger_entries
    where subject = any(${distinct(names.map(({ subject }) => subject))}::text[])
      and kind = any(${distinct(names.map(({ kind }) => kind))}::text[])
      and ordinal = any(${distinct(names.map(({ ordinal = 0 }) => ordinal))}::int[])
      and resolves is null`);
}

export async function findResolutions(
  tx: Tx,
  entryNos: readonly number[],
): Promise<{ resolves: number; phase: Resolution["as"] }[]> {
  return await tx.rows(sql`
    select resolves, phase
    from ledger_entries
    where resolves = any(${listOf(entryNos)}::bigint[])`);
}

export type AccountRow = {
  /** The key of a balance: the account, and for those in stripes which one. */
  readonly balance: string;
  readonly environment: Environment;
  readonly account: string;
  readonly kind: AccountKind;
  readonly firm_id: string | undefined;
};

/** Makes balances that were missing. What has no row cannot be locked. */
export async function openAccounts(tx: Tx, rows: readonly AccountRow[]): Promise<void> {
  await tx.rows(sql`
    insert into ledger_balances (balance, environment, account, kind, firm_id)
    select balance, environment, account, kind, firm_id
    from unnest(
      ${column(rows, "balance")}::text[],
      ${column(rows, "environment")}::text[],
      ${column(rows, "account")}::text[],
      ${column(rows, "kind")}::text[],
      ${column(rows, "firm_id")}::text[]
    ) as r (balance, environment, account, kind, firm_id)
    order by balance
    on conflict do nothing`);
}

export type BalanceRow = Balance & { readonly balance: string };
export type LockedRow = BalanceRow & { readonly environment: Environment };

/**
 * In one order for everybody, so that two sets never wait for each other in a circle. The limit
 * makes it a look-up per balance, one after the other, whatever the planner knows of the table.
 */
export async function lockBalances(tx: Tx, balances: readonly string[]): Promise<LockedRow[]> {
  return await tx.rows(sql`
    select b.balance, b.environment, b.posted_paise, b.escrow_paise, b.pending_out_paise, b.pending_in_paise
    from (
      select balance
      from unnest(${listOf(balances)}::text[]) as asked (balance)
      order by balance
    ) as k
    cross join lateral (
      select balance, environment, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
      from ledger_balances as found
      where found.balance = k.balance
      limit 1
      for update
    ) as b`);
}

/** Adds to balances that are locked. They are looked up as they were for the lock, then met by place. */
export async function addToBalances(tx: Tx, rows: readonly BalanceRow[]): Promise<void> {
  await tx.rows(sql`
    update ledger_balances as b
    set posted_paise = b.posted_paise + c.posted_paise,
      escrow_paise = b.escrow_paise + c.escrow_paise,
      pending_out_paise = b.pending_out_paise + c.pending_out_paise,
      pending_in_paise = b.pending_in_paise + c.pending_in_paise,
      version = b.version + 1
    from unnest(
      ${column(rows, "balance")}::text[],
      ${column(rows, "posted_paise")}::numeric[],
      ${column(rows, "escrow_paise")}::numeric[],
      ${column(rows, "pending_out_paise")}::numeric[],
      ${column(rows, "pending_in_paise")}::numeric[]
    ) as c (balance, posted_paise, escrow_paise, pending_out_paise, pending_in_paise)
    cross join lateral (
      select found.ctid as place
      from ledger_balances as found
      where found.balance = c.balance
      limit 1
    ) as f
    where b.ctid = f.place`);
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

/** Which firms a posted entry concerns; the entry by its position among those it is written with. */
export type FirmEntry = { readonly firm_id: string; readonly position: number };

/** Writes entries and whose statements they are on; gives their numbers in the same order. */
export async function insertEntries(
  tx: Tx,
  rows: readonly EntryRow[],
  concerned: readonly FirmEntry[],
  now: Date,
): Promise<{ entry_no: number }[]> {
  return await tx.rows(sql`
    with numbered as materialized (
      select nextval('ledger_entry_numbers') as entry_no, r.environment, r.kind, r.subject,
        r.ordinal, r.phase, r.held_as, r.resolves, r.movements, r.position
      from unnest(
        ${column(rows, "environment")}::text[],
        ${column(rows, "kind")}::text[],
        ${column(rows, "subject")}::text[],
        ${column(rows, "ordinal")}::int[],
        ${column(rows, "phase")}::text[],
        ${column(rows, "held_as")}::text[],
        ${column(rows, "resolves")}::bigint[],
        string_to_array(${rows.map((row) => literalOf(row.movements)).join("\n")}, E'\\n')
      ) with ordinality
        as r (environment, kind, subject, ordinal, phase, held_as, resolves, movements, position)
    ), written as (
      insert into ledger_entries (
        entry_no, environment, kind, subject, ordinal, phase, held_as, resolves, at, movements,
        digest
      )
      select entry_no, environment, kind, subject, ordinal, phase, held_as, resolves,
        ${now}::timestamptz, movements::ledger_movement[],
        substr(
          sha256(
            convert_to(
              concat_ws(
                ' ', environment, kind, ordinal, phase, held_as, resolves,
                extract(epoch from ${now}::timestamptz), movements, subject
              ),
              'UTF8'
            )
          ),
          1, 8
        )
      from numbered
    ), concerned as (
      insert into ledger_firm_entries (firm_id, at, entry_no)
      select c.firm_id, ${now}::timestamptz, n.entry_no
      from unnest(
        ${column(concerned, "firm_id")}::text[],
        ${column(concerned, "position")}::int[]
      ) as c (firm_id, position)
      join numbered as n on n.position = c.position
      order by c.firm_id
    )
    select entry_no
    from numbered
    order by position`);
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

/** In the order of their numbers, each looked up as balances are. */
export async function lockOwners(tx: Tx, keys: readonly CreditKey[]): Promise<OwnerRow[]> {
  return await tx.rows(sql`
    select o.environment, o.scrip_no, o.account, o.pending_entry_no
    from (
      select environment, scrip_no
      from unnest(
        ${column(keys, "environment")}::text[],
        ${column(keys, "scrip_no")}::text[]
      ) as asked (environment, scrip_no)
      order by scrip_no, environment
    ) as k
    cross join lateral (
      select environment, scrip_no, account, pending_entry_no
      from credit_owners as found
      where found.environment = k.environment and found.scrip_no = k.scrip_no
      limit 1
      for update
    ) as o`);
}

/** For credits that were not in the books: who brings one in at the same time runs into the key. */
export async function insertOwners(tx: Tx, rows: readonly OwnerRow[]): Promise<void> {
  await tx.rows(sql`
    insert into credit_owners (environment, scrip_no, account, pending_entry_no)
    select environment, scrip_no, account, pending_entry_no
    from unnest(
      ${column(rows, "environment")}::text[],
      ${column(rows, "scrip_no")}::text[],
      ${column(rows, "account")}::text[],
      ${column(rows, "pending_entry_no")}::bigint[]
    ) as r (environment, scrip_no, account, pending_entry_no)
    order by scrip_no`);
}

/** For credits that are locked. */
export async function setOwners(tx: Tx, rows: readonly OwnerRow[]): Promise<void> {
  await tx.rows(sql`
    update credit_owners as o
    set account = r.account, pending_entry_no = r.pending_entry_no
    from unnest(
      ${column(rows, "environment")}::text[],
      ${column(rows, "scrip_no")}::text[],
      ${column(rows, "account")}::text[],
      ${column(rows, "pending_entry_no")}::bigint[]
    ) as r (environment, scrip_no, account, pending_entry_no)
    where o.environment = r.environment and o.scrip_no = r.scrip_no`);
}

/** Balances of firms, all of one moment. */
export async function listBalances(
  db: Db,
  environment: Environment,
  accounts: readonly string[],
): Promise<(BalanceRow & { version: number })[]> {
  return await db.rows(sql`
    select balance, posted_paise, escrow_paise, pending_out_paise, pending_in_paise, version
    from ledger_balances
    where balance = any(${accounts}::text[]) and environment = ${environment}`);
}

export async function listOwners(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<OwnerRow[]> {
  return await db.rows(sql`
    select o.environment, o.scrip_no, o.account, o.pending_entry_no
    from (select distinct unnest(${scripNos}::text[]) as scrip_no) as asked
    cross join lateral (
      select environment, scrip_no, account, pending_entry_no
      from credit_owners as found
      where found.environment = ${environment} and found.scrip_no = asked.scrip_no
      limit 1
    ) as o`);
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

type Cell = string | number | bigint | null;

/** A column of rows as an array of PostgreSQL, written with less work than the driver's own. */
function column<Row>(rows: readonly Row[], name: keyof Row): string {
  return listOf(rows.map((row) => row[name] as Cell)); // Only such columns are asked for.
}

function distinct(cells: readonly Cell[]): string {
  return listOf([...new Set(cells)]);
}

/** Names and numbers of the books have no character that would need a quote; the rules see to it. */
function listOf(cells: readonly Cell[]): string {
  return `{${cells.map((cell) => cell ?? "null").join(",")}}`;
}
