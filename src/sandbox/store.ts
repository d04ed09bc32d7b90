import { sql, type Tx } from "../platform/postgres/postgres.ts";

/** Advances a desk's clock; returns by how many seconds it is ahead in total. */
export async function addToClock(tx: Tx, deskId: string, seconds: number): Promise<number> {
  const [clock] = await tx.rows<{ ahead_s: number }>(sql`
    insert into desk_clocks as c (desk_id, ahead_s)
    values (${deskId}, ${seconds})
    on conflict (desk_id) do update set ahead_s = c.ahead_s + excluded.ahead_s
    returning c.ahead_s`);
  if (!clock) throw new Error("an advanced clock exists");
  return clock.ahead_s;
}

export async function deleteClock(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`delete from desk_clocks where desk_id = ${deskId}`);
}
