import type { Blocker } from "../firms/offboard-firm.ts";
import type { Tx } from "../platform/postgres.ts";
import { listOpenOfFirm } from "./store.ts";

const namedMax = 100;

/** Orders that rest keep a firm from leaving. */
export async function openOrdersOf(tx: Tx, _deskId: string, firmId: string): Promise<Blocker[]> {
  const open = await listOpenOfFirm(tx, firmId, namedMax);
  return open.map(({ order_id }) => ({
    type: "order",
    id: order_id,
    href: `/v1/orders/${order_id}`,
  }));
}
