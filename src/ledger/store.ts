import { hash } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import {
  command,
  type Db,
  fragment,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import {
  bigint,
  hex,
  int,
  numeric,
  recordList,
  type RowOf,
  shape,
  table,
  text,
} from "../platform/postgres/table.ts";
import { arrayLiteral, recordLiteral } from "../platform/postgres/wire-value.ts";
import {
  type AccountKind,
  accountName,
  type Balance,
  type EntryKind,
  type EntryName,
  type HeldAs,
  type MovementRow,
  type Resolution,
} from "./rules.ts";

const movementParts = ["from_account", "to_account", "scrip_no", "amount"] as const;

const ledgerEntries = table("ledger_entries", {
  environment: text<Environment>(),
  kind: text<EntryKind>(),
  subject: text(),
  ordinal: int(),
  phase: text<"pending" | "posted" | "voided">(),
  held_as: text<HeldAs>().orNull,
  resolves: bigint().orNull,
  movements: recordList<MovementRow>("ledger_movement", movementParts),
  digest: hex(),
});
export type EntryRow = Omit<RowOf<typeof ledgerEntries>, "digest">;

type PendingRow = MovementRow & {
  readonly entry_no: number;
  readonly environment: Environment;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly held_as: HeldAs;
};

/** The pending entries of these names, one row per movement, in order. */
export async function findPending(tx: Tx, names: readonly EntryName[]): Promise<PendingRow[]> {
  const asked = ledgerEntries.rows(
    {
      environment: ({ environment }: EntryName) => environment,
      kind: ({ kind }) => kind,
      subject: ({ subject }) => subject,
      ordinal: ({ ordinal = 0 }) => ordinal,
    },
    names,
  );
  return await tx.rows(sql`
    select e.entry_no, e.environment, e.kind, e.subject, e.ordinal, e.held_as,
      m.from_account, m.to_account, m.scrip_no, m.amount
    from ${asked} as asked
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

/** One row per movement, in the order of the entries. */
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
export function findWritten(
  names: readonly EntryName[],
): Query<{ environment: Environment; kind: EntryKind; subject: string; ordinal: number }[]> {
  const subjects = new Set(names.map(({ subject }) => subject));
  const kinds = new Set(names.map(({ kind }) => kind));
  const ordinals = new Set(names.map(({ ordinal = 0 }) => ordinal));
  return query(sql`
    select environment, kind, subject, ordinal
    from ledger_entries
    where subject = any(${[...subjects]}::text[])
      and kind = any(${[...kinds]}::text[])
      and ordinal = any(${[...ordinals]}::int[])
      and resolves is null`);
}

export function findResolutions(
  entryNos: readonly number[],
): Query<{ resolves: number; phase: Resolution["as"] }[]> {
  return query(sql`
    select resolves, phase
    from ledger_entries
    where resolves = any(${entryNos}::bigint[])`);
}

const ledgerBalances = table("ledger_balances", {
  /** The key of a balance: the account, and for those in stripes which one. */
  balance: text(),
  environment: text<Environment>(),
  account: text(),
  kind: text<AccountKind>(),
  firm_id: text().orNull,
  posted_paise: numeric(),
  escrow_paise: numeric(),
  pending_out_paise: numeric(),
  pending_in_paise: numeric(),
});
const accountColumns = ["balance", "environment", "account", "kind", "firm_id"] as const;
export type AccountRow = Pick<RowOf<typeof ledgerBalances>, (typeof accountColumns)[number]>;

/** Inserts missing balances: a missing row cannot be locked. */
export async function openAccounts(tx: Tx, rows: readonly AccountRow[]): Promise<void> {
  await tx.rows(sql`
    insert into ledger_balances ${ledgerBalances.values(accountColumns, rows)}
    order by balance
    on conflict do nothing`);
}

type BalanceRow = Balance & { readonly balance: string };
export type LockedRow = BalanceRow & { readonly environment: Environment };

/**
 * Locks in one order, so that two sets never deadlock. The limit forces one index lookup per balance,
 * whatever the planner's statistics.
 */
export function lockBalances(balances: readonly string[]): Query<LockedRow[]> {
  return query(sql`
    select b.balance, b.environment, b.posted_paise, b.escrow_paise, b.pending_out_paise, b.pending_in_paise
    from (
      select balance
      from unnest(${balances}::text[]) as asked (balance)
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

/** Adds to balances that are locked. Joins by ctid, so the planner cannot choose a sequential scan. */
export function addToBalances(rows: readonly BalanceRow[]): Query<void> {
  const sums = ["posted_paise", "escrow_paise", "pending_out_paise", "pending_in_paise"] as const;
  return command(sql`
    update ledger_balances as b
    set posted_paise = b.posted_paise + c.posted_paise,
      escrow_paise = b.escrow_paise + c.escrow_paise,
      pending_out_paise = b.pending_out_paise + c.pending_out_paise,
      pending_in_paise = b.pending_in_paise + c.pending_in_paise,
      version = b.version + 1
    from ${ledgerBalances.rows(["balance", ...sums], rows)} as c
    cross join lateral (
      select found.ctid as place
      from ledger_balances as found
      where found.balance = c.balance
      limit 1
    ) as f
    where b.ctid = f.place`);
}

const firmEntries = shape({ firm_id: text(), position: int() });
/** Which firms a posted entry concerns; the entry by its position among those it is written with. */
type FirmEntry = RowOf<typeof firmEntries>;

/**
 * What the entry `e` moves, as `m`. An entry that ends another has no movements of its own: one that posts
 * moves what was pending, and one that voids moves nothing.
 */
export const moved = fragment`
  cross join lateral unnest(
    case
      when e.phase = 'posted' and e.resolves is not null then (
        select held.movements
        from ledger_entries as held
        where held.entry_no = e.resolves
      )
      else e.movements
    end
  ) with ordinality as m (from_account, to_account, scrip_no, amount, line)`;

const digestDigits = 16;

/** Of what the row says, in the words in which the server prints it: `listPrinted` makes it anew. */
function digestEntry(
  { environment, kind, subject, ordinal, phase, held_as, resolves, movements }: EntryRow,
  at: Date,
): string {
  const moved = arrayLiteral(
    movements.map((movement) => recordLiteral(movementParts.map((part) => movement[part]))),
  );
  const seconds = `${(at.getTime() / 1_000).toFixed(3)}000`;
  const words = [environment, kind, ordinal, phase, held_as, resolves, seconds, moved, subject];
  const text = words.filter((word) => word !== null).join(" ");
  return hash("sha256", text).slice(0, digestDigits);
}

/** Writes entries and whose statements they are on; gives their numbers in the same order. */
export function insertEntries(
  rows: readonly EntryRow[],
  concerned: readonly FirmEntry[],
  now: Date,
): Query<{ entry_no: number }[]> {
  const digested = rows.map((row) => ({ ...row, digest: digestEntry(row, now) }));
  return query(sql`
    with numbered as materialized (
      select nextval('ledger_entry_numbers') as entry_no, r.environment, r.kind, r.subject,
        r.ordinal, r.phase, r.held_as, r.resolves, r.movements, r.digest, r.position
      from ${ledgerEntries.numbered(ledgerEntries.all, digested)} as r
    ), written as (
      insert into ledger_entries (
        entry_no, environment, kind, subject, ordinal, phase, held_as, resolves, at, movements,
        digest
      )
      select entry_no, environment, kind, subject, ordinal, phase, held_as, resolves,
        ${now}::timestamptz, movements, digest
      from numbered
    ), concerned as (
      insert into ledger_firm_entries (firm_id, at, entry_no)
      select c.firm_id, ${now}::timestamptz, n.entry_no
      from ${firmEntries.rows(firmEntries.all, concerned)} as c
      join numbered as n on n.position = c.position
      order by c.firm_id
    )
    select entry_no
    from numbered
    order by position`);
}

const creditOwners = table("credit_owners", {
  environment: text<Environment>(),
  scrip_no: text(),
  account: text(),
  pending_entry_no: bigint().orNull,
});
export type OwnerRow = RowOf<typeof creditOwners>;
export type CreditKey = Pick<OwnerRow, "environment" | "scrip_no">;

/** In the order of their numbers, each looked up as balances are. */
export function lockOwners(keys: readonly CreditKey[]): Query<OwnerRow[]> {
  return query(sql`
    select o.environment, o.scrip_no, o.account, o.pending_entry_no
    from (
      select environment, scrip_no
      from ${creditOwners.rows(["environment", "scrip_no"], keys)} as asked
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

/** For credits that are new to the books; a concurrent insert of the same credit fails on the key. */
export function insertOwners(rows: readonly OwnerRow[]): Query<void> {
  return command(sql`
    insert into credit_owners ${creditOwners.values(creditOwners.all, rows)}
    order by scrip_no`);
}

/** The credits must be locked. */
export function setOwners(rows: readonly OwnerRow[]): Query<void> {
  return command(sql`
    update credit_owners as o
    set account = r.account, pending_entry_no = r.pending_entry_no
    from ${creditOwners.rows(creditOwners.all, rows)} as r
    where o.environment = r.environment and o.scrip_no = r.scrip_no`);
}

/** Balances of firms, read by one statement. */
export function listBalances(
  environment: Environment,
  accounts: readonly string[],
): Query<(BalanceRow & { version: number })[]> {
  return query(sql`
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

/** A position among postings. */
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
  /** Paise, or 1 for a credit; negative when it left the account. */
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
    ${moved}
    cross join lateral (values (m.from_account, -1), (m.to_account, 1)) as side (account, sign)
    where split_part(side.account, ':', 2) = ${firmId}
    order by e.at, e.entry_no, m.line, side.sign`);
}

/** Locks what these firms owe, where they owe. The firms' other balances must be locked. */
export function lockDues(firmIds: readonly string[]): Query<LockedRow[]> {
  const balances = firmIds.map((firmId) => accountName({ kind: "firm_dues", firmId }));
  return query(sql`
    select b.balance, b.environment, b.posted_paise, b.escrow_paise, b.pending_out_paise, b.pending_in_paise
    from (
      select balance
      from unnest(${balances}::text[]) as asked (balance)
      order by balance
    ) as k
    cross join lateral (
      select balance, environment, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
      from ledger_balances as found
      where found.balance = k.balance and found.posted_paise < 0
      limit 1
      for update
    ) as b`);
}

/** The first ordinal that the entries of a kind about each subject have left free; 0 is left out. */
export async function findNextOrdinals(
  tx: Tx,
  { environment, kind }: Pick<EntryName, "environment" | "kind">,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.rows<{ subject: string; next: number }>(sql`
    select subject, max(ordinal) + 1 as next
    from ledger_entries
    where subject = any(${subjects}::text[]) and kind = ${kind}
      and environment = ${environment} and resolves is null
    group by subject`);
  return new Map(rows.map(({ subject, next }) => [subject, next]));
}

/** The desks of these firms, and how often what each owes has changed, with the change that is made now. */
export async function listDuesVersions(
  tx: Tx,
  firmIds: readonly string[],
): Promise<{ firm_id: string; desk_id: string; version: number }[]> {
  return await tx.rows(sql`
    select b.firm_id, f.desk_id, b.version + 1 as version
    from ledger_balances as b
    join firms as f on f.firm_id = b.firm_id
    where b.kind = 'firm_dues' and b.firm_id = any(${firmIds}::text[])`);
}
