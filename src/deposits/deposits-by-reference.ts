import type { Environment } from "../kernel/caller.ts";
import type { Db } from "../platform/postgres.ts";
import { type DepositRow, listDeposits } from "./store.ts";

/** Money that came in before under these references. */
export async function depositsByReference(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<ReadonlyMap<string, Pick<DepositRow, "firm_id" | "paise">>> {
  if (references.length === 0) return new Map();
  const rows = await listDeposits(db, environment, references);
  return new Map(rows.map((row) => [row.reference, row]));
}
