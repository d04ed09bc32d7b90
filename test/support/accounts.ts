// Bank accounts that the bank has confirmed, put there without asking it.

import { renewAccount, sealBank } from "../../src/firms/particulars.ts";
import { insertConfirmedAccounts } from "../../src/firms/account-store.ts";
import type { Context } from "../../src/platform/context.ts";

type GivenAccount = {
  readonly firmId: string;
  readonly accountNo: string;
  readonly ifsc?: string;
  /** The firm's own name when left out. */
  readonly name?: string;
};

/** Gives a firm an account that the bank has confirmed, with the number sealed as the service would. */
export async function giveConfirmedAccount(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  { firmId, accountNo, ifsc = "HDFC0000001", name }: GivenAccount,
): Promise<void> {
  const now = ctx.now();
  const bank = { account_no: accountNo, ifsc, name: name ?? "" };
  const sealed = sealBank(bank, firmId, ctx.sealKey);
  const { account_id } = renewAccount(sealed, now);
  if (account_id === null) throw new Error("a sealed account has an id");
  const last4 = accountNo.slice(-4);
  const passed = [{ check: "BANK_NAME_MATCH", outcome: "pass", cure: null, as_of: null }];
  await ctx.db.pool.query(
    `update firms
    set bank_sealed = $2, bank_last4 = $3, bank_ifsc = $4,
      bank_name = coalesce($5, legal_name), account_id = $6, account_confirmed_at = $7,
      checks = checks || $8::jsonb
    where firm_id = $1`,
    [
      firmId,
      sealed.bank_sealed,
      last4,
      ifsc,
      name ?? null,
      account_id,
      now,
      JSON.stringify(passed),
    ],
  );
  await ctx.db.transaction(async (tx) => {
    await insertConfirmedAccounts(tx, [
      { account_id, firm_id: firmId, ifsc, last4, confirmed_at: now },
    ]);
  });
}
