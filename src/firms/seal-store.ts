import type { Passage } from "../kernel/passage.ts";
import { sql, type Tx } from "../platform/postgres/postgres.ts";
import { sealedColumn } from "../platform/sealed-column.ts";

/** The sealed account numbers, for the change of the master key. */
export const accountColumn = sealedColumn({
  table: "firms",
  id: "firm_id",
  sealed: "bank_sealed",
});

/** Moves the ends of holds on a desk's firms earlier; returns their number. */
export async function moveHoldsEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: Passage,
): Promise<number> {
  const rows = await tx.rows(sql`
    update firms
    set hold_until = hold_until - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where environment = ${environment} and desk_id = ${deskId} and hold_until > ${now}
    returning firm_id`);
  return rows.length;
}
