import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type Db, sql } from "../platform/postgres.ts";

/** One credit that changed hands, as the market is told of it. */
export type DealRow = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly dealt_at: Date;
  readonly seller_firm_id: string;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly buyer_bps: number;
};

/** The tape, oldest first: from the first instant, up to and without the second. */
export async function listDeals(
  db: Db,
  {
    environment,
    scheme,
    from,
    to,
  }: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<DealRow[]> {
  return await db.rows(sql`
    select settlement_id, scrip_no, dealt_at, seller_firm_id, face_paise, seller_bps, buyer_bps
    from settlement_legs
    where environment = ${environment} and scheme = ${scheme}
      and dealt_at >= ${from} and dealt_at < ${to}
    order by dealt_at, settlement_id, scrip_no`);
}
