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
