import type { Context } from "../platform/context.ts";
import { listPlans as listRows, type PlanRow } from "./store.ts";

export async function listPlans(ctx: Pick<Context, "db">): Promise<PlanRow[]> {
  return await listRows(ctx.db);
}
