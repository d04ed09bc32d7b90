// What the house of a test has to sell.

import assert from "node:assert/strict";

import { addInventory, type InventoryItem } from "../../src/credits/inventory.ts";
import type { Credit } from "../../src/credits/schema.ts";
import { operator } from "../../src/kernel/actor.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import { addDays, istDay } from "../../src/kernel/time.ts";
import type { Context } from "../../src/platform/context.ts";

let stocked = 0;

/** Adds credits to the house as an operator does: a number and two years are taken where none is said. */
export async function stockHouse(
  ctx: Context,
  items: readonly (Pick<InventoryItem, "face_paise"> & Partial<InventoryItem>)[],
  environment: Environment = "sandbox",
): Promise<Credit[]> {
  const expiresOn = addDays(istDay(ctx.now()), 730);
  const { results } = await addInventory(ctx, operator, {
    environment,
    items: items.map((item) => ({
      scrip_no: `STOCK-${String(++stocked).padStart(6, "0")}1`,
      scheme: "RODTEP",
      expires_on: expiresOn,
      ...item,
    })),
  });
  return results.map(({ credit, error }) => credit ?? assert.fail(error?.message));
}
