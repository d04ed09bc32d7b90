import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { exactJson } from "../kernel/json.ts";
import type { ClockMove } from "./clock-rules.ts";

type ClockRow = { readonly ahead_s: number; readonly move: ClockMove | null };

/** Makes the clock of a desk, which is at real time at first. */
export async function openClock(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`
    insert into desk_clocks (desk_id, ahead_s)
    values (${deskId}, 0)
    on conflict (desk_id) do nothing`);
}

export async function lockClock(tx: Tx, deskId: string): Promise<ClockRow | undefined> {
  const [row] = await tx.rows<ClockRow>(sql`
    select ahead_s, move
    from desk_clocks
    where desk_id = ${deskId}
    for update`);
  return row;
}

/** Puts a locked clock forward. */
export async function setClock(
  tx: Tx,
  deskId: string,
  { aheadS, move }: { readonly aheadS: number; readonly move: ClockMove },
): Promise<void> {
  await tx.rows(sql`
    update desk_clocks
    set ahead_s = ${aheadS}, move = ${exactJson(move)}::jsonb
    where desk_id = ${deskId}`);
}

export async function setMove(tx: Tx, deskId: string, move: ClockMove): Promise<void> {
  await tx.rows(sql`
    update desk_clocks
    set move = ${exactJson(move)}::jsonb
    where desk_id = ${deskId}`);
}

/** The desks with an advance that is not finished. */
export async function listUnfinished(db: Db): Promise<string[]> {
  const rows = await db.rows<{ desk_id: string }>(sql`
    select desk_id
    from desk_clocks
    where move ->> 'room' is not null
    order by desk_id`);
  return rows.map(({ desk_id }) => desk_id);
}

export async function deleteClock(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`delete from desk_clocks where desk_id = ${deskId}`);
}
