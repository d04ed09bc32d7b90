// Deals that wait for their buyer's money past the deadline. In live the bank's statement says whether
// the money came in time, so they end once it has been read. The sandbox's bank answers by itself.

import type { FastifyBaseLogger } from "fastify";

import type { Environment } from "../kernel/caller.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import type { UnpaidDeal } from "./rules.ts";
import { listPastDueRows } from "./store.ts";

/** What an upper room, which reads the bank's statements, says about unpaid deals. */
export type BankWatch = {
  /** No deal that is due later may end now. */
  readonly readHorizon: (db: Db, environment: Environment, now: Date) => Promise<Date>;
  /** Those that may end, and those of them whose deadline no statement reaches past. */
  readonly judge: (
    db: Db,
    environment: Environment,
    due: { readonly deals: readonly UnpaidDeal[]; readonly now: Date },
  ) => Promise<{ readonly mayEnd: readonly string[]; readonly unread: readonly string[] }>;
};

/** Deals that are looked at together; the rest waits for the next run. */
export const unpaidDealsMax = 2_000;

/** The unpaid settlements that are due by an instant, the oldest first. */
export async function listPastDue(
  db: Db,
  environment: Environment,
  {
    dueUntil,
    firmIds = null,
  }: { readonly dueUntil: Date; readonly firmIds?: readonly string[] | null },
): Promise<UnpaidDeal[]> {
  const rows = await listPastDueRows(db, environment, { dueUntil, firmIds, limit: unpaidDealsMax });
  return rows.map(({ settlement_id, buyer_firm_id, buyer_paise, created_at, due_at }) => ({
    dealId: settlement_id,
    firmId: buyer_firm_id,
    paise: buyer_paise,
    dealtAt: created_at,
    dueAt: due_at,
  }));
}

type Overdue = {
  readonly environment: Environment;
  /** Deadlines up to this instant have passed. */
  readonly lateUntil: Date;
  readonly now: Date;
  readonly list: (dueUntil: Date) => Promise<readonly UnpaidDeal[]>;
};

type Judged = {
  /** The unpaid deals that may end; null for all that are due. */
  readonly mayEnd: readonly string[] | null;
  /** Tells people which of the deals that ended did so without a statement. */
  readonly tell: (endedIds: readonly string[]) => void;
};

export async function judgeOverdue(
  { db, log }: { readonly db: Db; readonly log?: FastifyBaseLogger | undefined },
  bankWatch: BankWatch,
  { environment, lateUntil, now, list }: Overdue,
): Promise<Judged> {
  if (environment === "sandbox") return { mayEnd: null, tell: () => undefined };
  const horizon = await bankWatch.readHorizon(db, environment, now);
  const deals = await list(horizon < lateUntil ? horizon : lateUntil);
  if (deals.length === 0) return { mayEnd: [], tell: () => undefined };
  const { mayEnd, unread } = await bankWatch.judge(db, environment, { deals, now });
  return {
    mayEnd,
    tell(endedIds) {
      const unseen = endedIds.filter((id) => unread.includes(id));
      if (unseen.length === 0) return;
      log?.error(
        { deals: unseen },
        "deals ended unpaid, and no bank statement reaches past their deadline",
      );
    },
  };
}
