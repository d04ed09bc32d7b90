// A deposit is identified by the bank's reference, a UTR: the same reference is the same money.

/** The reference of the simulated bank's deposit for a settlement or a cross. */
export function buildFundingReference(subjectId: string): string {
  return `SIM${subjectId.slice(-19).toUpperCase()}`;
}
