import type { Environment } from "../kernel/caller.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { TimeSpan } from "../kernel/query-time.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";

export type DeskRow = {
  readonly desk_id: string;
  readonly environment: Environment;
  readonly legal_name: string;
  readonly iec: string | null;
  readonly connection_state: string;
  /** Of its root keys that are not revoked. */
  readonly plans: readonly string[];
  readonly client_firms: number;
  readonly created_at: Date;
};

/** Desks, newest first; their client firms are counted up to `most`. */
export async function listDeskRows(
  db: Db,
  filter: TimeSpan & {
    readonly environment: Environment | null;
    readonly deskId: string | null;
    readonly most: number;
  },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<DeskRow[]> {
  return await db.rows(sql`
    select d.firm_id as desk_id, d.environment, d.legal_name, d.iec, d.connection_state, d.created_at,
      array(
        select distinct k.plan
        from api_keys as k
        where k.desk_id = d.firm_id and k.kind = 'root' and k.state = 'active'
        order by k.plan
      ) as plans,
      (select count(*)::int from (
        select from firms as f
        where f.desk_id = d.firm_id and f.firm_id <> d.firm_id
        limit ${filter.most}) as clients) as client_firms
    from (
      select firm_id, environment, legal_name, iec, connection_state, created_at
      from firms
      where desk_id = firm_id
        and (${after?.at ?? null}::timestamptz is null
          or (created_at, firm_id) < (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::text))
        and (${filter.environment}::text is null or environment = ${filter.environment})
        and (${filter.deskId}::text is null or firm_id = ${filter.deskId})
        and (${filter.from}::timestamptz is null or created_at >= ${filter.from})
        and (${filter.to}::timestamptz is null or created_at < ${filter.to})
        and firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002')
      order by created_at desc, firm_id desc
      limit ${fetch}
    ) as d
    order by d.created_at desc, d.firm_id desc`);
}

/** The desk that an order belongs to. */
export async function findDeskOfOrder(db: Db, orderId: string): Promise<string | undefined> {
  const [row] = await db.rows<{ desk_id: string }>(sql`
    select desk_id
    from orders
    where order_id = ${orderId}`);
  return row?.desk_id;
}

export type FirmName = { readonly firm_id: string; readonly legal_name: string };

export async function listFirmNames(db: Db, firmIds: readonly string[]): Promise<FirmName[]> {
  return await db.rows(sql`
    select firm_id, legal_name
    from firms
    where firm_id = any(${firmIds}::text[])`);
}
