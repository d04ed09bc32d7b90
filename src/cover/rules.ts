// What a bundle is, what is proven about it, and how much work a search may do.
//
// The best bundle has, in lexicographic order:
//
//   1. the largest sum of faces that does not exceed the requirement
//   2. the fewest credits
//   3. the earliest expiry: credits queue by expiry, then scrip number; of two bundles the better one
//      has the first credit of the queue in which they differ

export const rupee = 100;

/** The most credits in a bundle. */
export const creditsMax = 5_000;

/** The budget of a search in a thread. A step reads one entry; this many take 10 to 40 ms. */
export const stepsDefault = 250_000;

/** The budget of a search on the event loop; a longer search runs in a thread. */
export const stepsQuick = 100_000;

/** The budget of all quick searches of one set of requests; about 10 ms. */
export const setStepsMax = 4 * stepsQuick;

/** The cost of one binary search for a face. */
export const stepsPerProbe = 8;

/** Days since 1970: cheap to compare. */
export type DayNumber = number;

export type Offer = {
  readonly scrip_no: string;
  readonly face_paise: number;
  readonly expires_on: DayNumber;
  /** The limit of a resting sell; 0 for credits of the house. */
  readonly limit_bps: number;
  /** The PAN of the seller; a buyer of the same PAN does not take the offer. */
  readonly seller: string;
  readonly order_id: string | null;
};

/** The price of a whole bundle, or the margin above the dearest limit in it. */
export type DealtAt = { readonly price_bps: number } | { readonly margin_bps: number };

/** Sums with one price, and the limits that the price can pay: 0 is the house's. */
export type Tier = {
  readonly least_paise: number;
  readonly most_paise: number;
  readonly price_max_bps: number;
  readonly price_min_bps: number;
  readonly dealt_at: DealtAt;
};

/** The one price of a bundle. */
export function priceInTier({ dealt_at }: Tier, offers: readonly Offer[]): number {
  if ("price_bps" in dealt_at) return dealt_at.price_bps;
  return Math.max(...offers.map(({ limit_bps }) => limit_bps)) + dealt_at.margin_bps;
}

export type BundleProof = {
  /** `optimal` when no bundle leaves less. */
  readonly residual: "optimal" | "bounded";
  /** A lower bound of the residual of every bundle. */
  readonly residual_bound_paise: number;
  /** Whether no bundle of the same sum has fewer credits. */
  readonly fewest: "proven" | "unproven";
  /** A lower bound of the credits of every bundle of the same sum. */
  readonly fewest_bound: number;
  /** Whether no bundle of the same sum and count is earlier. */
  readonly earliest: "proven" | "unproven";
};

export type Bundle = {
  /** In queue order: by expiry, then scrip number. */
  readonly offers: readonly Offer[];
  readonly covered_paise: number;
  readonly residual_paise: number;
  readonly proof: BundleProof;
  /** The steps it took, and whether a larger budget could not find or prove more. */
  readonly steps: number;
  readonly isSettled: boolean;
};

/**
 * The steps left for a search. Work is counted and not timed, so that the same offers give the same
 * bundle on every machine. `within` limits a part of the search to an allowance of its own.
 */
export class StepBudget {
  #left: number;
  #floor = 0;

  constructor(steps: number) {
    this.#left = steps;
  }

  get left(): number {
    return Math.max(0, this.#left - this.#floor);
  }

  /** Whether the allowance is used up; the search under it is then incomplete. */
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
    // The overrun depends on how rows lie in blocks; it must not influence the result.
    if (!finished) this.#left = inner;
    this.#floor = outer;
    return { found, finished };
  }
}

/** sum / count, rounded up, in exact integer arithmetic. */
export function shareCeil(sum: number, count: number): number {
  const rest = sum % count;
  return (sum - rest) / count + (rest > 0 ? 1 : 0);
}

export function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
