// A contract note says what one firm dealt in one settlement: each credit, its value, and what of
// the money is fee and tax. Its lines sum to the all-in amount to the paisa.

import type { Side } from "../kernel/side.ts";

/** Unique and stable: the settlement, the side, and for sellers the first of their credits in it. */
export function noteNo(settlementId: string, side: Side, firstLeg: number): string {
  const place = side === "buy" ? "B" : `S${firstLeg + 1}`;
  return `CN-${settlementId.slice("stl_".length).toUpperCase()}-${place}`;
}
