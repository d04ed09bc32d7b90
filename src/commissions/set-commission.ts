import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { unprocessable } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { commissionRates } from "./commission-rates.ts";
import { deskOfOperator } from "./desk-of-operator.ts";
import { commissionBpsMax } from "./rules.ts";
import { putRate } from "./store.ts";

export type SetCommission = { readonly firmId: string; readonly bps: number };

/** What a desk gets of the deals that settle from now on. */
export async function setCommission(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { firmId, bps }: SetCommission,
): Promise<{ firm_id: string; legal_name: string; commission_bps: number; was_bps: number }> {
  if (bps > commissionBpsMax) {
    throw unprocessable({ path: "bps", problem: `must be from 0 to ${commissionBpsMax}` });
  }
  const now = ctx.now();
  const { environment, legal_name } = await deskOfOperator(ctx, firmId);
  return await ctx.db.transaction(async (tx) => {
    const was = (await commissionRates(tx, [firmId])).get(firmId) ?? 0;
    const { version } = await putRate(tx, { desk_id: firmId, environment, bps, updated_at: now });
    const change = {
      environment,
      deskId: firmId,
      firmId,
      action: "commission.set",
      entity: { type: "commission", id: firmId, version, href: "/v1/earnings" },
      before: { commission_bps: was },
      after: { commission_bps: bps },
    };
    await recordChanges(tx, operator, [change], now);
    return { firm_id: firmId, legal_name, commission_bps: bps, was_bps: was };
  });
}
