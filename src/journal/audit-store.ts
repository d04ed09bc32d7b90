import type { Environment } from "../kernel/caller.ts";
import { command, type Db, type Query, query, sql } from "../platform/postgres/postgres.ts";
import { bigint, hex, table, text } from "../platform/postgres/table.ts";
import { type Head, startOfChain } from "./audit-rules.ts";

export type ChainDesk = { readonly environment: Environment; readonly desk_id: string };

const auditHeads = table("audit_heads", {
  environment: text<Environment>(),
  desk_id: text(),
  seq: bigint(),
  hash: hex(),
});

/** The head of a chain that is locked, and the form in which it goes on. */
export type LockedHead = ChainDesk & Head & { readonly form: number };

/**
 * Locks the heads of the desks' chains until the end of the transaction; a desk without records gets
 * `start`. One statement in the order of the desks, so that new chains are locked in that order too.
 */
export function lockHeads(desks: readonly ChainDesk[], start: Head): Query<LockedHead[]> {
  return query(sql`
    insert into audit_heads as h ${auditHeads.values(["environment", "desk_id"], desks, start)}
    order by environment, desk_id
    on conflict (environment, desk_id) do update set seq = h.seq
    returning environment, desk_id, seq, encode(hash, 'hex') as hash,
      (select form from journal_form) as form`);
}

/** The heads must be locked. */
export function setHeads(heads: readonly (ChainDesk & Head)[]): Query<void> {
  return command(sql`
    update audit_heads as h
    set seq = r.seq, hash = r.hash
    from ${auditHeads.rows(auditHeads.all, heads)} as r
    where h.environment = r.environment and h.desk_id = r.desk_id`);
}

/** The head of a desk's chain; `startOfChain` when it has no record. */
export async function findHead(db: Db, { environment, desk_id }: ChainDesk): Promise<Head> {
  const [row] = await db.rows<Head>(sql`
    select seq, encode(hash, 'hex') as hash
    from audit_heads
    where environment = ${environment} and desk_id = ${desk_id}`);
  return row ?? startOfChain;
}

/** The next desk with records or a head, by environment and id. */
export async function findNextDesk(
  db: Db,
  { environment, desk_id }: { readonly environment: Environment | ""; readonly desk_id: string },
): Promise<ChainDesk | undefined> {
  const [row] = await db.rows<ChainDesk>(sql`
    (
      select environment, desk_id
      from former_audit_records
      where (environment, desk_id) > (${environment}, ${desk_id})
      order by environment, desk_id
      limit 1
    )
    union all
    (
      select environment, desk_id
      from journal_blocks
      where (environment, desk_id) > (${environment}, ${desk_id})
      order by environment, desk_id
      limit 1
    )
    union all
    (
      select environment, desk_id
      from audit_heads
      where (environment, desk_id) > (${environment}, ${desk_id})
      order by environment, desk_id
      limit 1
    )
    order by environment, desk_id
    limit 1`);
  return row;
}

type SuccessionRow = {
  readonly former_key: string;
  readonly public_key: string;
  readonly signed_by_former: string;
  readonly signed_by_new: string;
};

export async function insertSuccession(db: Db, row: SuccessionRow, now: Date): Promise<void> {
  await db.rows(sql`
    insert into audit_key_successions (
      former_key, public_key, signed_by_former, signed_by_new, at
    )
    values (
      ${row.former_key}, ${row.public_key}, ${row.signed_by_former}, ${row.signed_by_new}, ${now}
    )
    on conflict do nothing`);
}

export async function listSuccessions(db: Db): Promise<SuccessionRow[]> {
  return await db.rows(sql`
    select former_key, public_key, signed_by_former, signed_by_new
    from audit_key_successions
    order by at desc, former_key`);
}
