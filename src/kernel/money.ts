// Amounts as people in India read them: rupees with two decimals, grouped by thousand, lakh, crore.
//
// A fee of the house is a service and bears tax; the value of a credit does not.

import type { Side } from "./scheme.ts";

// Money is a whole number of paise, a price a whole number of basis points of face. Their product
// can exceed what a double holds exactly, so it is made in BigInt, and every division says which way
// it rounds: down when the house pays, up when the house is paid.

/** A whole number of paise. */
export type Paise = number;
/** A whole number of basis points of face. */
export type Bps = number;

export const bpsOfPar = 10_000;

const par = BigInt(bpsOfPar);

/** What the house pays for a face at a price. */
export function priceFloor(facePaise: Paise, priceBps: Bps): Paise {
  return Number((BigInt(facePaise) * BigInt(priceBps)) / par);
}

/** What the house is paid for a face at a price. */
export function priceCeil(facePaise: Paise, priceBps: Bps): Paise {
  return Number((BigInt(facePaise) * BigInt(priceBps) + par - 1n) / par);
}

/**
 * What a further face at the same price adds to what was paid for the first: summed up, the parts of
 * one order are exactly the rounding of its whole.
 */
export function addedFloor(before: Paise, added: Paise, priceBps: Bps): Paise {
  return priceFloor(before + added, priceBps) - priceFloor(before, priceBps);
}

export function addedCeil(before: Paise, added: Paise, priceBps: Bps): Paise {
  return priceCeil(before + added, priceBps) - priceCeil(before, priceBps);
}

/** `-1,23,45,678.90`; exact for every whole number of paise. */
export function rupeesText(paise: PaiseSum): string {
  const digits = String(paise).replace("-", "").padStart(3, "0");
  const rupees = digits.slice(0, -2);
  const head = rupees.slice(0, -3).replace(/\B(?=(\d{2})+$)/g, ",");
  const grouped = head === "" ? rupees : `${head},${rupees.slice(-3)}`;
  return `${paise < 0 ? "-" : ""}${grouped}.${digits.slice(-2)}`;
}

/** `-12345678.90`, for programs. */
export function rupeesPlain(paise: PaiseSum): string {
  return rupeesText(paise).replaceAll(",", "");
}

/** `97.65 %` of face. */
export function percentText(priceBps: Bps): string {
  return `${rupeesPlain(priceBps)} %`;
}

// Sums of paise. One amount is at most 2^53 - 1, which a double holds exactly; a sum of many may be
// more, and no sum is ever rounded or refused for its size. It is a number while that is exact, so
// that what is hot stays cheap, and a BigInt beyond.

/** A whole number of paise: a number where a double holds it exactly, a BigInt anywhere else. */
export type PaiseSum = number | bigint;

export function addPaise(one: PaiseSum, other: PaiseSum): PaiseSum {
  if (typeof one === "number" && typeof other === "number") {
    const sum = one + other;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return narrow(BigInt(one) + BigInt(other));
}

export function subtractPaise(one: PaiseSum, other: PaiseSum): PaiseSum {
  return addPaise(one, negatePaise(other));
}

/** Never minus zero. */
export function negatePaise(paise: PaiseSum): PaiseSum {
  return typeof paise === "number" ? 0 - paise : narrow(-paise);
}

export function sumPaise(amounts: readonly PaiseSum[]): PaiseSum {
  return amounts.reduce(addPaise, 0);
}

/** What of a sum one amount may be: all of it, or the most that one amount can be. */
export function asAmount(paise: PaiseSum): number {
  if (typeof paise === "number") return paise;
  return paise < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

const digitsOfDouble = 15;

/** Reads a whole number as the database writes it. */
export function readPaise(text: string): PaiseSum {
  return text.length <= digitsOfDouble ? Number(text) : narrow(BigInt(text));
}

function narrow(paise: bigint): PaiseSum {
  const number = Number(paise);
  return Number.isSafeInteger(number) ? number : paise;
}

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
