// Compares balances and owners with the proof plus the few entries since, and statement lines with
// their entries. Each statement compares the rows between two keys, or two blocks, in one snapshot, in
// which all of these must agree.

import { houseFirmId } from "../kernel/ids.ts";
import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import type { Mismatch } from "./slice-rules.ts";
import type { CreditPlace, Slice } from "./proof-store.ts";
import { stripedKinds } from "./rules.ts";
import { moved } from "./store.ts";

/**
 * What the entries since the proof add to sums: what is posted, and what is pending until one of them
 * ends it. `sign` is 1 for what begins and -1 for what ends; `phase` is that of the money.
 */
const moves = fragment`
  select e.environment, e.entry_no, e.phase, e.held_as, 1 as sign, m.line, m.from_account,
    m.to_account, m.scrip_no, m.amount
  from ledger_entries as e
  ${moved}
  where e.phase <> 'voided' and e.entry_no`;

const ended = fragment`
  select p.environment, p.entry_no, p.phase, p.held_as, -1 as sign, m.line, m.from_account,
    m.to_account, m.scrip_no, m.amount
  from ledger_entries as e
  cross join lateral (
    select *
    from ledger_entries as pending
    where pending.entry_no = e.resolves
    limit 1
  ) as p
  cross join lateral unnest(p.movements) with ordinality
    as m (from_account, to_account, scrip_no, amount, line)
  where e.resolves is not null and e.entry_no`;

const summed = fragment`
  select environment, account, coalesce(sum(posted), 0) as posted_paise,
    coalesce(sum(escrow), 0) as escrow_paise, coalesce(sum(out), 0) as pending_out_paise,
    coalesce(sum(coming), 0) as pending_in_paise
  from (
    select environment, from_account as account,
      case when phase = 'posted' then -amount end as posted,
      case when held_as = 'escrow' then sign * amount end as escrow,
      case when held_as = 'pending_out' then sign * amount end as out,
      null::bigint as coming
    from move
    where scrip_no is null
    union all
    select environment, to_account, case when phase = 'posted' then amount end, null, null,
      case when phase = 'pending' then sign * amount end
    from move
    where scrip_no is null
  ) as posting
  group by environment, account`;

/** By credit: whom the last movement gave it to, null when none did; which are pending and which no more. */
const given = fragment`
  select environment, scrip_no,
    (array_agg(to_account order by entry_no desc, line desc) filter (where phase = 'posted'))[1]
      as account,
    coalesce(array_agg(distinct entry_no) filter (where phase = 'pending' and sign = 1), '{}')
      as begun,
    coalesce(array_agg(distinct entry_no) filter (where sign = -1), '{}') as ended
  from move
  where scrip_no is not null
  group by environment, scrip_no`;

const moveSince = fragment`
  proof as (
    select proved_to
    from ledger_proof
  ), move as materialized (
    ${moves} > (select proved_to from proof)
    union all
    ${ended} > (select proved_to from proof)
  )`;

const differs = fragment`
  (k.posted_paise, k.escrow_paise, k.pending_out_paise, k.pending_in_paise) is distinct from
    (coalesce(e.posted_paise, 0), coalesce(e.escrow_paise, 0), coalesce(e.pending_out_paise, 0),
      coalesce(e.pending_in_paise, 0))`;

const foundBalance = fragment`
  format('%s account %s', environment, account) as place,
  format('posted %s, escrow %s, pending out %s, pending in %s',
    k.posted_paise, k.escrow_paise, k.pending_out_paise, k.pending_in_paise) as found,
  format('posted %s, escrow %s, pending out %s, pending in %s',
    coalesce(e.posted_paise, 0), coalesce(e.escrow_paise, 0), coalesce(e.pending_out_paise, 0),
    coalesce(e.pending_in_paise, 0)) as expected`;

const addedUp = fragment`
  select environment, account, sum(posted_paise) as posted_paise,
    sum(escrow_paise) as escrow_paise, sum(pending_out_paise) as pending_out_paise,
    sum(pending_in_paise) as pending_in_paise`;

/** The stripes of each account of the house and of the outside sum to its posted entries and pending holds. */
export async function findWrongHouseBalance(db: Db): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    with ${moveSince}, since as (
      ${summed}
    ), expected as (
      ${addedUp}
      from (
        select environment, account, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
        from ledger_proof_sums
        where account = any(${stripedKinds}::text[])
        union all
        select *
        from since
        where strpos(account, ':') = 0
      ) as part
      group by environment, account
    ), kept as (
      ${addedUp}
      from ledger_balances
      where balance = any(array(
          select format('%s:%s:%s', kind, environment, stripe)
          from unnest(${stripedKinds}::text[]) as kind,
            unnest(array['live', 'sandbox']) as environment, generate_series(0, 15) as stripe
        ))
      group by environment, account
    )
    select ${foundBalance}
    from expected as e
    full join kept as k using (environment, account)
    where ${differs}
    order by environment, account
    limit 1`);
  return row;
}

/** The last of the next `limit` accounts of firms, by name; undefined when there are fewer. */
export async function findAccountsEnd(
  db: Db,
  after: string,
  limit: number,
): Promise<string | undefined> {
  const [row] = await db.rows<{ account: string | null }>(sql`
    select case when count(*) = ${limit}::int then max(account) end as account
    from (
      (
        select balance as account
        from ledger_balances
        where balance > ${after}
        order by balance
        limit ${limit}
      )
      union
      (
        select account
        from ledger_proof_sums
        where account > ${after}
        order by account
        limit ${limit}
      )
      order by account
      limit ${limit}
    ) as next`);
  return row?.account ?? undefined;
}

/** Each balance of a firm equals the sum of its posted entries and of its pending holds. */
export async function findWrongBalance(
  db: Db,
  { after, upTo }: { readonly after: string; readonly upTo: string | undefined },
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    with ${moveSince}, since as (
      ${summed}
    ), expected as (
      ${addedUp}
      from (
        select environment, account, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
        from ledger_proof_sums
        where account > ${after} and account <= coalesce(${upTo ?? null}::text, '~')
          and strpos(account, ':') > 0
        union all
        select *
        from since
        where account > ${after} and account <= coalesce(${upTo ?? null}::text, '~')
          and strpos(account, ':') > 0
      ) as part
      group by environment, account
    ), kept as (
      select environment, account, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
      from ledger_balances
      where balance > ${after} and balance <= coalesce(${upTo ?? null}::text, '~')
        and firm_id is not null
    )
    select ${foundBalance}
    from expected as e
    full join kept as k using (environment, account)
    where ${differs}
    order by environment, account
    limit 1`);
  return row;
}

/** No balance of a firm is negative, with or without its holds. */
export async function findOverdrawn(
  db: Db,
  { after, upTo }: { readonly after: string; readonly upTo: string | undefined },
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('%s account %s', environment, account) as place,
      format('posted %s, escrow %s, pending out %s, pending in %s',
        posted_paise, escrow_paise, pending_out_paise, pending_in_paise) as found,
      'nothing below zero' as expected
    from ledger_balances
    where balance > ${after} and balance <= coalesce(${upTo ?? null}::text, '~')
      and kind in ('firm_cash', 'desk_commission')
      and least(
        posted_paise, escrow_paise, pending_out_paise, pending_in_paise,
        posted_paise - escrow_paise - pending_out_paise
      ) < 0
    order by environment, account
    limit 1`);
  return row;
}

/** The last of the next `limit` credits, by number; undefined when there are fewer. */
export async function findCreditsEnd(
  db: Db,
  { environment, scripNo }: CreditPlace,
  limit: number,
): Promise<CreditPlace | undefined> {
  const rows = await db.rows<CreditPlace>(sql`
    select environment, scrip_no as "scripNo"
    from (
      (
        select environment, scrip_no
        from credit_owners
        where (environment, scrip_no) > (${environment}, ${scripNo})
        order by environment, scrip_no
        limit ${limit}
      )
      union
      (
        select environment, scrip_no
        from ledger_proof_owners
        where (environment, scrip_no) > (${environment}, ${scripNo})
        order by environment, scrip_no
        limit ${limit}
      )
    ) as next
    order by environment, scrip_no
    offset ${limit - 1}
    limit 1`);
  return rows[0];
}

type CreditRange = { readonly after: CreditPlace; readonly upTo: CreditPlace | undefined };

/** The owner of a credit is the receiver of its last movement; its pending entry is pending. */
export async function findWrongOwner(
  db: Db,
  { after, upTo }: CreditRange,
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    with ${moveSince}, since as (
      ${given}
    ), proved as (
      select environment, scrip_no, account, pending
      from ledger_proof_owners
      where (environment, scrip_no) > (${after.environment}, ${after.scripNo})
        and (environment, scrip_no) <= (${upTo?.environment ?? "~"}, ${upTo?.scripNo ?? "~"})
    ), new as (
      select *
      from since
      where (environment, scrip_no) > (${after.environment}, ${after.scripNo})
        and (environment, scrip_no) <= (${upTo?.environment ?? "~"}, ${upTo?.scripNo ?? "~"})
    ), moved as (
      select environment, scrip_no, coalesce(new.account, proved.account) as account,
        array(
          select unnest(coalesce(proved.pending, '{}') || coalesce(new.begun, '{}'))
          except
          select unnest(new.ended)
          order by 1
        ) as pending
      from proved
      full join new using (environment, scrip_no)
    ), kept as (
      select environment, scrip_no, account, pending_entry_no
      from credit_owners
      where (environment, scrip_no) > (${after.environment}, ${after.scripNo})
        and (environment, scrip_no) <= (${upTo?.environment ?? "~"}, ${upTo?.scripNo ?? "~"})
    )
    select format('%s credit %s', environment, scrip_no) as place,
      coalesce(format('%s, pending %s', o.account, coalesce(o.pending_entry_no::text, 'none')), 'no owner')
        as found,
      format('%s, pending %s', coalesce(c.account, 'external_customs'),
        coalesce(nullif(array_to_string(c.pending, ' and '), ''), 'none')) as expected
    from moved as c
    full join kept as o using (environment, scrip_no)
    where o.account is distinct from coalesce(c.account, 'external_customs')
      or array_remove(array[o.pending_entry_no], null) <> coalesce(c.pending, '{}')
    order by environment, scrip_no
    limit 1`);
  return row;
}

/** The owner of a credit in the books is its holder; a credit without a holder has left the books. */
export async function findAbsentHolder(
  db: Db,
  { after, upTo }: CreditRange,
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('%s credit %s', o.environment, o.scrip_no) as place, o.account as found,
      held.account as expected
    from credit_owners as o
    left join lateral (
      select firm_id
      from credits as live
      where live.environment = o.environment and live.scrip_no = o.scrip_no
        and live.standing = 'live'
      limit 1
    ) as c on true
    cross join lateral (
      select case
        when c.firm_id is null then 'external_customs'
        when c.firm_id = any(${Object.values(houseFirmId)}::text[]) then 'house_credits'
        else 'firm_credits:' || c.firm_id
      end as account
    ) as held
    where (o.environment, o.scrip_no) > (${after.environment}, ${after.scripNo})
      and (o.environment, o.scrip_no) <= (${upTo?.environment ?? "~"}, ${upTo?.scripNo ?? "~"})
      and o.account not in (held.account, 'external_customs')
      and (
        c.firm_id is not null
        or (
          select true
          from credits as ended
          where ended.environment = o.environment and ended.scrip_no = o.scrip_no
            and ended.standing is null
          limit 1
        )
        or (
          select true
          from credits as claim
          where claim.environment = o.environment and claim.scrip_no = o.scrip_no
            and claim.standing = 'claim'
          limit 1
        )
      )
    order by o.environment, o.scrip_no
    limit 1`);
  return row;
}

/** How many blocks of its file the statement lines take. */
export async function countLineBlocks(db: Db): Promise<number> {
  const [row] = await db.rows<{ blocks: number }>(sql`
    select pg_relation_size('ledger_firm_entries') / current_setting('block_size')::int as blocks`);
  return row?.blocks ?? 0;
}

/** Blocks of statement lines from `from` to before `below`. */
type LineBlocks = { readonly from: number; readonly below: number };

/**
 * A firm's statement lines are posted entries that move its money. Lines lie in the order in which they
 * were written, as their entries do: those of neighbouring blocks are of neighbouring entries.
 */
export async function findWrongLine(
  db: Db,
  { from, below }: LineBlocks,
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('entry %s on the statement of %s', l.entry_no, l.firm_id) as place,
      'a line' as found, 'no line' as expected
    from ledger_firm_entries as l
    left join lateral (
      select true as is_there
      from ledger_entries as e
      ${moved}
      where e.entry_no = l.entry_no and e.at = l.at and e.phase = 'posted'
        and l.firm_id in (split_part(m.from_account, ':', 2), split_part(m.to_account, ':', 2))
      limit 1
    ) as concerning on true
    where l.ctid >= ${`(${from},0)`}::tid and l.ctid < ${`(${below},0)`}::tid
      and concerning.is_there is null
    order by l.entry_no, l.firm_id
    limit 1`);
  return row;
}

/**
 * Every posted entry is on the statement of each firm whose money it moves. The lines of each firm are
 * read at once, from the time of its first entry in the slice to that of its last; `nearby` bounds them
 * where an entry has a time far from the others. What is not among them is looked up by itself.
 */
export async function findMissingLine(db: Db, { from, to }: Slice): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    with due as materialized (
      select distinct split_part(side.account, ':', 2) as firm_id, e.at, e.entry_no
      from ledger_entries as e
      ${moved}
      cross join lateral (values (m.from_account), (m.to_account)) as side (account)
      where e.entry_no > ${from} and e.entry_no <= ${to} and e.phase = 'posted'
        and strpos(side.account, ':') > 0
    ), firm as (
      select firm_id, min(at) as first_at, max(at) as last_at, 2 * count(*) + 100 as nearby
      from due
      group by firm_id
    ), unseen as (
      select firm_id, at, entry_no
      from due
      except
      select firm.firm_id, line.at, line.entry_no
      from firm
      cross join lateral (
        select at, entry_no
        from ledger_firm_entries as known
        where known.firm_id = firm.firm_id
          and known.at >= firm.first_at and known.at <= firm.last_at
        order by at, entry_no
        limit firm.nearby
      ) as line
    )
    select format('entry %s on the statement of %s', unseen.entry_no, unseen.firm_id) as place,
      'no line' as found, 'a line' as expected
    from unseen
    left join lateral (
      select true as is_there
      from ledger_firm_entries as line
      where line.firm_id = unseen.firm_id and line.at = unseen.at
        and line.entry_no = unseen.entry_no
      limit 1
    ) as line on true
    where line.is_there is null
    order by unseen.entry_no, unseen.firm_id
    limit 1`);
  return row;
}
