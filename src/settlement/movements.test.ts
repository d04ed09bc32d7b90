import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { houseFirmId } from "../kernel/ids.ts";
import { accountName, type Movement } from "../ledger/rules.ts";
import { buildMoneyMovements } from "./movements.ts";
import type { LegRow } from "./store.ts";

const house = houseFirmId.sandbox;
const paise = fc.integer({ min: 0, max: 1_000_000 });

const sums = fc.record({
  buyer_paise: paise,
  seller_paise: paise,
  buyer_fee_paise: paise,
  buyer_gst_paise: paise,
  seller_fee_paise: paise,
  seller_gst_paise: paise,
});

test("each side pays or gets its own amount, and fee and tax go to their own accounts", () => {
  fc.assert(
    fc.property(sums, (leg) => {
      const balances = balancesAfter(buildMoneyMovements(buildLeg("frm_seller", leg), "frm_buyer"));
      assert.equal(balances.get("firm_cash:frm_buyer") ?? 0, 0 - leg.buyer_paise);
      assert.equal(balances.get("firm_cash:frm_seller") ?? 0, leg.seller_paise);
      assert.equal(balances.get("house_fees") ?? 0, leg.buyer_fee_paise + leg.seller_fee_paise);
      assert.equal(balances.get("gst_payable") ?? 0, leg.buyer_gst_paise + leg.seller_gst_paise);
    }),
  );
});

test("the house on either side keeps the other's payment less fee and tax", () => {
  fc.assert(
    fc.property(sums, (leg) => {
      const sold = balancesAfter(buildMoneyMovements(buildLeg(house, leg), "frm_buyer"));
      assert.equal(houseSum(sold), leg.buyer_paise);
      const bought = balancesAfter(buildMoneyMovements(buildLeg("frm_seller", leg), house));
      assert.equal(houseSum(bought), 0 - leg.seller_paise);
    }),
  );
});

function buildLeg(sellerFirmId: string, leg: Partial<LegRow>): LegRow {
  return { seller_firm_id: sellerFirmId, ...leg } as LegRow; // The rest of it moves no money.
}

function balancesAfter(movements: readonly Movement[]): Map<string, number> {
  const balances = new Map<string, number>();
  const add = (account: string, paise: number) =>
    balances.set(account, (balances.get(account) ?? 0) + paise);
  for (const movement of movements) {
    if (!("paise" in movement)) continue;
    add(accountName(movement.from), -movement.paise);
    add(accountName(movement.to), movement.paise);
  }
  return balances;
}

function houseSum(balances: ReadonlyMap<string, number>): number {
  return ["house_cash", "house_fees", "gst_payable"].reduce(
    (sum, account) => sum + (balances.get(account) ?? 0),
    0,
  );
}
