// A fee of the house is a service and bears tax; the value of a credit does not.

import { type Bps, bpsOfPar, type Paise, priceFloor } from "./money.ts";
import type { Side } from "./side.ts";

/** Scrips are documents of title under this heading of the tariff, and exempt. */
export const scripHsn = "4907";

/** Goods and services tax on a fee, in basis points of it. */
export const gstBps: Bps = 1_800;

/** A fee and the tax on it, which is not part of it. */
export type Fee = { readonly feePaise: Paise; readonly gstPaise: Paise };

export const noFee: Fee = { feePaise: 0, gstPaise: 0 };

/** The fee on a face, rounded down, with the tax on top of it. */
export function feeOn(facePaise: Paise, feeBps: Bps): Fee {
  if (feeBps === 0) return noFee;
  const feePaise = priceFloor(facePaise, feeBps);
  return { feePaise, gstPaise: roundNearest(BigInt(feePaise) * BigInt(gstBps), BigInt(bpsOfPar)) };
}

/** What of an amount that includes the tax is fee, and what is tax. */
export function feeWithin(grossPaise: Paise): Fee {
  const gstPaise = roundNearest(BigInt(grossPaise) * BigInt(gstBps), BigInt(bpsOfPar + gstBps));
  return { feePaise: grossPaise - gstPaise, gstPaise };
}

/** The fee, or as much of it with its tax as there is room for. */
export function feeUpTo(roomPaise: Paise, fee: Fee): Fee {
  return fee.feePaise + fee.gstPaise <= roomPaise ? fee : feeWithin(roomPaise);
}

/** The value of a credit is what changes hands before the fee and the tax on it. */
export function valueBeforeFee(side: Side, allInPaise: Paise, { feePaise, gstPaise }: Fee): Paise {
  const taken = feePaise + gstPaise;
  return side === "sell" ? allInPaise + taken : allInPaise - taken;
}

/** To the nearest paisa, half a paisa up, as tax is rounded. */
export function roundNearest(dividend: bigint, divisor: bigint): Paise {
  return Number((2n * dividend + divisor) / (2n * divisor));
}
