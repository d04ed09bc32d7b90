import { type Environment, environments } from "../kernel/caller.ts";
import { dayMs } from "../kernel/time.ts";
import { readBalances } from "../ledger/read-books.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import { measureLabelled, type Metrics } from "../platform/metrics.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import type { BankWatch } from "../settlement/unpaid-deals.ts";
import { judgeDeal, unreadWorkingDays } from "./deadline-rules.ts";
import { findReached, listQueuedMoney } from "./totals-store.ts";

/** What the bank's statements say about deals that wait for money. */
export const bankWatch: BankWatch = {
  async readHorizon(db, environment, now) {
    const reachedAt = await findReached(db, environment);
    const unread = new Date(now.getTime() - unreadWorkingDays * dayMs);
    return reachedAt !== null && reachedAt > unread ? reachedAt : unread;
  },
  async judge(db, environment, { deals, now }) {
    const firmIds = [...new Set(deals.map(({ firmId }) => firmId))];
    const word = {
      reachedAt: await findReached(db, environment),
      queued: await listQueuedMoney(db, environment),
      available: await readAvailable(db, environment, firmIds),
      calendar: await readCalendar(db),
    };
    const judged = deals.map((deal) => ({ ...deal, verdict: judgeDeal(deal, word, now) }));
    const may = judged.filter(({ verdict }) => verdict !== "waits");
    const unread = may.filter(({ verdict }) => verdict === "may_end_unread");
    return {
      mayEnd: may.map(({ dealId }) => dealId),
      unread: unread.map(({ dealId }) => dealId),
    };
  },
};

async function readAvailable(db: Db, environment: Environment, firmIds: readonly string[]) {
  const balances = await readBalances(db, environment, firmIds);
  return new Map(balances.map((row) => [row.firm_id, row.available_paise]));
}

/** How far the bank's statements reach, for monitoring; an environment without any is left out. */
export function measureStatements({ db }: Pick<Context, "db">, metrics: Metrics): void {
  measureLabelled(metrics, {
    name: "scripdesk_bank_statement_timestamp_seconds",
    help: "Up to when the bank's statements that were imported reach",
    labelNames: ["environment"],
    read: async () => {
      const reached = await Promise.all(
        environments.map(async (environment) => ({
          environment,
          at: await findReached(db, environment),
        })),
      );
      return reached.flatMap(({ environment, at }) =>
        at ? { labels: { environment }, value: at.getTime() / 1_000 } : [],
      );
    },
  });
}
