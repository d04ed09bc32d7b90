import type { Blocker } from "../firms/offboard-firm.ts";
import type { Tx } from "../platform/postgres.ts";
import { listUnfinished } from "./store.ts";

/** The payouts that a firm still has to get before it leaves. */
export async function unfinishedPayoutsOf(
  tx: Tx,
  deskId: string,
  firmId: string,
): Promise<Blocker[]> {
  const rows = await listUnfinished(tx, deskId, firmId);
  return rows.map(({ payout_id, paise }) => ({
    type: "payout",
    id: payout_id,
    href: `/v1/payouts/${payout_id}`,
    amount_paise: paise,
  }));
}
