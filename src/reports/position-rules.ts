// Positions: the credits by scheme and the cash of a desk or of one of its firms.

import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";

/** The credits of one scheme in the states that make up a position. */
export type SchemeSums = {
  readonly scheme: Scheme;
  readonly count: number;
  readonly available_paise: PaiseSum;
  readonly reserved_paise: PaiseSum;
  readonly in_settlement_paise: PaiseSum;
  readonly expiring_30_paise: PaiseSum;
  readonly expiring_60_paise: PaiseSum;
  readonly expiring_90_paise: PaiseSum;
  readonly shown_by_customs_paise: PaiseSum;
  readonly shown_from: string | null;
};

type Cash = {
  readonly available_paise: PaiseSum;
  readonly escrow_paise: PaiseSum;
  readonly pending_in_paise: PaiseSum;
  readonly pending_out_paise: PaiseSum;
  readonly dues_paise: PaiseSum;
};

export function sumHeld(held: SchemeSums): PaiseSum {
  return sumPaise([held.available_paise, held.reserved_paise, held.in_settlement_paise]);
}

export function sumCash(balances: readonly Cash[]): Cash {
  const sum = (of: keyof Cash) => sumPaise(balances.map((balance) => balance[of]));
  return {
    available_paise: sum("available_paise"),
    escrow_paise: sum("escrow_paise"),
    pending_in_paise: sum("pending_in_paise"),
    pending_out_paise: sum("pending_out_paise"),
    dues_paise: sum("dues_paise"),
  };
}

/** Unique and stable: settlement, side, and for sellers the ordinal of their first leg. */
export function buildNoteNo(settlementId: string, side: Side, firstLeg: number): string {
  const place = side === "buy" ? "B" : `S${firstLeg + 1}`;
  return `CN-${settlementId.slice("stl_".length).toUpperCase()}-${place}`;
}
