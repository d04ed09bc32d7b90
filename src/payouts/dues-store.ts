import type { Environment } from "../kernel/caller.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { sql, type Tx } from "../platform/postgres/postgres.ts";
import { payoutColumns, type PayoutRow } from "./store.ts";

/**
 * Locks the payouts of firms that have not been sent and are in no file, and all of a settlement: its
 * first ones are what every later one is a resend of, so none is added. Comes before the lock of the
 * settlement and of money.
 */
export async function lockUnsent(
  tx: Tx,
  firmIds: readonly string[],
  settlementId: string | null = null,
): Promise<void> {
  await tx.rows(sql`
    select
    from payouts
    where payout_id = any(array(
      select payout_id
      from payouts
      where firm_id = any(${firmIds}::text[]) and queued_as in ('scheduled', 'held')
      union
      select payout_id
      from payouts
      where settlement_id = ${settlementId}
    ))
    order by payout_id || ''
    for update`);
}

/**
 * The payouts of firms that have not been sent and are in no file, oldest first. They were locked
 * before, but for those scheduled since. One of these that somebody holds is left to the worker: the
 * firms' money is locked, and whoever holds a payout may wait for that.
 */
export async function claimUnsentByFirm(tx: Tx, firmIds: readonly string[]): Promise<PayoutRow[]> {
  return await tx.rows(sql`
    select ${payoutColumns}
    from payouts
    where firm_id = any(${firmIds}::text[]) and queued_as in ('scheduled', 'held')
    order by payout_id || ''
    for update skip locked`);
}

/** Firms that owe although they have money: available, or in payouts that have not left. */
export async function claimOwing(
  tx: Tx,
  environment: Environment,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<string[]> {
  const rows = await tx.rows<{ firm_id: string }>(sql`
    select dues.firm_id
    from ledger_balances as dues
    where dues.kind = 'firm_dues' and dues.posted_paise < 0 and dues.environment = ${environment}
      and (${only}::text[] is null or dues.firm_id = any(${only}::text[]))
      and dues.firm_id <> all(${except}::text[])
      and (
        exists (
          select
          from ledger_balances as free
          where free.balance in ('firm_cash:' || dues.firm_id, 'desk_commission:' || dues.firm_id)
            and free.posted_paise - free.escrow_paise - free.pending_out_paise > 0
        )
        or exists (
          select
          from payouts
          where payouts.firm_id = dues.firm_id and payouts.queued_as in ('scheduled', 'held')
        )
      )
    order by dues.firm_id
    limit ${limit}`);
  return rows.map(({ firm_id }) => firm_id);
}
