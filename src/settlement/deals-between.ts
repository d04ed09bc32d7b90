import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres.ts";
import { type DealRow, listDeals } from "./tape-store.ts";

/** One credit that changed hands by an agreed price. */
export type Deal = DealRow;

/** What was dealt between two instants, oldest first; the second is not part of it. */
export async function dealsBetween(
  db: Db,
  span: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<readonly Deal[]> {
  return await listDeals(db, span);
}
