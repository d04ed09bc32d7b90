// What a desk or one of its firms holds and has, added up: credits by scheme, and cash.

import type { Scheme } from "../kernel/scheme.ts";
import { type PaiseSum, sumPaise } from "../kernel/sums.ts";

/** The credits of one scheme in the states that make up a position. */
export type Held = {
  readonly scheme: Scheme;
  readonly count: number;
  readonly available_paise: PaiseSum;
  readonly reserved_paise: PaiseSum;
  readonly in_settlement_paise: PaiseSum;
  readonly expiring_30_paise: PaiseSum;
  readonly expiring_60_paise: PaiseSum;
  readonly expiring_90_paise: PaiseSum;
};

export type Cash = {
  readonly available_paise: PaiseSum;
  readonly escrow_paise: PaiseSum;
  readonly pending_in_paise: PaiseSum;
  readonly pending_out_paise: PaiseSum;
};

export function heldPaise(held: Held): PaiseSum {
  return sumPaise([held.available_paise, held.reserved_paise, held.in_settlement_paise]);
}

export function sumOfCash(balances: readonly Cash[]): Cash {
  const sum = (of: keyof Cash) => sumPaise(balances.map((balance) => balance[of]));
  return {
    available_paise: sum("available_paise"),
    escrow_paise: sum("escrow_paise"),
    pending_in_paise: sum("pending_in_paise"),
    pending_out_paise: sum("pending_out_paise"),
  };
}
