// What of this slice is sealed, for whoever changes the master key.

import type { Passage } from "../kernel/passage.ts";
import { sql, type Tx } from "../platform/postgres/postgres.ts";
import { sealedColumn } from "../platform/sealed-column.ts";

/** Account numbers. */
export const accountColumn = sealedColumn({
  table: "firms",
  id: "firm_id",
  sealed: "bank_sealed",
});

/** The holds on a desk's firms end sooner; how many there are. */
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
