import { recordChanges } from "../events/record-changes.ts";
import { type Change, operator } from "../kernel/actor.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/house.ts";
import type { Context } from "../platform/context.ts";
import { lockPlan, type PlanRow, upsertPlan } from "./store.ts";

const perMinuteMax = 1_000_000_000;
const monthlyQuotaMax = 1_000_000_000_000;
const childKeysMaxMax = 1_000_000;
/** Of a new plan that does not say how many child keys its desks may have. */
const childKeysMaxAtFirst = 25;
/** Of a new plan that does not say how much its firms may have bought without money: one crore. */
const unfundedMaxAtFirst = 1_000_000_000;

export type SetPlan = {
  readonly name: string;
  readonly perMinute: number;
  readonly monthlyQuota: number;
  /** Left out, a plan keeps the number it has. */
  readonly childKeysMax?: number | undefined;
  /** Left out, a plan keeps the sum it has. */
  readonly unfundedMaxPaise?: number | undefined;
};

/** Makes or changes a metered plan; every key on it is metered by it from its next call. */
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
  if (plan.unfundedMaxPaise !== undefined && !Number.isSafeInteger(plan.unfundedMaxPaise)) {
    throw unprocessable({ path: "unfunded_max_paise", problem: "is more than money can be" });
  }
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const before = await lockPlan(tx, plan.name);
    const row: PlanRow = {
      name: plan.name,
      per_minute: plan.perMinute,
      monthly_quota: plan.monthlyQuota,
      enforced: true,
      child_keys_max: plan.childKeysMax ?? before?.child_keys_max ?? childKeysMaxAtFirst,
      unfunded_max_paise: plan.unfundedMaxPaise ?? before?.unfunded_max_paise ?? unfundedMaxAtFirst,
    };
    await upsertPlan(tx, row, now);
    await recordChanges(tx, actor, [changeOfPlan(before, row)], now);
    return row;
  });
}

/** A plan meters live keys and is nobody's but the operator's; it has no versions. */
function changeOfPlan(before: PlanRow | undefined, after: PlanRow): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: "plan.set",
    entity: { type: "plan", id: after.name, version: 1, href: "/v1/usage" },
    before: before ?? null,
    after,
  };
}
