import type { TimeSpan } from "../kernel/query-time.ts";
import type { Environment } from "../kernel/caller.ts";
import { type ResealedRow, resealedRows } from "../platform/master-key.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  bytes,
  int,
  json,
  type RowOf,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { FileFormat, FileState, LineState } from "./file-rules.ts";

const payoutFiles = table("payout_files", {
  file_id: text(),
  environment: text<Environment>(),
  rail: text(),
  format: json<FileFormat>(),
  state: text<FileState>(),
  line_count: int(),
  paise: bigint(),
  sha256: bytes().orNull,
  made_by: text(),
  made_at: time(),
  voided_by: text().orNull,
  voided_at: time().orNull,
  void_reason: text().orNull,
  version: int(),
});
export type FileRow = RowOf<typeof payoutFiles>;

const payoutFileLines = table("payout_file_lines", {
  file_id: text(),
  ordinal: int(),
  lead_id: text(),
  firm_id: text(),
  paise: bigint(),
  reference: text(),
  account_sealed: bytes(),
  ifsc: text(),
  account_name: text(),
  state: text<LineState>(),
});
export type FileLineRow = RowOf<typeof payoutFileLines>;

const payoutFileItems = table("payout_file_items", {
  file_id: text(),
  ordinal: int(),
  payout_id: text(),
});

export const {
  insert: insertFiles,
  find: findFile,
  lock: lockFiles,
  set: setFiles,
} = rowsBy(payoutFiles, {
  key: ["file_id"],
  set: ["state", "voided_by", "voided_at", "void_reason", "version"],
});

/**
 * Whoever answers or voids lines locks their file, and then the lines too, because a reseal locks lines
 * without their files.
 */
export const {
  insert: insertFileLines,
  list: listFileLines,
  lock: lockFileLines,
  set: setLineStates,
} = rowsBy(payoutFileLines, { key: ["file_id", "ordinal"], set: ["state"] });

export const { insert: insertFileItems, list: listFileItems } = rowsBy(payoutFileItems, {
  key: ["file_id", "ordinal", "payout_id"],
});

export async function listFiles(
  db: Db,
  {
    state,
    before,
    from,
    to,
  }: TimeSpan & { readonly state: FileState | null; readonly before: string | null },
  limit: number,
): Promise<FileRow[]> {
  return await db.rows(sql`
    select ${payoutFiles.columns}
    from payout_files
    where (${state}::text is null or state = ${state})
      and (${before}::text is null or file_id < ${before})
      and (${from}::timestamptz is null or made_at >= ${from})
      and (${to}::timestamptz is null or made_at < ${to})
    order by file_id desc
    limit ${limit}`);
}

export async function listLinesByReference(
  db: Db,
  references: readonly string[],
): Promise<FileLineRow[]> {
  return await db.rows(sql`
    select ${payoutFileLines.columns}
    from payout_file_lines
    where reference = any(${references}::text[])`);
}

/** By lead payout; voided lines are left out. */
export async function listLinesByLead(db: Db, leadIds: readonly string[]): Promise<FileLineRow[]> {
  return await db.rows(sql`
    select ${payoutFileLines.columns}
    from payout_file_lines
    where lead_id = any(${leadIds}::text[]) and state <> 'voided'`);
}

type MixedFileRow = Pick<FileRow, "file_id" | "environment" | "rail" | "paise"> & {
  readonly over: number;
  readonly live: number;
};

/** Files that were written and of which some lines are over and others are live, oldest first. */
export async function listMixedFiles(db: Db, limit: number): Promise<MixedFileRow[]> {
  return await db.rows(sql`
    select f.file_id, f.environment, f.rail, f.paise, counted.over, counted.live
    from payout_files as f
    cross join lateral (
      select count(*) filter (where l.state <> 'live')::int as over,
        count(*) filter (where l.state = 'live')::int as live
      from payout_file_lines as l
      where l.file_id = f.file_id
    ) as counted
    where f.state = 'live' and f.sha256 is not null and counted.over > 0
    order by f.file_id
    limit ${limit}`);
}

/** Frees the payouts of voided lines for another file. */
export async function setItemsVoid(
  tx: Tx,
  fileId: string,
  ordinals: readonly number[],
): Promise<void> {
  await tx.rows(sql`
    update payout_file_items
    set is_void = true
    where file_id = ${fileId} and ordinal = any(${ordinals}::int[])`);
}

/** Stores the digest of the bytes at the first read. */
export async function setDigest(tx: Tx, fileId: string, digest: Buffer): Promise<void> {
  await tx.rows(sql`
    update payout_files
    set sha256 = ${digest}
    where file_id = ${fileId} and sha256 is null`);
}

/** Sealed account numbers of lines; the id is the file's id and the ordinal. */
export async function listSealedLines(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer; readonly firm_id: string }[]> {
  return await db.rows(sql`
    select file_id || ':' || ordinal as id, account_sealed as sealed, firm_id
    from payout_file_lines
    where (file_id, ordinal) > (
      split_part(${after}, ':', 1), coalesce(nullif(split_part(${after}, ':', 2), '')::int, -1)
    )
    order by file_id, ordinal
    limit ${limit}`);
}

/** Updates only rows whose seal is unchanged. Rows are locked in order first. */
export async function setSealedLines(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update payout_file_lines as t
    set account_sealed = n.after
    from (
      select r.file_id, r.ordinal, given.after
      from (
        select split_part(id, ':', 1) as file_id, split_part(id, ':', 2)::int as ordinal,
          before, after
        from ${resealedRows(rows)} as given
        order by 1, 2
      ) as given
      cross join lateral (
        select file_id, ordinal
        from payout_file_lines
        where file_id = given.file_id and ordinal = given.ordinal
          and account_sealed = given.before
        for no key update
      ) as r
    ) as n
    where t.file_id = n.file_id and t.ordinal = n.ordinal`);
}
