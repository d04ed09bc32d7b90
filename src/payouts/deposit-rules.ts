// Money that comes in is known by the bank's reference, a UTR: the same reference is the same money.

/** The reference of money that the simulated bank brings for a settlement or a cross. */
export function buildFundingReference(subjectId: string): string {
  return `SIM${subjectId.slice(-19).toUpperCase()}`;
}
