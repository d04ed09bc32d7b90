// Limits on the calls of one address to the public API.

export type BudgetName = "rates" | "enquiry";

export type Budget = { readonly perMinute: number; readonly perDay?: number };

export type Budgets = Readonly<Record<BudgetName, Budget>>;
