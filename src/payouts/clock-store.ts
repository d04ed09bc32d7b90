import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import { sql, type Tx } from "../platform/postgres/postgres.ts";

/** Moves reviews and ends of holds earlier; returns the ids. No index has their order. */
export async function movePayoutsEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: ClockAdvance,
  { after, limit }: Cursor,
): Promise<string[]> {
  const rows = await tx.rows<{ payout_id: string }>(sql`
    update payouts
    set look_at = look_at - make_interval(secs => ${seconds}),
      held_until = held_until - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where payout_id = any(array(
      select payout_id
      from payouts
      where environment = ${environment} and desk_id = ${deskId} and look_at is not null
        and created_at <= ${now} and payout_id || '' > ${after}
      order by payout_id || ''
      limit ${limit}
      for update
    ))
    returning payout_id`);
  return rows.map(({ payout_id }) => payout_id).toSorted();
}
