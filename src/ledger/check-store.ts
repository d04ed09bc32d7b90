// What the check of the books asks: each statement gives the first place where something does not
// hold, or no row. They add up inside the database, whose memory for it is bounded, and all read
// one snapshot.

import { houseFirmId } from "../kernel/house.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres.ts";

export type CheckName =
  | "entry_unchanged"
  | "entry_sums_to_zero"
  | "resolved_once"
  | "statement_complete"
  | "balance_is_sum"
  | "nothing_below_zero"
  | "buyer_pays_seller"
  | "owners_in_a_chain"
  | "one_owner"
  | "owner_holds";

/** The first place where the books do not hold. */
export type Break = {
  readonly check: CheckName;
  readonly place: string;
  readonly found: string;
  readonly expected: string;
};

type Found = Omit<Break, "check">;

const unresolved = fragment`
  e.phase = 'pending' and not exists (select from ledger_entries as r where r.resolves = e.entry_no)`;

/**
 * Everything read from here on is of one moment. Adding up may take longer than an answer may, and
 * more memory, and leaves the other processors to callers.
 */
export async function openSnapshot(tx: Tx): Promise<void> {
  await tx.rows(sql`set transaction isolation level repeatable read, read only`);
  await tx.rows(sql`set local statement_timeout = '10min'`);
  await tx.rows(sql`set local work_mem = '64MB'`);
  await tx.rows(sql`set local max_parallel_workers_per_gather = 0`);
}

export async function countEntries(tx: Tx): Promise<number> {
  const [row] = await tx.rows<{ entries: number }>(sql`
    select count(*) as entries
    from ledger_entries`);
  return row?.entries ?? 0;
}

export async function findChangedEntry(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    select format('entry %s, %s of %s', entry_no, kind, subject) as place,
      encode(made.digest, 'hex') as found, encode(e.digest, 'hex') as expected
    from ledger_entries as e
    cross join lateral (
      select substr(
        sha256(
          convert_to(
            concat_ws(
              ' ', environment, kind, ordinal, phase, held_as, resolves, extract(epoch from at),
              movements, subject
            ),
            'UTF8'
          )
        ),
        1, 8
      ) as digest
    ) as made
    where made.digest <> e.digest
    order by entry_no
    limit 1`);
  return row;
}

/** Every movement gives what it takes, so that the postings of each entry and of all sum to zero. */
export async function findUnbalancedEntry(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    select format('entry %s, %s of %s', e.entry_no, e.kind, e.subject) as place,
      format('%s from %s to %s', coalesce((m).amount::text, 'nothing'),
        coalesce((m).from_account, 'nowhere'), coalesce((m).to_account, 'nowhere')) as found,
      'an amount from one account to another' as expected
    from (
      select entry_no, kind, subject, unnest(movements) as m
      from ledger_entries
    ) as e
    where (
      (m).from_account <> (m).to_account and (m).amount >= 1
      and ((m).scrip_no is null or (m).amount = 1)
    ) is not true
    order by e.entry_no
    limit 1`);
  return row;
}

/** A resolution ends a pending entry of its own name, alone, and posts what was pending. */
export async function findWrongResolution(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    select format('entry %s, %s of %s', r.entry_no, r.kind, r.subject) as place, r.found,
      'the only end of a pending entry, with its movements' as expected
    from (
      select r.entry_no, r.kind, r.subject,
        case
          when count(*) over (partition by r.resolves) > 1
            then format('one of several ends of entry %s', r.resolves)
          when p.entry_no is null then format('an end of entry %s, which is missing', r.resolves)
          when p.phase <> 'pending' then format('an end of entry %s, which was posted', r.resolves)
          when (p.environment, p.kind, p.subject, p.ordinal)
            <> (r.environment, r.kind, r.subject, r.ordinal)
            then format('an end of entry %s, which has another name', r.resolves)
          when r.phase = 'posted' and p.movements::text <> r.movements::text
            then format('other movements than entry %s', r.resolves)
        end as found
      from ledger_entries as r
      left join ledger_entries as p on p.entry_no = r.resolves
      where r.resolves is not null
    ) as r
    where r.found is not null
    order by r.entry_no
    limit 1`);
  return row;
}

/** A firm's statement has the posted entries that concern it, and no others. */
export async function findWrongStatement(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    with movement as materialized (
      select entry_no, at, unnest(movements) as m
      from ledger_entries
      where phase = 'posted'
    ), concerned as (
      select split_part((m).from_account, ':', 2) as firm_id, at, entry_no
      from movement
      where strpos((m).from_account, ':') > 0
      union
      select split_part((m).to_account, ':', 2), at, entry_no
      from movement
      where strpos((m).to_account, ':') > 0
    )
    select format('entry %s on the statement of %s', entry_no, firm_id) as place,
      case when l.entry_no is null then 'no line' else 'a line' end as found,
      case when l.entry_no is null then 'a line' else 'no line' end as expected
    from concerned as c
    full join ledger_firm_entries as l using (firm_id, at, entry_no)
    where c.entry_no is null or l.entry_no is null
    order by entry_no, firm_id
    limit 1`);
  return row;
}

/** Each balance is what the postings on its account add up to, and what pending entries keep back. */
export async function findWrongBalance(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    with movement as materialized (
      select e.environment, e.phase, e.held_as, unnest(e.movements) as m
      from ledger_entries as e
      where e.phase = 'posted' or (${unresolved})
    ), posting as (
      select environment, (m).from_account as account,
        sum(case when phase = 'posted' then -(m).amount end) as posted,
        sum(case when held_as = 'escrow' then (m).amount end) as escrow,
        sum(case when held_as = 'pending_out' then (m).amount end) as out,
        null::numeric as coming
      from movement
      where (m).scrip_no is null
      group by 1, 2
      union all
      select environment, (m).to_account, sum(case when phase = 'posted' then (m).amount end), null,
        null, sum(case when phase = 'pending' then (m).amount end)
      from movement
      where (m).scrip_no is null
      group by 1, 2
    ), summed as (
      select environment, account, coalesce(sum(posted), 0) as posted,
        coalesce(sum(escrow), 0) as escrow, coalesce(sum(out), 0) as out,
        coalesce(sum(coming), 0) as coming
      from posting
      group by environment, account
    ), kept as (
      select environment, account, sum(posted_paise) as posted, sum(escrow_paise) as escrow,
        sum(pending_out_paise) as out, sum(pending_in_paise) as coming
      from ledger_balances
      group by environment, account
    )
    select format('%s account %s', environment, account) as place,
      format('posted %s, escrow %s, pending out %s, pending in %s',
        k.posted, k.escrow, k.out, k.coming) as found,
      format('posted %s, escrow %s, pending out %s, pending in %s',
        coalesce(s.posted, 0), coalesce(s.escrow, 0), coalesce(s.out, 0), coalesce(s.coming, 0)
      ) as expected
    from summed as s
    full join kept as k using (environment, account)
    where (k.posted, k.escrow, k.out, k.coming) is distinct from
      (coalesce(s.posted, 0), coalesce(s.escrow, 0), coalesce(s.out, 0), coalesce(s.coming, 0))
    order by environment, account
    limit 1`);
  return row;
}

/** What belongs to a firm is not below zero, before or after what is kept back. */
export async function findOverdrawn(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    select format('%s account %s', environment, account) as place,
      format('posted %s, escrow %s, pending out %s, pending in %s',
        posted_paise, escrow_paise, pending_out_paise, pending_in_paise) as found,
      'nothing below zero' as expected
    from ledger_balances
    where kind in ('firm_cash', 'desk_commission')
      and least(
        posted_paise, escrow_paise, pending_out_paise, pending_in_paise,
        posted_paise - escrow_paise - pending_out_paise
      ) < 0
    order by environment, account
    limit 1`);
  return row;
}

/** A credit comes from customs, and from then on from whoever had it. */
export async function findBrokenChain(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    select format('%s credit %s at entry %s', environment, scrip_no, entry_no) as place,
      'from ' || from_account as found, 'from ' || owner as expected
    from (
      select environment, (m).scrip_no, entry_no, (m).from_account,
        lag((m).to_account, 1, 'external_customs') over (
          partition by environment, (m).scrip_no
          order by entry_no, line
        ) as owner
      from (
        select environment, entry_no, unnest(movements) as m,
          generate_subscripts(movements, 1) as line
        from ledger_entries
        where phase = 'posted'
      ) as e
      where (m).scrip_no is not null
    ) as move
    where from_account <> owner
    order by entry_no, scrip_no
    limit 1`);
  return row;
}

/** The owner is whom the last movement gave the credit to; what is to move it is pending. */
export async function findWrongOwner(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    with movement as (
      select e.environment, e.phase, e.entry_no, unnest(e.movements) as m,
        generate_subscripts(e.movements, 1) as line
      from ledger_entries as e
      where e.phase = 'posted' or (${unresolved})
    ), moved as (
      select environment, (m).scrip_no as scrip_no,
        (max(array[lpad(entry_no::text, 19, '0'), lpad(line::text, 9, '0'), (m).to_account])
          filter (where phase = 'posted'))[3] as account,
        array_agg(distinct entry_no) filter (where phase = 'pending') as pending
      from movement
      where (m).scrip_no is not null
      group by 1, 2
    )
    select format('%s credit %s', environment, scrip_no) as place,
      coalesce(format('%s, pending %s', o.account, coalesce(o.pending_entry_no::text, 'none')), 'no owner') as found,
      format('%s, pending %s', coalesce(c.account, 'external_customs'),
        coalesce(array_to_string(c.pending, ' and '), 'none')) as expected
    from moved as c
    full join credit_owners as o using (environment, scrip_no)
    where o.account is distinct from coalesce(c.account, 'external_customs')
      or array_remove(array[o.pending_entry_no], null) <> coalesce(c.pending, '{}')
    order by environment, scrip_no
    limit 1`);
  return row;
}

/** A credit in the books belongs to whoever holds it; what nobody holds has left them. */
export async function findAbsentHolder(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
    select format('%s credit %s', o.environment, o.scrip_no) as place, o.account as found,
      held.account as expected
    from credit_owners as o
    left join credits as c
      on c.environment = o.environment and c.scrip_no = o.scrip_no and c.standing = 'live'
    cross join lateral (
      select case
        when c.firm_id is null then 'external_customs'
        when c.firm_id = any(${Object.values(houseFirmId)}::text[]) then 'house_credits'
        else 'firm_credits:' || c.firm_id
      end as account
    ) as held
    where o.account not in (held.account, 'external_customs')
      and exists (
        select
        from credits as known
        where known.environment = o.environment and known.scrip_no = o.scrip_no
      )
    order by o.environment, o.scrip_no
    limit 1`);
  return row;
}

export type VerdictRow = {
  readonly checked_at: Date;
  readonly took_ms: number;
  readonly entries: number;
  readonly sound: boolean;
  readonly first_break: Break | null;
};

/** Whether this process is the one to check now; of several, one is told so. */
export async function claimCheck(
  db: Db,
  now: Date,
  { everyMs, shareOfTime }: { readonly everyMs: number; readonly shareOfTime: number },
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
      first_break = ${verdict.first_break && JSON.stringify(verdict.first_break)}::jsonb`);
}

export async function findVerdict(db: Db): Promise<VerdictRow | undefined> {
  const [row] = await db.rows<VerdictRow>(sql`
    select checked_at, took_ms, entries, sound, first_break
    from ledger_verdict
    where checked_at is not null`);
  return row;
}

/**
 * Between two sides the house pays no difference: it would be a gift to whoever agreed on it. What has
 * failed or was reversed is mended.
 */
export async function findUnderpaidLeg(tx: Tx): Promise<Found | undefined> {
  const [row] = await tx.rows<Found>(sql`
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
