import { unprocessable } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { type PlanRow, upsertPlan } from "./store.ts";

const perMinuteMax = 1_000_000_000;
const monthlyQuotaMax = 1_000_000_000_000;

/** Makes or changes a metered plan; every key on it is metered by it from its next call. */
export async function setPlan(
  ctx: Pick<Context, "db" | "now">,
  plan: { readonly name: string; readonly perMinute: number; readonly monthlyQuota: number },
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
  const row = {
    name: plan.name,
    per_minute: plan.perMinute,
    monthly_quota: plan.monthlyQuota,
    enforced: true,
  };
  await upsertPlan(ctx.db, row, ctx.now());
  return row;
}
