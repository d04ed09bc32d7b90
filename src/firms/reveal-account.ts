import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { openAccountNo } from "./particulars.ts";
import { listFirmsById } from "./store.ts";

export type RevealedAccount = {
  readonly firm_id: string;
  readonly account_no: string;
  readonly ifsc: string;
  readonly name: string;
};

const reasonLengthMax = 500;

/** Shows a firm's whole account number to an operator. Who looked and why is on record first. */
export async function revealAccount(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  { firmId, reason }: { readonly firmId: string; readonly reason: string },
): Promise<RevealedAccount> {
  if (reason.trim() === "" || reason.length > reasonLengthMax) {
    throw unprocessable({ path: "reason", problem: `must be 1 to ${reasonLengthMax} characters` });
  }
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const [firm] = await listFirmsById(tx, [firmId]);
    if (!firm) throw new Failure("not_found", `no firm ${firmId}`);
    const { bank_ifsc: ifsc, bank_name } = firm;
    const accountNo = openAccountNo(firm, ctx.sealKey);
    if (accountNo === null || ifsc === null) {
      throw new Failure("conflict", "the firm has given no bank account", {
        detail: { reason: "no_bank_account" },
      });
    }
    const entity = { type: "firm", id: firmId, version: firm.version, href: `/v1/firms/${firmId}` };
    const looked = { firm_id: firmId, reason, version: firm.version };
    const { environment, desk_id: deskId } = firm;
    const change = { environment, deskId, firmId, action: "firm.reveal_account", entity };
    await recordChanges(tx, operator, [{ ...change, before: null, after: looked }], now);
    return { firm_id: firmId, account_no: accountNo, ifsc, name: bank_name ?? firm.legal_name };
  });
}
