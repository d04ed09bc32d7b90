// What a bundle is, what is proven about it, and how much work a search may do.
//
// Three wishes, each counting only among bundles that are equal in the ones before it:
//
//   1. the largest sum of faces that is not above the requirement
//   2. the fewest credits
//   3. the earliest expiry: credits queue by expiry, then scrip number, and of two bundles the one
//      is taken that has the first place in the queue that they do not share

export const rupee = 100;

/** Bundles are made of whole credits, and a deal with more of them than this is nobody's wish. */
export const creditsMax = 5_000;

/** A step is one look at one entry; so many take some ten milliseconds, at the worst some forty. */
export const stepsDefault = 750_000;

/** So many may be taken where others wait; whoever needs more searches in a thread. */
export const stepsQuick = 100_000;

/** The work counted for finding one face in the order of faces. */
export const stepsPerProbe = 8;

/** Days since 1970: expiries are compared far more often than they are shown. */
export type DayNumber = number;

export type Offer = {
  readonly scrip_no: string;
  readonly face_paise: number;
  readonly expires_on: DayNumber;
  /** The least a resting sell order takes; 0 for what the house holds. */
  readonly limit_bps: number;
  /** The PAN behind the offer: nobody is sold their own credits. */
  readonly seller: string;
  readonly order_id: string | null;
};

export type Proof = {
  /** Whether no bundle leaves less, or none is known to. */
  readonly residual: "optimal" | "bounded";
  /** No bundle can leave less than this. */
  readonly residual_bound_paise: number;
  /** Whether no bundle of the same sum has fewer credits. */
  readonly fewest: "proven" | "unproven";
  /** No bundle of the same sum has fewer credits than this. */
  readonly fewest_bound: number;
  /** Whether no bundle of the same sum and count comes before it. */
  readonly earliest: "proven" | "unproven";
};

export type Bundle = {
  /** In the order of their expiry, then scrip number. */
  readonly offers: readonly Offer[];
  readonly covered_paise: number;
  readonly residual_paise: number;
  readonly proof: Proof;
  /** How much of the search's budget it took, and whether more could find or prove more. */
  readonly steps: number;
  readonly isSettled: boolean;
};

/**
 * Steps left for a search. They are counted and not timed, so that the same question has the same
 * answer on every machine. A part of the search can be given an allowance of its own.
 */
export class Budget {
  #left: number;
  #floor = 0;

  constructor(steps: number) {
    this.#left = steps;
  }

  get left(): number {
    return Math.max(0, this.#left - this.#floor);
  }

  /** Once true for an allowance, what was searched under it may have missed something. */
  get spent(): boolean {
    return this.#left < this.#floor;
  }

  spend(steps: number): void {
    this.#left -= steps;
  }

  within<T>(steps: number, search: () => T): { readonly found: T; readonly finished: boolean } {
    const outer = this.#floor;
    const inner = Math.max(outer, this.#left - steps);
    this.#floor = inner;
    const found = search();
    const finished = !this.spent;
    // What was spent beyond the allowance depends on how rows lie in blocks, and must not matter.
    if (!finished) this.#left = inner;
    this.#floor = outer;
    return { found, finished };
  }
}

/** The least whole number that `count` times is not below `sum`, without a rounded quotient. */
export function shareCeil(sum: number, count: number): number {
  const rest = sum % count;
  return (sum - rest) / count + (rest > 0 ? 1 : 0);
}

export function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
