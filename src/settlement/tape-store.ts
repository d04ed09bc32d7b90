// The tape: every deal of the market, which its figures and the public index are made of.

import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type Db, sql } from "../platform/postgres.ts";
import type { LegState } from "./rules.ts";

/** One credit that changed hands, as the market is told of it. */
export type DealRow = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly dealt_at: Date;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly buyer_bps: number;
  readonly state: LegState;
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
    select legs.settlement_id, legs.scrip_no, legs.dealt_at, legs.seller_firm_id,
      settlements.buyer_firm_id, legs.face_paise, legs.seller_bps, legs.buyer_bps, legs.state
    from settlement_legs as legs
    join settlements using (settlement_id)
    where legs.environment = ${environment} and legs.scheme = ${scheme}
      and legs.dealt_at >= ${from} and legs.dealt_at < ${to} and not legs.private
    order by legs.dealt_at, legs.settlement_id, legs.scrip_no`);
}

/** When the tape begins; undefined while it is empty. */
export async function findFirstDealAt(
  db: Db,
  { environment, scheme }: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  const [row] = await db.rows<{ dealt_at: Date }>(sql`
    select dealt_at
    from settlement_legs
    where environment = ${environment} and scheme = ${scheme} and not private
    order by dealt_at
    limit 1`);
  return row?.dealt_at;
}
