// Money that comes in is known by the bank's reference, a UTR: the same reference is the same money.

/** The reference of money that the simulated bank brings for a settlement. */
export function fundingReference(settlementId: string): string {
  return `SIM${settlementId.slice(-19).toUpperCase()}`;
}
