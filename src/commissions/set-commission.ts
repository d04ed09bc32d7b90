import { recordChanges } from "../events/record-changes.ts";
import { operatorOn } from "../firms/doer.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { isHouse } from "../kernel/house.ts";
import type { Context } from "../platform/context.ts";
import { commissionRates } from "./commission-rates.ts";
import { commissionBpsMax } from "./rules.ts";
import { putRate } from "./store.ts";

export type SetCommission = { readonly firmId: string; readonly bps: number };

/** What a desk gets of the deals that settle from now on. */
export async function setCommission(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { firmId, bps }: SetCommission,
): Promise<{ firm_id: string; legal_name: string; commission_bps: number; was_bps: number }> {
  if (!Number.isSafeInteger(bps) || bps < 0 || bps > commissionBpsMax) {
    throw unprocessable({ path: "bps", problem: `must be from 0 to ${commissionBpsMax}` });
  }
  const now = ctx.now();
  const { deskId } = await operatorOn(ctx, firmId);
  return await ctx.db.transaction(async (tx) => {
    const desk = await firmOfDesk(tx, deskId, firmId);
    if (deskId !== firmId || isHouse(firmId)) {
      throw new Failure(
        "conflict",
        `${firmId} is no desk: commission is set on the desk's own firm`,
      );
    }
    const was = (await commissionRates(tx, [deskId])).get(deskId) ?? 0;
    const { environment } = desk;
    const { version } = await putRate(tx, { desk_id: deskId, environment, bps, updated_at: now });
    const change = {
      environment,
      deskId,
      firmId,
      action: "commission.set",
      entity: { type: "commission", id: deskId, version, href: "/v1/earnings" },
      before: { commission_bps: was },
      after: { commission_bps: bps },
    };
    await recordChanges(tx, operator, [change], now);
    return { firm_id: firmId, legal_name: desk.legal_name, commission_bps: bps, was_bps: was };
  });
}
