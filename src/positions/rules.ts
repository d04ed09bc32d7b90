// What a desk or one of its firms holds and has, added up: credits by scheme, and cash.

import type { Scheme } from "../kernel/scheme.ts";

/** The credits of one scheme in the states that make up a position. */
export type Held = {
  readonly scheme: Scheme;
  readonly count: number;
  readonly available_paise: number;
  readonly reserved_paise: number;
  readonly in_settlement_paise: number;
  readonly expiring_30_paise: number;
  readonly expiring_60_paise: number;
  readonly expiring_90_paise: number;
};

export type Cash = {
  readonly available_paise: number;
  readonly escrow_paise: number;
  readonly pending_in_paise: number;
  readonly pending_out_paise: number;
};

export function heldPaise(held: Held): number {
  return held.available_paise + held.reserved_paise + held.in_settlement_paise;
}

export function sumOfCash(balances: readonly Cash[]): Cash {
  const sum = (of: keyof Cash) => balances.reduce((total, balance) => total + balance[of], 0);
  return {
    available_paise: sum("available_paise"),
    escrow_paise: sum("escrow_paise"),
    pending_in_paise: sum("pending_in_paise"),
    pending_out_paise: sum("pending_out_paise"),
  };
}
