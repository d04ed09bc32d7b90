// The blocks of the journal. Whoever inserts has locked the desk's head, so blocks follow each other
// without a gap. The rows of former tables, from before there were blocks, are in `former-store.ts`.

import type { Environment } from "../kernel/caller.ts";
import { command, type Db, fragment, type Query, sql } from "../platform/postgres/postgres.ts";
import {
  bigint,
  bigintList,
  bytes,
  hex,
  int,
  json,
  smallint,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import { blockForm, type Head } from "./audit-rules.ts";
import type { ChainDesk } from "./audit-store.ts";
import {
  type Block,
  entityKey,
  recordsPerBlockMax,
  type SummaryLine,
  type TraceFrom,
} from "./block-rules.ts";

const journalBlocks = table("journal_blocks", {
  environment: text<Environment>(),
  desk_id: text(),
  first_seq: bigint(),
  last_seq: bigint(),
  first_sequence: bigint().orNull,
  last_sequence: bigint().orNull,
  at: time(),
  form: smallint(),
  entities: bigintList(),
  summary: json<readonly SummaryLine[]>(),
  packed: bytes(),
  hash: hex().orNull,
  hashes: hex().orNull,
  traces: json<readonly TraceFrom[]>().orNull,
});

export type NewBlock = Omit<Block, "at_text" | "hashes"> & {
  readonly hash: string | null;
  readonly hashes: string | null;
  readonly entities: readonly number[];
  readonly summary: readonly SummaryLine[];
  readonly traces: readonly TraceFrom[] | null;
};

export function insertBlocks(rows: readonly NewBlock[], at: Date): Query<void> {
  return command(sql`
    insert into journal_blocks ${journalBlocks.values(journalBlocks.all, rows, { at })}`);
}

/** Whether blocks are written in form 3: from when no session of a version is left that cannot read it. */
export async function raiseForm(db: Db): Promise<boolean> {
  await db.rows(sql`
    update journal_form
    set form = ${blockForm}
    where form < ${blockForm} and not exists (
      select
      from pg_stat_activity
      where datname = current_database() and application_name = ${formerSessionName}
    )`);
  const [row] = await db.rows<{ is_raised: boolean }>(sql`
    select form = ${blockForm} as is_raised
    from journal_form`);
  return row?.is_raised ?? false;
}

/** What sessions of versions that read forms 1 and 2 are called. */
const formerSessionName = "scripdesk";

const journalClients = table("journal_clients", {
  desk_id: text(),
  firm_id: text(),
  last_sequence: bigint(),
  events: int(),
});

/** The events of one client firm in a block. */
export type ClientRow = {
  readonly desk_id: string;
  readonly firm_id: string;
  /** That of the block. */
  readonly last_sequence: number;
  readonly events: number;
};

export function insertClients(rows: readonly ClientRow[]): Query<void> {
  return command(sql`
    insert into journal_clients ${journalClients.values(journalClients.all, rows)}`);
}

const blockColumns = fragment`
  environment, desk_id, first_seq, last_seq, first_sequence, last_sequence, form, packed,
  encode(coalesce(hash, hashes), 'hex') as hashes,
  to_char(at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at_text`;

/** Blocks with records after one `seq` and up to another, oldest first. */
export async function listBlocks(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<Block[]> {
  return await db.rows(sql`
    select ${blockColumns}
    from journal_blocks
    where environment = ${environment} and desk_id = ${desk_id}
      and first_seq > ${after - recordsPerBlockMax} and first_seq <= ${upTo} and last_seq > ${after}
    order by first_seq
    limit ${limit}`);
}

export type IndexedBlock = Block & {
  readonly entities: readonly number[];
  readonly summary: readonly SummaryLine[];
};

/** Blocks after one that ends with this `seq`, with what they are found by. */
export async function listIndexedBlocks(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<IndexedBlock[]> {
  return await db.rows(sql`
    select ${blockColumns}, array_to_json(entities) as entities, summary
    from journal_blocks
    where environment = ${environment} and desk_id = ${desk_id} and first_seq > ${after}
    order by first_seq
    limit ${limit}`);
}

export type TrailFilter = {
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly actor: string | null;
  readonly action: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

export type DatedBlock = Block & { readonly at: Date };

/** Blocks that have records of a filter without an entity; newest first. */
export async function listMatchingBlocks(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { entityType, actor, action, from, to }: TrailFilter,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<DatedBlock[]> {
  return await db.rows(sql`
    select ${blockColumns}, at
    from journal_blocks
    where environment = ${environment} and desk_id = ${desk_id} and first_seq < ${before}
      and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at < ${to})
      and (coalesce(${entityType}, ${actor}, ${action}) is null or exists (
        select
        from jsonb_array_elements(summary) as line
        where (${action}::text is null or line ->> 0 = ${action})
          and (${entityType}::text is null or line ->> 1 = ${entityType})
          and (${actor}::text is null or line ->> 2 = ${actor})
      ))
    order by journal_blocks.first_seq desc
    limit ${limit}`);
}

/** Blocks that may have records of a thing, newest first. The others are not read on the way. */
export async function listBlocksWithKey(
  db: Db,
  { environment, desk_id }: ChainDesk,
  entityId: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<DatedBlock[]> {
  return await db.rows(sql`
    with found as materialized (
      select *
      from journal_blocks
      where entities @> array[${entityKey(entityId)}::bigint]
    )
    select ${blockColumns}, at
    from found
    where environment = ${environment} and desk_id = ${desk_id} and first_seq < ${before}
    order by found.first_seq desc
    limit ${limit}`);
}

/** The number of records of a filter without an entity. */
export async function countInBlocks(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { entityType, actor, action, from, to }: TrailFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select coalesce(sum((line ->> 3)::int), 0)::bigint as total
    from journal_blocks
    cross join lateral jsonb_array_elements(summary) as line
    where environment = ${environment} and desk_id = ${desk_id}
      and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at < ${to})
      and (${action}::text is null or line ->> 0 = ${action})
      and (${entityType}::text is null or line ->> 1 = ${entityType})
      and (${actor}::text is null or line ->> 2 = ${actor})`);
  return row?.total ?? 0;
}

/** Where a chain stands at a record in a block: in form 3 at the end of its block. */
export async function findLinkInBlock(
  db: Db,
  { environment, desk_id }: ChainDesk,
  seq: number,
): Promise<(Head & { readonly first_seq: number }) | undefined> {
  const [row] = await db.rows<Head & { first_seq: number }>(sql`
    select
      case when hash is null then ${seq}::bigint else last_seq end as seq,
      case when hash is null then ${seq}::bigint else first_seq end as first_seq,
      encode(
        coalesce(hash, substring(hashes from (32 * (${seq} - first_seq) + 1)::int for 32)), 'hex'
      ) as hash
    from journal_blocks
    where environment = ${environment} and desk_id = ${desk_id}
      and first_seq > ${seq - recordsPerBlockMax} and first_seq <= ${seq} and last_seq >= ${seq}`);
  return row;
}
