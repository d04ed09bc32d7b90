// Money is a whole number of paise, a price a whole number of basis points of face. Their product can
// exceed 2^53, so it is computed in BigInt, and every division names its rounding: down when the house
// pays, up when the house is paid.
//
// A fee of the house is a taxed service; the value of a credit is exempt.

import type { Side } from "./scheme.ts";

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
 * The price that a further face adds to an order at the same price. The parts of an order sum to the
 * rounded price of its whole.
 */
export function addedFloor(before: Paise, added: Paise, priceBps: Bps): Paise {
  return priceFloor(before + added, priceBps) - priceFloor(before, priceBps);
}

export function addedCeil(before: Paise, added: Paise, priceBps: Bps): Paise {
  return priceCeil(before + added, priceBps) - priceCeil(before, priceBps);
}

/**
 * Whether the buyer's share of a credit covers the seller's, whatever else is in their orders. An
 * order is rounded as a whole, so the share of one credit can be a paisa above or below its own
 * value. Where the two prices differ by less than a paisa, the seller's share could be the larger.
 */
export function coversSellerShare(facePaise: Paise, buyerBps: Bps, sellerBps: Bps): boolean {
  // Two paise between the prices cover both roundings; nearly every credit ends here.
  if (facePaise * (buyerBps - sellerBps) >= 2 * bpsOfPar) return true;
  return priceFloor(facePaise, buyerBps) >= priceCeil(facePaise, sellerBps);
}

/** The smallest face whose price, rounded up, is below the face; none saves at par or above. */
export function findLeastSaving(priceBps: Bps): Paise {
  return priceBps < bpsOfPar ? Math.ceil(bpsOfPar / (bpsOfPar - priceBps)) : Infinity;
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

const onesInWords =
  "|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Eleven|Twelve|Thirteen|Fourteen|Fifteen|Sixteen|Seventeen|Eighteen|Nineteen".split(
    "|",
  );
const tensInWords = ["Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"];

/** Whole numbers in the Indian system, of crores beyond a crore: `Ten Lakh Crore`. */
function countInWords(count: bigint): string {
  const units = [
    [10_000_000n, "Crore"],
    [100_000n, "Lakh"],
    [1_000n, "Thousand"],
    [100n, "Hundred"],
  ] as const;
  const unit = units.find(([size]) => count >= size);
  if (unit) {
    const [size, name] = unit;
    return `${countInWords(count / size)} ${name} ${countInWords(count % size)}`.trimEnd();
  }
  if (count < 20n) return onesInWords[Number(count)] ?? "";
  const tens = tensInWords[Number(count / 10n) - 2] ?? "";
  return [tens, countInWords(count % 10n)].filter((word) => word !== "").join("-");
}

/** `Rupees Twelve Lakh Thirty-Four Thousand and Fifty Paise only`, of an amount that is not negative. */
export function rupeesInWords(paise: PaiseSum): string {
  const [rupees, rest] = [BigInt(paise) / 100n, BigInt(paise) % 100n];
  const whole = rupees === 0n ? "Zero" : countInWords(rupees);
  return `Rupees ${whole}${rest > 0n ? ` and ${countInWords(rest)} Paise` : ""} only`;
}

/**
 * A sum of paise. One amount is at most 2^53 - 1; a sum may be more and is never rounded or refused. It
 * is a number while a double holds it exactly, which keeps the hot path cheap, and a BigInt beyond.
 */
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

/**
 * The sum of the parts of one amount, such as the legs of a deal. Parts that come to more than one
 * amount are a fault of ours, found here rather than rounded.
 */
export function sumParts(parts: readonly Paise[]): Paise {
  const sum = sumPaise(parts);
  if (typeof sum === "bigint") throw new RangeError(`${sum} paise are more than one amount`);
  return sum;
}

/** Splits items, in their order, into sets that come to at most one amount each. */
export function splitByAmount<Item extends { readonly paise: Paise }>(
  items: readonly Item[],
): readonly Item[][] {
  const sets: Item[][] = [];
  let total: PaiseSum = 0;
  for (const item of items) {
    total = addPaise(total, item.paise);
    const last = sets.at(-1);
    if (last && typeof total === "number") last.push(item);
    else {
      sets.push([item]);
      total = item.paise;
    }
  }
  return sets;
}

/** Clamps a sum to the range of one amount. */
export function asAmount(paise: PaiseSum): number {
  if (typeof paise === "number") return paise;
  return paise < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

const digitsOfDouble = 15;

/** Parses a whole number from the database. */
export function readPaise(text: string): PaiseSum {
  return text.length <= digitsOfDouble ? Number(text) : narrow(BigInt(text));
}

function narrow(paise: bigint): PaiseSum {
  const number = Number(paise);
  return Number.isSafeInteger(number) ? number : paise;
}

/** Scrips are documents of title under this heading of the tariff, and exempt. */
export const scripHsn = "4907";

/** A fee and the tax on it, which is not part of it. */
export type Fee = { readonly feePaise: Paise; readonly gstPaise: Paise };

export const noFee: Fee = { feePaise: 0, gstPaise: 0 };

/** The fee on a face, rounded down, with the tax on top of it, `gstBps` of it. */
export function feeOn(facePaise: Paise, feeBps: Bps, gstBps: Bps): Fee {
  if (feeBps === 0) return noFee;
  const feePaise = priceFloor(facePaise, feeBps);
  return { feePaise, gstPaise: roundNearest(BigInt(feePaise) * BigInt(gstBps), BigInt(bpsOfPar)) };
}

/** Splits an amount that includes tax into fee and tax. */
export function feeWithin(grossPaise: Paise, gstBps: Bps): Fee {
  const gstPaise = roundNearest(BigInt(grossPaise) * BigInt(gstBps), BigInt(bpsOfPar + gstBps));
  return { feePaise: grossPaise - gstPaise, gstPaise };
}

/** The fee, capped so that fee and tax fit into the room. */
export function feeUpTo(roomPaise: Paise, fee: Fee, gstBps: Bps): Fee {
  return fee.feePaise + fee.gstPaise <= roomPaise ? fee : feeWithin(roomPaise, gstBps);
}

/** The value of a credit: the all-in amount without fee and tax. */
export function valueBeforeFee(side: Side, allInPaise: Paise, { feePaise, gstPaise }: Fee): Paise {
  const taken = feePaise + gstPaise;
  return side === "sell" ? allInPaise + taken : allInPaise - taken;
}

/** To the nearest paisa, half a paisa up, as tax is rounded. */
export function roundNearest(dividend: bigint, divisor: bigint): Paise {
  return Number((2n * dividend + divisor) / (2n * divisor));
}

/** What is in one band; band 0 is below the first bound, as `width_bucket` counts them. */
export type BandSum = {
  readonly band: number;
  readonly count: number;
  readonly face_paise: PaiseSum;
};

export type DayBand = Omit<BandSum, "band"> & {
  readonly from_days: number;
  /** Null in the last band. */
  readonly before_days: number | null;
};

/** Counts and faces by a number of days: every band between these bounds, with nothing in those that have no sum. */
export function listDayBands(bounds: readonly number[], sums: readonly BandSum[]): DayBand[] {
  return [...bounds, null].map((before_days, at) => {
    const { count = 0, face_paise = 0 } = sums.find(({ band }) => band === at) ?? {};
    return { from_days: bounds[at - 1] ?? 0, before_days, count, face_paise };
  });
}
