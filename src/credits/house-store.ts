import type { Environment } from "../kernel/caller.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { CreditRow } from "./store.ts";

export type HouseCreditRow = Pick<CreditRow, "scrip_no" | "scheme" | "face_paise" | "expires_on">;

/** The house's credits for sale, by scrip number. */
export async function listHouseCredits(
  db: Db,
  environment: Environment,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<HouseCreditRow[]> {
  return await db.rows(sql`
    select c.scrip_no, c.scheme, c.face_paise, c.expires_on
    from credits as c
    where c.environment = ${environment} and c.house_offers and c.scrip_no > ${after}
    order by c.scrip_no
    limit ${limit}`);
}

/**
 * `scrip_no` is null when nothing changed; `face_paise` is null when the house no longer sells it.
 */
export type HouseChangeRow = Pick<HouseCreditRow, "scheme" | "expires_on"> & {
  readonly horizon: string;
  readonly scrip_no: string | null;
  readonly face_paise: number | null;
};

/**
 * The numbers that changed since a horizon, as they are now, and the next horizon: the oldest
 * running transaction. Transaction ids above the snapshot come from a restored backup and are
 * ignored. The current holding is looked up last, per number, whatever the statistics say.
 */
export async function listHouseChanges(
  db: Db,
  environment: Environment,
  { horizon, limit }: { readonly horizon: string | null; readonly limit: number },
): Promise<HouseChangeRow[]> {
  return await db.rows(sql`
    select next.horizon, changed.scrip_no, changed.scheme, c.face_paise, c.expires_on
    from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) as next
    left join (
      select distinct c.scrip_no, c.scheme
      from credits as c
      where c.environment = ${environment} and c.house_changed_in >= ${horizon}::xid8
        and c.house_changed_in < pg_snapshot_xmax(pg_current_snapshot())
      limit ${limit}
    ) as changed on true
    left join lateral (
      select c.house_offers, c.face_paise, c.expires_on
      from credits as c
      where c.environment = ${environment} and c.scrip_no = changed.scrip_no
        and c.standing = 'live'
      limit 1
    ) as c on c.house_offers`);
}
