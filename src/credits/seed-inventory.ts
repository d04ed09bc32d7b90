import { houseFirmId } from "../kernel/house.ts";
import { newId } from "../kernel/ids.ts";
import { schemes } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { seededRow } from "./seeded-row.ts";
import { findCredit, lockStocking, seedRows } from "./store.ts";
import { inventoryNo, syntheticInventory } from "./synthetic-credits.ts";

const creditsPerScheme = 300;

const environment = "sandbox";
const house = houseFirmId[environment];

/**
 * Gives the sandbox's house something to sell, once in the life of a database: what was sold or has
 * lapsed does not come back. Like every seed it is a fixture: nothing is told of it and no audit
 * row is written. Answers how many credits were made.
 */
export async function seedInventory(ctx: Pick<Context, "db" | "now">): Promise<number> {
  if (await isStocked(ctx.db)) return 0;
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(async (tx) => {
    await lockStocking(tx);
    if (await isStocked(tx)) return 0;
    const rows = schemes
      .flatMap((scheme) => syntheticInventory({ scheme, count: creditsPerScheme }, today))
      .map((credit) => ({
        ...seededRow(credit, { environment, deskId: house, firmId: house, today, now }),
        credit_id: newId("crd", now),
      }));
    await seedRows(tx, { environment, deskId: house, now }, rows);
    return rows.length;
  });
}

/** The first credit of a seed stays known, whatever becomes of it. */
async function isStocked(db: Db): Promise<boolean> {
  const first = inventoryNo(schemes[0], 1);
  return (await findCredit(db, { deskId: house, firmId: house }, first)) !== undefined;
}
