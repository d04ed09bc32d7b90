import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  bytes,
  day,
  int,
  json,
  type RowOf,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";
import { sealedColumn } from "../platform/sealed-column.ts";
import type { ComparedLine } from "./repeat-rules.ts";
import type { BankLineState, Direction, LinePlan } from "./rules.ts";

const bankStatements = table("bank_statements", {
  statement_id: text(),
  environment: text<Environment>(),
  sha256: bytes(),
  format: text(),
  line_count: int(),
  first_day: day(),
  last_day: day(),
  opening_paise: bigint().orNull,
  closing_paise: bigint().orNull,
  /** Up to when its lines reach. */
  reached_at: time(),
  state: text<"received" | "applied">(),
  received_by: text(),
  received_at: time(),
  applied_by: text().orNull,
  applied_at: time().orNull,
});
export type StatementRow = RowOf<typeof bankStatements>;

const bankLines = table("bank_lines", {
  line_id: text(),
  environment: text<Environment>(),
  statement_id: text(),
  ordinal: int(),
  line_key: text(),
  day: day(),
  value_at: time(),
  direction: text<Direction>(),
  paise: bigint(),
  balance_paise: bigint().orNull,
  /** Null until lines from before texts were compared are named. */
  text_key: text().orNull,
  utr: text().orNull,
  /** By which the payer may know the payment as well. */
  other_utrs: textList(),
  details_sealed: bytes(),
  plan: json<LinePlan>(),
  /** The deals and firms whose money the line may be. */
  claimants: textList(),
  state: text<BankLineState>(),
  reason: text().orNull,
  /** The line that an earlier file had, or may have had. */
  repeats_line_id: text().orNull,
  firm_id: text().orNull,
  deal_id: text().orNull,
  back_utr: text().orNull,
  decided_by: text().orNull,
  decided_at: time().orNull,
  version: int(),
});
export type BankLineRow = RowOf<typeof bankLines>;

/** The applied statement with these bytes, or else the one received in this format. */
export async function findStatementByDigest(
  db: Db,
  environment: Environment,
  digest: Buffer,
  format: string,
): Promise<StatementRow | undefined> {
  const [row] = await db.rows<StatementRow>(sql`
    select ${bankStatements.columns}
    from bank_statements
    where environment = ${environment} and sha256 = ${digest}
      and (state = 'applied' or format = ${format})
    order by state = 'applied' desc
    limit 1`);
  return row;
}

export const { find: findStatement, lock: lockStatement } = rowsBy(bankStatements, {
  key: ["statement_id"],
});

/** Newest first, by when they were received. */
export async function listStatements(
  db: Db,
  {
    environment,
    before,
    limit,
  }: {
    readonly environment: Environment;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<StatementRow[]> {
  return await db.rows(sql`
    select ${bankStatements.columns}
    from bank_statements
    where environment = ${environment}
      and (${before}::text is null or statement_id < ${before})
    order by statement_id desc
    limit ${limit}`);
}

/** False when the same bytes were received in the same format. */
export async function insertStatement(tx: Tx, row: StatementRow): Promise<boolean> {
  const rows = await tx.rows(sql`
    insert into bank_statements ${bankStatements.values(bankStatements.all, [row])}
    on conflict (environment, sha256, format) do nothing
    returning statement_id`);
  return rows.length > 0;
}

export async function setApplied(
  tx: Tx,
  { statement_id, applied_by, applied_at }: StatementRow,
): Promise<void> {
  await tx.rows(sql`
    update bank_statements
    set state = 'applied', applied_by = ${applied_by}, applied_at = ${applied_at}
    where statement_id = ${statement_id}`);
}

const receivedColumns = [
  "line_id",
  "environment",
  "statement_id",
  "ordinal",
  "line_key",
  "day",
  "value_at",
  "direction",
  "paise",
  "balance_paise",
  "text_key",
  "utr",
  "other_utrs",
  "details_sealed",
  "plan",
  "claimants",
  "state",
  "version",
] as const;

export async function insertLines(tx: Tx, rows: readonly BankLineRow[]): Promise<void> {
  await tx.rows(sql`
    insert into bank_lines ${bankLines.values(receivedColumns, rows)}`);
}

/** Serializes those who apply statements: which lines count depends on those that have. */
export async function lockCounting(tx: Tx, environment: Environment): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('bank lines'), hashtext(${environment}))`);
}

/** The lines of these days that have counted, in the order in which they did. */
export async function listCounted(
  db: Db,
  environment: Environment,
  days: readonly string[],
): Promise<ComparedLine[]> {
  return await db.rows(sql`
    select line_id, day::text, direction, paise, balance_paise, text_key, utr, other_utrs
    from bank_lines
    where environment = ${environment} and day = any(${days}::date[])
      and state not in ('new', 'repeated')
    order by day, line_id`);
}

/** The statements with lines that have no name of their text, oldest first. */
export async function listUnnamed(db: Db): Promise<string[]> {
  const rows = await db.rows<{ statement_id: string }>(sql`
    select distinct statement_id
    from bank_lines
    where text_key is null and state <> 'repeated'
    order by statement_id`);
  return rows.map(({ statement_id }) => statement_id);
}

const namedColumns = ["line_id", "text_key", "line_key"] as const;

/** A line whose name another has keeps its former one. */
export async function setTextKeys(
  tx: Tx,
  rows: readonly Pick<BankLineRow, (typeof namedColumns)[number]>[],
): Promise<void> {
  await tx.rows(sql`
    update bank_lines as l
    set text_key = case when exists (
      select
      from bank_lines as o
      where o.environment = l.environment and o.text_key = r.text_key
        and o.balance_paise is not distinct from l.balance_paise
        and o.state not in ('new', 'repeated') and o.line_id <> l.line_id
    ) then r.line_key else r.text_key end
    from ${bankLines.rows(namedColumns, rows)} as r
    where l.line_id = r.line_id and l.text_key is null and l.state <> 'repeated'`);
}

export async function listLinesOfStatement(db: Db, statementId: string): Promise<BankLineRow[]> {
  return await db.rows(sql`
    select ${bankLines.columns}
    from bank_lines
    where statement_id = ${statementId}
    order by ordinal`);
}

/** Lines that are set, or their statement, were locked. */
export const {
  find: findLine,
  lock: lockLines,
  set: setLines,
} = rowsBy(bankLines, {
  key: ["line_id"],
  set: [
    "state",
    "reason",
    "repeats_line_id",
    "firm_id",
    "deal_id",
    "back_utr",
    "decided_by",
    "decided_at",
    "version",
  ],
});

/** Oldest first. */
export async function listQueue(
  db: Db,
  {
    environment,
    after,
    limit,
  }: {
    readonly environment: Environment;
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<BankLineRow[]> {
  return await db.rows(sql`
    select ${bankLines.columns}
    from bank_lines
    where environment = ${environment} and state in ('queued', 'returning')
      and (${after}::text is null or (day, line_id) > (
        select place.day, place.line_id
        from bank_lines as place
        where place.line_id = ${after}
      ))
    order by day, line_id
    limit ${limit}`);
}

export async function listReturning(db: Db, environment: Environment): Promise<BankLineRow[]> {
  return await db.rows(sql`
    select ${bankLines.columns}
    from bank_lines
    where environment = ${environment} and state = 'returning'`);
}

/** An entry of the books that a line of the bank explains, or its own reversal: it has no line. */
const bankLineEntries = table("bank_line_entries", {
  environment: text<Environment>(),
  kind: text(),
  subject: text(),
  line_id: text().orNull,
});
export type ExplainedRow = RowOf<typeof bankLineEntries>;

export const { insert: insertExplained } = rowsBy(bankLineEntries, {
  key: ["environment", "kind", "subject"],
});

/** The explained entries of these subjects, as `kind subject`. */
export async function listExplained(
  db: Db,
  environment: Environment,
  subjects: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select kind || ' ' || subject as name
    from bank_line_entries
    where environment = ${environment} and kind in ('payout', 'payout_return', 'deposit')
      and subject = any(${subjects}::text[])`);
  return rows.map(({ name }) => name);
}

/** The line that explains an entry; null when its reversal does, undefined when nothing does. */
export async function findExplanation(
  db: Db,
  { environment, kind, subject }: Omit<ExplainedRow, "line_id">,
): Promise<string | null | undefined> {
  const [row] = await db.rows<Pick<ExplainedRow, "line_id">>(sql`
    select line_id
    from bank_line_entries
    where environment = ${environment} and kind = ${kind} and subject = ${subject}`);
  return row?.line_id;
}

/** The deposits that a line explains, its own of the queue among them. */
export async function listExplainedDeposits(db: Db, lineId: string): Promise<string[]> {
  const rows = await db.rows<{ subject: string }>(sql`
    select subject
    from bank_line_entries
    where line_id = ${lineId} and kind = 'deposit'
    order by subject`);
  return rows.map(({ subject }) => subject);
}

export async function listAllExplained(db: Db, environment: Environment): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select kind || ' ' || subject as name
    from bank_line_entries
    where environment = ${environment}`);
  return rows.map(({ name }) => name);
}

/** The sealed texts of lines. */
export const detailsColumn = sealedColumn({
  table: "bank_lines",
  id: "line_id",
  sealed: "details_sealed",
  also: ["line_key"],
});

const payingAccounts = table("paying_accounts", {
  firm_id: text(),
  account_sealed: bytes(),
  last4: text(),
  ifsc: text(),
  /** Who holds it, as the bank's letter says. */
  name: text(),
  entered_by: text(),
  entered_at: time(),
  confirmed_by: text().orNull,
  confirmed_at: time().orNull,
});
export type PayingAccountRow = RowOf<typeof payingAccounts>;

export const {
  insert: insertPayingAccount,
  find: findPayingAccount,
  lock: lockPayingAccount,
} = rowsBy(payingAccounts, { key: ["firm_id"] });

/** The confirmed ones. */
export async function listPayingAccounts(
  db: Db,
  firmIds: readonly string[],
): Promise<PayingAccountRow[]> {
  return await db.rows(sql`
    select ${payingAccounts.columns}
    from paying_accounts
    where firm_id = any(${firmIds}::text[]) and confirmed_at is not null`);
}

export async function setConfirmed(
  tx: Tx,
  { firm_id, confirmed_by, confirmed_at }: PayingAccountRow,
): Promise<void> {
  await tx.rows(sql`
    update paying_accounts
    set confirmed_by = ${confirmed_by}, confirmed_at = ${confirmed_at}
    where firm_id = ${firm_id}`);
}

export async function deletePayingAccount(tx: Tx, firmId: string): Promise<void> {
  await tx.rows(sql`
    delete from paying_accounts
    where firm_id = ${firmId}`);
}

/** The sealed numbers. */
export const payingAccountColumn = sealedColumn({
  table: "paying_accounts",
  id: "firm_id",
  sealed: "account_sealed",
});
