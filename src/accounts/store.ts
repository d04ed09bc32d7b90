// What the month's pack reads beside the books: who the firms are.

import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { PackFirm } from "./pack-rules.ts";

export async function listPackFirms(db: Db, firmIds: readonly string[]): Promise<PackFirm[]> {
  return await db.rows(sql`
    select firm_id, legal_name, pan, gstin
    from firms
    where firm_id = any(${firmIds}::text[])`);
}
