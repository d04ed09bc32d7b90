import { operatorOn } from "../firms/doer.ts";
import { type FirmOfDesk, firmOfDesk } from "../firms/firm-of-desk.ts";
import { Failure } from "../kernel/failure.ts";
import { isHouse } from "../kernel/house.ts";
import type { Db } from "../platform/postgres.ts";

/** The desk that an operator names by its own firm; a client firm earns no commission. */
export async function deskOfOperator(
  ctx: { readonly db: Db },
  firmId: string,
): Promise<FirmOfDesk> {
  const { deskId } = await operatorOn(ctx, firmId);
  const firm = await firmOfDesk(ctx.db, deskId, firmId);
  if (deskId === firmId && !isHouse(firmId)) return firm;
  throw new Failure("conflict", `${firmId} is no desk: name the desk's own firm`, {
    detail: { reason: "not_a_desk" },
  });
}
