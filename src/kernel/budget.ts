// Limits on the calls of one address that bring no key.

export type Budget = { readonly perMinute: number; readonly perDay?: number };

/** Of the public API; the operator sets them. */
export type Budgets = Readonly<Record<"rates" | "enquiry", Budget>>;

/**
 * What a call without a key costs. Every route that takes such calls says it:
 *
 *   constant   bytes that were made once (`constants.ts`), or no work at all
 *   free       a value that the process keeps up to date by itself, for whoever watches its health
 *   budget     work; the budget of the caller's address pays for it
 */
export type Keyless = "constant" | "free" | { readonly budget: string };

export function findBudget(keyless: Keyless | undefined): string | undefined {
  return typeof keyless === "object" ? keyless.budget : undefined;
}
