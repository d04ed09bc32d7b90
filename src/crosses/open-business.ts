import type { Blocker } from "../firms/offboard-firm.ts";
import type { Tx } from "../platform/postgres.ts";
import { listOpenOfFirm } from "./read-store.ts";

const namedMax = 100;

/** The crosses that a firm has to see through, or to cancel, before it leaves. */
export async function openCrossesOf(tx: Tx, deskId: string, firmId: string): Promise<Blocker[]> {
  const open = await listOpenOfFirm(tx, { deskId, firmId }, namedMax);
  return open.map(({ cross_id }) => ({
    type: "cross",
    id: cross_id,
    href: `/v1/cross/${cross_id}`,
  }));
}
