import type { Db } from "../platform/postgres.ts";
import { type FirmRow, listFirmsById } from "./store.ts";

/** By what the state knows firms. */
export async function taxpayersAmong(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<FirmRow, "pan" | "gstin">>> {
  if (firmIds.length === 0) return new Map();
  const rows = await listFirmsById(db, firmIds);
  return new Map(rows.map(({ firm_id, pan, gstin }) => [firm_id, { pan, gstin }]));
}
