// A settlement and a payout of a desk's client and of its sibling, as their slices would leave them.

import type { Environment } from "../../src/kernel/caller.ts";
import { schedulePayouts } from "../../src/payouts/schedule-payouts.ts";
import { listLegs } from "../../src/settlement/store.ts";
import { toTaskId } from "../../src/settlement/read-tasks.ts";
import { addCredits } from "./holdings.ts";
import type { Service } from "./service.ts";
import { addCredit, house, makeDeal } from "./settlements.ts";

export type FurnishedDeal = {
  readonly settlement: string;
  readonly settlementOrder: string;
  readonly payout: string;
  /** Of the settlement. */
  readonly task: string;
};

export async function furnishDeal(
  service: Service,
  {
    environment,
    deskId,
    firmId,
  }: { readonly environment: Environment; readonly deskId: string; readonly firmId: string },
): Promise<FurnishedDeal> {
  const [scripNo = ""] = await addCredits(service, deskId, [
    { firmId, scheme: "RODTEP", facePaise: 100_000, expiresOn: "2028-10-01", state: "listed" },
  ]);
  const seller = { deskId, firmId };
  const legs = [{ seller, scripNo, sellerPaise: 97_000, buyerPaise: 97_000 }];
  const settlement = await makeDeal(service, { environment, buyer: house(environment), legs });
  // Another that waits for the client's money: a task that is open.
  const offered = await addCredit(service, house(environment));
  const bought = [{ seller: house(environment), scripNo: offered }];
  await makeDeal(service, { environment, buyer: seller, legs: bought });
  const { rows } = await service.ctx.db.pool.query<{ seller_order_id: string }>(
    "select seller_order_id from settlement_legs where settlement_id = $1",
    [settlement],
  );
  const settlementOrder = rows[0]?.seller_order_id ?? "";
  const { payouts } = await service.ctx.db.transaction(
    async (tx) =>
      await schedulePayouts(
        tx,
        [
          {
            environment,
            deskId,
            firmId,
            settlementId: settlement,
            lines: [
              { order_id: settlementOrder, origin_kind: "order", scrip_no: scripNo, paise: 97_000 },
            ],
          },
        ],
        service.clock.now(),
      ),
  );
  await service.ctx.db.pool.query(
    `insert into deposits (environment, reference, desk_id, firm_id, paise, settlement_id, at)
    values ($1, 'SIM' || upper(right($2::text, 17)), $3, $4, 97000, $2::text, $5)`,
    [environment, settlement, deskId, firmId, service.clock.now()],
  );
  const [leg] = await listLegs(service.ctx.db, [settlement]);
  const task = toTaskId(settlement, { kind: "initiate", leg: leg ?? null });
  return { settlement, settlementOrder, payout: payouts[0]?.payout_id ?? "", task };
}
