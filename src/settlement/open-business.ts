import type { Blocker } from "../firms/offboard-firm.ts";
import type { Tx } from "../platform/postgres.ts";
import { listOpenOfFirm } from "./read-store.ts";

/** The settlements that a firm still has to wait for before it leaves. */
export async function openSettlementsOf(
  tx: Tx,
  deskId: string,
  firmId: string,
): Promise<Blocker[]> {
  const rows = await listOpenOfFirm(tx, deskId, firmId);
  return rows.map(({ settlement_id }) => ({
    type: "settlement",
    id: settlement_id,
    href: `/v1/settlements/${settlement_id}`,
  }));
}
