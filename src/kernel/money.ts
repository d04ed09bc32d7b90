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
