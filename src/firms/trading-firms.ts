import type { Db, Tx } from "../platform/postgres.ts";
import { type FirmRow, listIdentities, shareFirms } from "./store.ts";

/** What of a firm decides whether and with whom it deals. */
export type TradingFirm = Pick<
  FirmRow,
  "firm_id" | "desk_id" | "pan" | "connection_state" | "mandate" | "legal_name"
>;

/** The firms of these ids, which stay as they are until the transaction ends. */
export async function tradingFirms(
  tx: Tx,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, TradingFirm>> {
  const rows = await shareFirms(tx, firmIds);
  return new Map(rows.map((row) => [row.firm_id, row]));
}

/** By whom firms are known to be the same company, wherever they are registered. */
export async function pansOf(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (firmIds.length === 0) return new Map();
  const rows = await listIdentities(db, firmIds);
  return new Map(rows.map((row) => [row.firm_id, row.pan]));
}

/** By what customs knows firms. */
export async function iecsOf(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await listIdentities(db, firmIds);
  return new Map(rows.map((row) => [row.firm_id, row.iec]));
}
