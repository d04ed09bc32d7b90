// Deals of live that wait for their buyer's money past the deadline. The bank's statement says whether
// the money came in time, so they end when it has been read.

import type { Environment } from "../kernel/caller.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { listPastDueRows } from "./store.ts";

/** A deal that waits for money. */
export type UnpaidDeal = {
  readonly dealId: string;
  readonly firmId: string;
  readonly paise: number;
  readonly dealtAt: Date;
  readonly dueAt: Date;
};

/** What an upper room, which reads the bank, says about unpaid deals. */
export type BankWatch = {
  /** No deal that is due later may end now. */
  readonly readHorizon: (db: Db, environment: Environment, now: Date) => Promise<Date>;
  /** Those of the deals that may not end yet. */
  readonly listWaiting: (
    db: Db,
    environment: Environment,
    deals: readonly UnpaidDeal[],
  ) => Promise<readonly string[]>;
};

/** Deals that are looked at together; the rest waits for the next run. */
const dealsMax = 2_000;

/** The unpaid settlements that are due by an instant, the oldest first. */
export async function listPastDue(
  db: Db,
  environment: Environment,
  {
    dueUntil,
    firmIds = null,
  }: { readonly dueUntil: Date; readonly firmIds?: readonly string[] | null },
): Promise<UnpaidDeal[]> {
  const rows = await listPastDueRows(db, environment, { dueUntil, firmIds, limit: dealsMax });
  return rows.map(({ settlement_id, buyer_firm_id, buyer_paise, created_at, due_at }) => ({
    dealId: settlement_id,
    firmId: buyer_firm_id,
    paise: buyer_paise,
    dealtAt: created_at,
    dueAt: due_at,
  }));
}
