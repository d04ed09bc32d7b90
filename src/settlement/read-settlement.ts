import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Db } from "../platform/postgres.ts";
import { findSettlement } from "./read-store.ts";
import type { Settlement } from "./schema.ts";
import { listLegs } from "./store.ts";
import { viewSettlement } from "./view-settlement.ts";

export async function readSettlement(
  ctx: { readonly db: Db },
  caller: Caller,
  settlementId: string,
): Promise<Settlement> {
  const party = holderOf(caller);
  const row = isId("stl", settlementId)
    ? await findSettlement(ctx.db, party, settlementId)
    : undefined;
  if (!row) throw notFound();
  return viewSettlement(row, await listLegs(ctx.db, [settlementId]), party);
}
