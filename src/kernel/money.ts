// Money is a whole number of paise, a price a whole number of basis points of face. Their product
// can exceed what a double holds exactly, so it is made in BigInt, and every division says which way
// it rounds: down when the house pays, up when the house is paid.

export const bpsOfPar = 10_000;

const par = BigInt(bpsOfPar);

/** What the house pays for a face at a price. */
export function priceFloor(facePaise: number, priceBps: number): number {
  return Number((BigInt(facePaise) * BigInt(priceBps)) / par);
}

/** What the house is paid for a face at a price. */
export function priceCeil(facePaise: number, priceBps: number): number {
  return Number((BigInt(facePaise) * BigInt(priceBps) + par - 1n) / par);
}
