import type { Caller } from "../kernel/caller.ts";
import type { Metered } from "../kernel/metered.ts";
import { istMonth, istTimestamp, lastDayOf, nextIstMonthStart } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { windowMs } from "./rules.ts";
import type { ReadUsageQuery, Usage } from "./schema.ts";
import { listCalls } from "./store.ts";

export async function readUsage(
  ctx: Context,
  { caller, metered }: { caller: Caller; metered: Metered },
  query: ReadUsageQuery,
): Promise<Usage> {
  const now = ctx.now();
  const month = query.month ?? istMonth(now);
  const rows = await listCalls(ctx.db, caller.deskId, {
    keyId: caller.kind === "root" ? null : caller.keyId,
    rootKeyId: caller.rootKeyId,
    from: `${month}-01`,
    to: lastDayOf(month),
  });
  return {
    plan: metered.plan,
    limit: metered.limit,
    remaining: metered.remaining,
    reset: metered.reset,
    ...(metered.quota !== undefined && { quota: metered.quota }),
    quota_used: metered.quotaUsed,
    window_s: windowMs / 1_000,
    quota_resets_at: istTimestamp(nextIstMonthStart(now)),
    by_day: sumBy(rows, ({ day }) => day).map(([day, calls]) => ({ day, calls })),
    by_route: sumBy(rows, ({ route }) => route).map(([route, calls]) => ({ route, calls })),
    by_key: sumBy(rows, ({ key_id }) => key_id).map(([key_id, calls]) => ({ key_id, calls })),
  };
}

function sumBy<Row extends { calls: number }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(nameOf(row), (sums.get(nameOf(row)) ?? 0) + row.calls);
  return [...sums].toSorted(([a], [b]) => a.localeCompare(b));
}
