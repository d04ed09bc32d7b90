import { refuseOffboarded, requireVisibleFirm } from "../firms/find-firms.ts";
import { findHouse } from "../house/read-house.ts";
import { houseIncomplete } from "../house/rules.ts";
import type { Caller } from "../kernel/caller.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { buildNumber } from "./rules.ts";
import type { Funding } from "./schema.ts";
import { findFirmNo } from "./store.ts";
import { listNumberForms } from "./virtual-accounts.ts";

/** Where a firm pays ahead of its deals. */
export async function readFunding(
  ctx: Pick<Context, "db" | "now">,
  caller: Caller,
  firmId: string,
): Promise<Funding> {
  const firm = await requireVisibleFirm(ctx.db, caller, firmId);
  refuseOffboarded(firm);
  const { environment } = caller;
  const bank = (await findHouse(ctx.db, environment, istDay(ctx.now())))?.bank;
  if (!bank) throw houseIncomplete(["bank"]);
  const form = (await listNumberForms(ctx.db, environment)).at(0)?.form ?? null;
  const serial = form === null ? undefined : await findFirmNo(ctx.db, firmId);
  const isOwn = form !== null && serial !== undefined;
  return {
    firm_id: firmId,
    beneficiary: bank.beneficiary,
    account_no: isOwn ? buildNumber(form, serial) : bank.account_no,
    ifsc: isOwn ? form.ifsc : bank.ifsc,
    bank: bank.bank,
    is_own_number: isOwn,
    reference: firmId,
  };
}
