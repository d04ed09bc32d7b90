import type { Environment } from "../kernel/caller.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bigint, day, table, text, time } from "../platform/postgres/table.ts";

const auditCheckpoints = table("audit_checkpoints", {
  environment: text(),
  desk_id: text(),
  seq: bigint(),
  line: text(),
  made_on: day(),
  made_at: time(),
});

/** The head of a desk's chain. */
export type DeskHead = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly seq: number;
  readonly hash: string;
};

export type CheckpointRow = Pick<DeskHead, "environment" | "desk_id" | "seq"> & {
  readonly line: string;
};

/**
 * Desks whose chains began before today, have no checkpoint of today and have grown by more than the
 * record of their last checkpoint.
 */
export async function listDue(db: Db, today: IstDay, limit: number): Promise<DeskHead[]> {
  return await db.rows(sql`
    select h.environment, h.desk_id, h.seq, encode(h.hash, 'hex') as hash
    from audit_heads as h
    left join lateral (
      select c.seq, c.made_on
      from audit_checkpoints as c
      where c.environment = h.environment and c.desk_id = h.desk_id
      order by c.seq desc
      limit 1
    ) as last on true
    where h.seq > coalesce(last.seq + 1, 0) and coalesce(last.made_on < ${today}::date, true)
      and coalesce(
        (
          select r.at
          from former_audit_records as r
          where r.environment = h.environment and r.desk_id = h.desk_id and r.seq = 1
        ),
        (
          select b.at
          from journal_blocks as b
          where b.environment = h.environment and b.desk_id = h.desk_id and b.first_seq = 1
        )
      ) < (${today}::date::timestamp at time zone interval '5:30')
    order by h.environment, h.desk_id
    limit ${limit}`);
}

/**
 * Inserts checkpoints of chains that have grown by more than the record of their last one, and returns
 * their desks; another process has inserted the others.
 */
export async function insertCheckpoints(
  tx: Tx,
  rows: readonly CheckpointRow[],
  { today, now }: { readonly today: IstDay; readonly now: Date },
): Promise<Pick<CheckpointRow, "environment" | "desk_id">[]> {
  const made = auditCheckpoints.values(["environment", "desk_id", "seq", "line"], rows, {
    made_on: today,
    made_at: now,
  });
  return await tx.rows(sql`
    insert into audit_checkpoints ${made}
    where not exists (
      select
      from audit_checkpoints as c
      where c.environment = r.environment and c.desk_id = r.desk_id and c.seq >= r.seq - 1
    )
    on conflict do nothing
    returning environment, desk_id`);
}

export async function listUnsent(db: Db, limit: number): Promise<CheckpointRow[]> {
  return await db.rows(sql`
    select environment, desk_id, seq, line
    from audit_checkpoints
    where sent_at is null
    order by made_at, environment, desk_id
    limit ${limit}`);
}

export async function countUnsent(db: Db): Promise<number> {
  const [row] = await db.rows<{ unsent: number }>(sql`
    select count(*) as unsent
    from audit_checkpoints
    where sent_at is null`);
  return row?.unsent ?? 0;
}

export async function setSent(db: Db, rows: readonly CheckpointRow[], now: Date): Promise<void> {
  await db.rows(sql`
    update audit_checkpoints as c
    set sent_at = ${now}
    from ${auditCheckpoints.rows(["environment", "desk_id", "seq"], rows)} as r
    where c.environment = r.environment and c.desk_id = r.desk_id and c.seq = r.seq`);
}
