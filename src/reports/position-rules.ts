// What a desk or one of its firms holds and has, added up: credits by scheme, and cash.
//
// A contract note says what one firm dealt in one settlement: each credit, its value, and what of
// the money is fee and tax. Its lines sum to the all-in amount to the paisa.

import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";

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

type Cash = {
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

/** Unique and stable: the settlement, the side, and for sellers the first of their credits in it. */
export function noteNo(settlementId: string, side: Side, firstLeg: number): string {
  const place = side === "buy" ? "B" : `S${firstLeg + 1}`;
  return `CN-${settlementId.slice("stl_".length).toUpperCase()}-${place}`;
}
