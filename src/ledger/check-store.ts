// The verdict of the last check of the books, and the checks that read settlements and payouts.

import { exactJson } from "../kernel/json.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { Mismatch } from "./slice-rules.ts";

export type LedgerCheckName =
  | "entry_unchanged"
  | "entry_sums_to_zero"
  | "resolved_once"
  | "statement_complete"
  | "balance_is_sum"
  | "nothing_below_zero"
  | "buyer_pays_seller"
  | "dues_come_first"
  | "payee_confirmed"
  | "owners_in_a_chain"
  | "one_owner"
  | "owner_holds"
  | "uses_explained";

/** The first inconsistency of the books. */
export type Break = Mismatch & { readonly check: LedgerCheckName };

type VerdictRow = {
  readonly checked_at: Date;
  readonly took_ms: number;
  readonly entries: number;
  readonly sound: boolean;
  readonly first_break: Break | null;
};

type CheckPace = { readonly everyMs: number; readonly shareOfTime: number };

/** Whether a check is due. */
export async function findWhetherDue(
  db: Db,
  now: Date,
  { everyMs, shareOfTime }: CheckPace,
): Promise<boolean> {
  const due = await db.rows(sql`
    select
    from ledger_verdict
    where claimed_at is null
      or claimed_at <= ${now}::timestamptz - interval '1 ms'
        * greatest(${everyMs}::float8, took_ms / ${shareOfTime}::float8)`);
  return due.length > 0;
}

/** Claims the check; of several processes one gets it. */
export async function claimCheck(
  db: Db,
  now: Date,
  { everyMs, shareOfTime }: CheckPace,
): Promise<boolean> {
  const claimed = await db.rows(sql`
    update ledger_verdict
    set claimed_at = ${now}
    where claimed_at is null
      or claimed_at <= ${now}::timestamptz - interval '1 ms'
        * greatest(${everyMs}::float8, took_ms / ${shareOfTime}::float8)
    returning claimed_at`);
  return claimed.length > 0;
}

export async function setVerdict(db: Db, verdict: VerdictRow): Promise<void> {
  await db.rows(sql`
    update ledger_verdict
    set checked_at = ${verdict.checked_at}, took_ms = ${verdict.took_ms},
      entries = ${verdict.entries}, sound = ${verdict.sound},
      first_break = ${verdict.first_break && exactJson(verdict.first_break)}::jsonb`);
}

export async function findVerdict(db: Db): Promise<VerdictRow | undefined> {
  const [row] = await db.rows<VerdictRow>(sql`
    select checked_at, took_ms, entries, sound, first_break
    from ledger_verdict
    where checked_at is not null`);
  return row;
}

/** A firm that owes has nothing available and no payout that has not left. */
export async function findMoneyBesideDues(db: Db): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('%s firm %s, which owes %s paise', dues.environment, dues.firm_id,
        -dues.posted_paise) as place,
      kept.found, 'nothing until that is paid' as expected
    from ledger_balances as dues
    cross join lateral (
      (
        select format('%s paise available as %s',
          free.posted_paise - free.escrow_paise - free.pending_out_paise, free.kind) as found
        from ledger_balances as free
        where free.balance in ('firm_cash:' || dues.firm_id, 'desk_commission:' || dues.firm_id)
          and free.posted_paise - free.escrow_paise - free.pending_out_paise > 0
      )
      union all
      (
        select format('the %s payout %s', state, payout_id)
        from payouts
        where payouts.firm_id = dues.firm_id and payouts.queued_as in ('scheduled', 'held')
      )
      order by found
      limit 1
    ) as kept
    where dues.kind = 'firm_dues' and dues.posted_paise < 0
    order by dues.firm_id
    limit 1`);
  return row;
}

/**
 * A leg between two firms on which the buyer pays less than the seller gets: the house would pay the
 * difference. Failed and reversed legs do not count.
 */
export async function findUnderpaidLeg(db: Db): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('credit %s of settlement %s', l.scrip_no, l.settlement_id) as place,
      format('%s paise at %s bps from the buyer', l.buyer_paise, l.buyer_bps) as found,
      format('at least %s paise at %s bps, which the seller gets', l.seller_paise, l.seller_bps)
        as expected
    from settlement_legs as l
    where (l.buyer_paise < l.seller_paise or l.buyer_bps < l.seller_bps)
      and l.state <> 'failed'
      and not exists (
        select
        from settlements as s
        where s.settlement_id = l.settlement_id and s.state = 'reversed'
      )
    order by l.dealt_at, l.settlement_id, l.ordinal
    limit 1`);
  return row;
}

/** The last of the next `limit` payouts, by id; undefined when there are fewer. */
export async function findPayoutsEnd(
  db: Db,
  after: string,
  limit: number,
): Promise<string | undefined> {
  const [row] = await db.rows<{ payout_id: string | null }>(sql`
    select case when count(*) = ${limit}::int then max(payout_id) end as payout_id
    from (
      select payout_id
      from payouts
      where payout_id > ${after}
      order by payout_id
      limit ${limit}
    ) as next`);
  return row?.payout_id ?? undefined;
}

/**
 * A payout that left for an account that the bank has not confirmed for its firm. The sandbox has an
 * account for firms that have given none; what left before accounts had ids is listed by
 * `npx scripdesk money review`.
 */
export async function findUnconfirmedPayee(
  db: Db,
  { after, upTo }: { readonly after: string; readonly upTo: string | undefined },
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('payout %s', p.payout_id) as place,
      format('left for %s, %s …%s', coalesce(p.account_id, 'no account'), p.ifsc, p.last4) as found,
      format('an account of %s that the bank has confirmed', p.firm_id) as expected
    from payouts as p
    left join lateral (
      select true as is_confirmed
      from confirmed_accounts as c
      where c.account_id = p.account_id and c.firm_id = p.firm_id and c.ifsc = p.ifsc
        and c.last4 = p.last4
      limit 1
    ) as account on true
    where p.payout_id > ${after} and p.payout_id <= coalesce(${upTo ?? null}::text, '~')
      and (p.state in ('instructed', 'sent', 'paid')
        or (p.state = 'returned' and p.remitted_with is not null))
      and account.is_confirmed is null
      and not (p.account_id is null and (
        p.former_account is not null or (p.environment = 'sandbox' and p.ifsc = 'SIMB0000001')
      ))
    order by p.payout_id
    limit 1`);
  return row;
}

/** The parts of one credit that one firm told. */
export type UsesPlace = { readonly firmId: string; readonly scripNo: string };

/** The last of the next `limit` parts, by firm and credit; undefined when there are fewer. */
export async function findUsesEnd(
  db: Db,
  { firmId, scripNo }: UsesPlace,
  limit: number,
): Promise<UsesPlace | undefined> {
  const [row] = await db.rows<UsesPlace>(sql`
    select firm_id as "firmId", scrip_no as "scripNo"
    from credit_uses
    where (firm_id, scrip_no) > (${firmId}, ${scripNo})
    order by firm_id, scrip_no
    offset ${limit - 1}
    limit 1`);
  return row;
}

/**
 * Each part takes from the balance that the one before left, all of them and the balance are no more than
 * was issued, and a credit that was sold passed with what was left of it. Its buyer's row begins with the
 * transaction that ends the seller's.
 */
export async function findUnexplainedUse(
  db: Db,
  { after, upTo }: { readonly after: UsesPlace; readonly upTo: UsesPlace | undefined },
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    with part as (
      select firm_id, scrip_no, credit_id, ordinal, amount_paise, balance_paise,
        row_number() over told as place,
        sum(amount_paise) over told as used_paise,
        lag(balance_paise) over (
          partition by firm_id, scrip_no, credit_id
          order by ordinal
        ) as left_before
      from credit_uses
      where (firm_id, scrip_no) > (${after.firmId}, ${after.scripNo})
        and (firm_id, scrip_no) <= (${upTo?.firmId ?? "~"}, ${upTo?.scripNo ?? "~"})
      window told as (partition by firm_id, scrip_no order by ordinal)
    )
    select format('part %s of %s of %s', part.ordinal, part.scrip_no, part.firm_id) as place,
      format('%s used of %s issued, %s left then, %s now, %s with its buyer', part.used_paise,
        c.issued_paise, part.balance_paise, c.face_paise, coalesce(b.face_paise::text, 'nothing'))
        as found,
      format('part %s, taken from %s', part.place, coalesce(part.left_before, c.issued_paise))
        as expected
    from part
    join credits as c using (credit_id)
    left join lateral (
      select bought.face_paise, bought.issued_paise
      from credits as bought
      where c.state = 'transferred' and bought.environment = c.environment
        and bought.scrip_no = c.scrip_no and bought.created_at = c.updated_at
        and bought.state not in ('declared', 'rejected', 'withdrawn')
      limit 1
    ) as b on true
    where part.ordinal <> part.place
      or part.amount_paise + part.balance_paise > coalesce(part.left_before, c.issued_paise)
      or part.used_paise + part.balance_paise > c.issued_paise
      or c.face_paise > part.balance_paise
      or b.face_paise > c.face_paise or b.issued_paise <> c.issued_paise
    order by part.firm_id, part.scrip_no, part.ordinal
    limit 1`);
  return row;
}
