// Plans, what a key has used of its plan, and the events at 80 and 100 percent of the quota.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, operator } from "../kernel/actor.ts";
import type { Caller } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { Metered } from "../kernel/metered.ts";
import { istMonth, istTimestamp, lastDayOfMonth, nextIstMonthStart } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Usage } from "./schema.ts";
import { windowMs } from "./usage-rules.ts";
import {
  insertNotices,
  listCalls,
  listPlans as listRows,
  lockPlan,
  type Notice,
  type PlanRow,
  upsertPlan,
} from "./usage-store.ts";

export async function listPlans(ctx: Pick<Context, "db">): Promise<PlanRow[]> {
  return await listRows(ctx.db);
}

const perMinuteMax = 1_000_000_000;
const monthlyQuotaMax = 1_000_000_000_000;
const childKeysMaxMax = 1_000_000;
const defaultChildKeysMax = 25;
/** One crore rupees. */
const defaultUnfundedMaxPaise = 1_000_000_000;
/** Two crore rupees. */
const defaultUnfundedDeskMaxPaise = 2_000_000_000;
const defaultUnpaidDays = 10;
/** A year of working days. */
const unpaidDaysMax = 250;

type SetPlan = {
  readonly name: string;
  readonly perMinute: number;
  readonly monthlyQuota: number;
  /** Unchanged when left out. */
  readonly childKeysMax?: number | undefined;
  /** Unchanged when left out. */
  readonly unfundedMaxPaise?: number | undefined;
  /** Unchanged when left out. */
  readonly unfundedDeskMaxPaise?: number | undefined;
  /** Unchanged when left out. */
  readonly unpaidDays?: number | undefined;
};

/** Creates or changes a metered plan; it applies from the next call of every key on it. */
export async function setPlan(
  ctx: Pick<Context, "db" | "now">,
  plan: SetPlan,
  actor = operator,
): Promise<PlanRow> {
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(plan.name)) {
    throw unprocessable({
      path: "name",
      problem: "starts with a letter; letters, digits, - and _",
    });
  }
  if (plan.name === "sandbox") {
    throw unprocessable({ path: "name", problem: "the sandbox plan is never enforced" });
  }
  if (plan.perMinute > perMinuteMax || plan.monthlyQuota > monthlyQuotaMax) {
    throw unprocessable({ path: "plan", problem: "is larger than any service can serve" });
  }
  if (plan.childKeysMax !== undefined && plan.childKeysMax > childKeysMaxMax) {
    throw unprocessable({ path: "child_keys", problem: "is more than any desk can use" });
  }
  for (const [path, paise] of [
    ["unfunded_max_paise", plan.unfundedMaxPaise],
    ["unfunded_desk_max_paise", plan.unfundedDeskMaxPaise],
  ] as const) {
    if (paise === undefined || Number.isSafeInteger(paise)) continue;
    throw unprocessable({ path, problem: "is more than money can be" });
  }
  if (plan.unpaidDays !== undefined && plan.unpaidDays > unpaidDaysMax) {
    throw unprocessable({ path: "unpaid_days", problem: `must be at most ${unpaidDaysMax}` });
  }
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const before = await lockPlan(tx, plan.name);
    const row: PlanRow = {
      name: plan.name,
      per_minute: plan.perMinute,
      monthly_quota: plan.monthlyQuota,
      enforced: true,
      child_keys_max: plan.childKeysMax ?? before?.child_keys_max ?? defaultChildKeysMax,
      unfunded_max_paise:
        plan.unfundedMaxPaise ?? before?.unfunded_max_paise ?? defaultUnfundedMaxPaise,
      unfunded_desk_max_paise:
        plan.unfundedDeskMaxPaise ?? before?.unfunded_desk_max_paise ?? defaultUnfundedDeskMaxPaise,
      unpaid_days: plan.unpaidDays ?? before?.unpaid_days ?? defaultUnpaidDays,
    };
    await upsertPlan(tx, row, now);
    await recordChanges(tx, actor, [buildPlanChange(row)], now);
    return row;
  });
}

export async function readUsage(
  ctx: Context,
  { caller, metered }: { caller: Caller; metered: Metered },
  asked: string | undefined,
): Promise<Usage> {
  const now = ctx.now();
  const month = asked ?? istMonth(now);
  const rows = await listCalls(ctx.db, caller.deskId, {
    keyId: caller.kind === "root" ? null : caller.keyId,
    rootKeyId: caller.rootKeyId,
    from: `${month}-01`,
    to: lastDayOfMonth(month),
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

/** Percent of the monthly quota at which the desk gets an event. */
const thresholds = [80, 100] as const;

const setSizeMax = 200;
const worker: Actor = { kind: "worker", id: "usage", requestId: null };

/** Records one event per key, month and threshold reached. */
export async function tellThresholds({
  db,
  now,
}: Pick<Context, "db" | "now">): Promise<"more" | "idle"> {
  const instant = now();
  return await db.transaction(async (tx) => {
    const month = istMonth(instant);
    const reached = await insertNotices(tx, { month, thresholds, limit: setSizeMax }, instant);
    const changes = reached.map((notice) => buildThresholdChange(notice, instant));
    if (changes.length > 0) await recordChanges(tx, worker, changes, instant);
    return reached.length === setSizeMax ? "more" : "idle";
  });
}

/** Plans belong to the operator, so the change is recorded on the house's desk. */
function buildPlanChange(after: PlanRow): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: "plan.set",
    entity: { type: "plan", id: after.name, version: 1, href: "/v1/usage" },
    after,
  };
}

function sumBy<Row extends { calls: number }>(
  rows: readonly Row[],
  toName: (row: Row) => string,
): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(toName(row), (sums.get(toName(row)) ?? 0) + row.calls);
  return [...sums].toSorted(([a], [b]) => a.localeCompare(b));
}

function buildThresholdChange(notice: Notice, now: Date): Change {
  const { environment, desk_id, firm_id, key_id, key_version, month } = notice;
  const data = {
    key_id,
    month,
    threshold_percent: notice.percent,
    quota: notice.quota,
    quota_used: notice.calls,
    quota_resets_at: istTimestamp(nextIstMonthStart(now)),
  };
  return {
    environment,
    deskId: desk_id,
    firmId: firm_id,
    action: "usage.threshold",
    entity: { type: "key", id: key_id, version: key_version, href: "/v1/usage" },
    after: data,
    event: { name: "usage.threshold", from: null, to: null, data },
  };
}
