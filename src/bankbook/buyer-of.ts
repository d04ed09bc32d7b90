import { buyersOfCrosses } from "../crosses/fund-received.ts";
import { firmById } from "../firms/firm-by-id.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Db } from "../platform/postgres.ts";
import { buyersOfSettlements } from "../settlement/fund-received.ts";

/** Whose money a settlement or cross waits for. */
export async function buyerOf(
  db: Db,
  dealId: string,
): Promise<{ readonly firmId: string; readonly environment: Environment }> {
  const buyers = isId("stl", dealId)
    ? await buyersOfSettlements(db, [dealId])
    : await buyersOfCrosses(db, isId("crs", dealId) ? [dealId] : []);
  const firmId = buyers.get(dealId);
  if (firmId === undefined) throw new Failure("not_found", `no settlement or cross ${dealId}`);
  const { environment } = await firmById(db, firmId);
  return { firmId, environment };
}
