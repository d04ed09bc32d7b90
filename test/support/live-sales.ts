// Live sellers with accounts that can be paid, and what is due to them.

import { attestSubjects } from "../../src/outside/attest.ts";
import { operator } from "../../src/kernel/actor.ts";
import { appliers } from "../../src/workers.ts";
import { giveConfirmedAccount } from "./accounts.ts";
import type { Service } from "./service.ts";
import { addCredit, house, makeDeal, openTestDesk, type TestDesk } from "./settlements.ts";

export type LiveSeller = TestDesk & { readonly accountNo: string; readonly name: string };

let accounts = 0;

/** A live firm whose account the bank has confirmed. */
export async function liveSeller(service: Service): Promise<LiveSeller> {
  const desk = await openTestDesk(service, "live");
  const accountNo = `5020001${String(++accounts).padStart(7, "0")}`;
  return await giveAccount(service, desk, accountNo);
}

export async function giveAccount(
  { ctx }: Service,
  desk: TestDesk,
  accountNo: string,
): Promise<LiveSeller> {
  const { rows } = await ctx.db.pool.query<{ legal_name: string }>(
    "select legal_name from firms where firm_id = $1",
    [desk.firmId],
  );
  const name = rows[0]?.legal_name ?? "";
  await giveConfirmedAccount(ctx, { firmId: desk.firmId, accountNo });
  return { ...desk, accountNo, name };
}

/** Credits of the seller that the house has got, so that their price is due to it. */
export async function sellLive(
  service: Service,
  seller: LiveSeller,
  ...paises: readonly number[]
): Promise<string[]> {
  const settlementIds: string[] = [];
  for (const paise of paises) {
    const scripNo = await addCredit(service, seller);
    const legs = [{ seller, scripNo, sellerPaise: paise, buyerPaise: paise }];
    settlementIds.push(
      await makeDeal(service, { environment: "live", buyer: house("live"), legs }),
    );
  }
  await service.work();
  const seen = settlementIds.map((subjectId) => ({
    subjectId,
    answer: { outcome: "transferred" } as const,
    reference: "ICEGATE-1",
  }));
  await attestSubjects(service.ctx, operator, { kind: "credit_transfer", seen, appliers });
  await service.work();
  return settlementIds;
}
