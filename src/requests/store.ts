import type { Environment } from "../kernel/caller.ts";
import { exactJson } from "../kernel/json.ts";
import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import { type RowOf, table, text, textList, time, json } from "../platform/postgres/table.ts";
import type { CallBlock, CallKind, CallCount } from "./rules.ts";

const requestBlocks = table("request_blocks", {
  environment: text<Environment>(),
  desk_id: text(),
  second: time(),
  block_id: text(),
  summary: json<readonly CallCount[]>(),
  echoed: textList().orNull,
  packed: text(),
});

export type StoredBlock = CallBlock & { readonly block_id: string };

export async function insertBlocks(
  db: Db,
  blocks: readonly RowOf<typeof requestBlocks>[],
): Promise<void> {
  await db.rows(sql`
    insert into request_blocks ${requestBlocks.values(requestBlocks.all, blocks)}`);
}

/** Which calls are wanted; null for all. */
export type BlockFilter = {
  readonly environment: Environment | null;
  readonly deskId: string | null;
  /** From this second on, and before that one. */
  readonly from: Date;
  readonly to: Date | null;
  readonly kind: Partial<CallKind>;
};

export type PageOfBlocks = {
  readonly before: { readonly second: Date; readonly blockId: string } | null;
  readonly limit: number;
};

const blockColumns = fragment`environment, desk_id, second, block_id, summary, packed`;

/** Blocks with calls of a kind, the latest second first. */
export async function listBlocks(
  db: Db,
  { environment, deskId, from, to, kind }: BlockFilter,
  { before, limit }: PageOfBlocks,
): Promise<StoredBlock[]> {
  return await db.rows(sql`
    select ${blockColumns}
    from request_blocks
    where (${environment}::text is null or environment = ${environment})
      and (${deskId}::text is null or desk_id = ${deskId})
      and second >= ${from} and second < coalesce(${to}::timestamptz, 'infinity')
      and summary @> ${exactJson([kind])}::jsonb
      and (second, block_id)
        < (coalesce(${before?.second ?? null}::timestamptz, 'infinity'), ${before?.blockId ?? ""})
    order by second desc, block_id desc
    limit ${limit}`);
}

export async function countCalls(
  db: Db,
  { environment, deskId, from, to, kind }: BlockFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select coalesce(sum((line -> 'calls')::bigint), 0)::bigint as total
    from request_blocks
    cross join lateral jsonb_array_elements(summary) as line
    where (${environment}::text is null or environment = ${environment})
      and (${deskId}::text is null or desk_id = ${deskId})
      and second >= ${from} and second < coalesce(${to}::timestamptz, 'infinity')
      and line @> ${exactJson(kind)}::jsonb`);
  return row?.total ?? 0;
}

/**
 * Blocks that may have the calls of an id: those of the seconds around the time that one of ours tells,
 * and those with ids that callers chose.
 */
export async function listBlocksOfId(
  db: Db,
  { requestId, at, deskId }: { requestId: string; at: Date | null; deskId: string | null },
  { before, limit }: PageOfBlocks,
): Promise<StoredBlock[]> {
  return await db.rows(sql`
    with found as materialized (
      select *
      from request_blocks
      where echoed @> array[${requestId}]::text[]
      union all
      select *
      from request_blocks
      where second between ${at}::timestamptz - interval '2 s' and ${at}::timestamptz + interval '1 s'
        and (echoed is null or not echoed @> array[${requestId}]::text[])
    )
    select ${blockColumns}
    from found
    where (${deskId}::text is null or desk_id = ${deskId})
      and (second, block_id)
        < (coalesce(${before?.second ?? null}::timestamptz, 'infinity'), ${before?.blockId ?? ""})
    order by second desc, block_id desc
    limit ${limit}`);
}
