// A fee of the house is a service and bears tax; the value of a credit does not.

import { type Bps, bpsOfPar, type Paise, priceFloor } from "./money.ts";

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
  return { feePaise, gstPaise: nearest(BigInt(feePaise) * BigInt(gstBps), BigInt(bpsOfPar)) };
}

/** What of an amount that includes the tax is fee, and what is tax. */
export function feeWithin(grossPaise: Paise): Fee {
  const gstPaise = nearest(BigInt(grossPaise) * BigInt(gstBps), BigInt(bpsOfPar + gstBps));
  return { feePaise: grossPaise - gstPaise, gstPaise };
}

/** The fee, or as much of it with its tax as there is room for. */
export function feeUpTo(roomPaise: Paise, fee: Fee): Fee {
  return fee.feePaise + fee.gstPaise <= roomPaise ? fee : feeWithin(roomPaise);
}

/** To the nearest paisa, half a paisa up, as tax is rounded. */
function nearest(dividend: bigint, divisor: bigint): Paise {
  return Number((2n * dividend + divisor) / (2n * divisor));
}
