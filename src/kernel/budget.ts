// What one address may ask of the public surface, whoever is behind it.

export type BudgetName = "rates" | "enquiry";

export type Budget = { readonly perMinute: number; readonly perDay?: number };

export type Budgets = Readonly<Record<BudgetName, Budget>>;
