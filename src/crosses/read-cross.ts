import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { findCross } from "./read-store.ts";
import type { Cross } from "./schema.ts";
import { viewCrosses } from "./view-cross.ts";

export async function readCross(ctx: Context, caller: Caller, crossId: string): Promise<Cross> {
  return await crossOf(ctx.db, caller, crossId);
}

/** A cross as this caller sees it at this moment of a transaction. */
export async function crossOf(db: Db, caller: Caller, crossId: string): Promise<Cross> {
  const party = holderOf(caller);
  const row = isId("crs", crossId) ? await findCross(db, party, crossId) : undefined;
  const [cross] = row ? await viewCrosses(db, [row], party) : [];
  if (!cross) throw notFound();
  return cross;
}
