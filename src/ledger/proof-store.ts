// The statements that prove a slice of the books. Each reads one slice by entry number and looks up
// everything else by index, so none grows with the books. A `find` returns the first break or no row.

import { exactJson } from "../kernel/json.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import { moved } from "./store.ts";

export type Mismatch = {
  readonly place: string;
  readonly found: string;
  readonly expected: string;
};

/** Entries after `from` and up to `to`. */
export type Slice = { readonly from: number; readonly to: number };

export type ProvedSlice = Slice & {
  readonly entries: number;
  readonly digest: Buffer;
};

/** The positions of the rounds; a round that is not under way is absent. */
export type Rounds = {
  readonly slices?: number;
  readonly lineBlock?: number;
  readonly payouts?: string;
  readonly owners?: CreditPlace;
  readonly uses?: { readonly firmId: string; readonly scripNo: string };
};

export type CreditPlace = { readonly environment: string; readonly scripNo: string };

export type ProofProgress = { readonly proved_to: number; readonly rounds: Rounds };

export async function findProof(db: Db): Promise<ProofProgress> {
  const [row] = await db.rows<ProofProgress>(sql`select proved_to, rounds from ledger_proof`);
  if (!row) throw new Error("the row of the proof is missing");
  return row;
}

/** Undefined while another process holds it. */
export async function claimProof(tx: Tx): Promise<ProofProgress | undefined> {
  const [row] = await tx.rows<ProofProgress>(sql`
    select proved_to, rounds
    from ledger_proof
    for update skip locked`);
  return row;
}

/** What is undefined is not under way. */
export async function setRounds(
  db: Db,
  rounds: { readonly [Round in keyof Rounds]: Rounds[Round] | undefined },
): Promise<void> {
  await db.rows(sql`update ledger_proof set rounds = ${exactJson(rounds)}::jsonb`);
}

/** Deletes the proof and its sums. */
export async function deleteProof(tx: Tx): Promise<void> {
  await tx.rows(sql`update ledger_proof set proved_to = 0, rounds = '{}'`);
  await tx.rows(sql`delete from ledger_proof_sums`);
  await tx.rows(sql`delete from ledger_proof_owners`);
  await tx.rows(sql`delete from ledger_proof_slices`);
}

/** The last number of the next `limit` entries; undefined when there are none. */
export async function findSliceEnd(
  db: Db,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<number | undefined> {
  const [row] = await db.rows<{ entry_no: number | null }>(sql`
    select max(entry_no) as entry_no
    from (
      select entry_no
      from ledger_entries
      where entry_no > ${after} and entry_no <= ${upTo}
      order by entry_no
      limit ${limit}
    ) as next`);
  return row?.entry_no ?? undefined;
}

/** A digest of a slice that differs if any entry is changed, added or deleted. */
export async function digestSlice(
  db: Db,
  { from, to }: Slice,
): Promise<Pick<ProvedSlice, "entries" | "digest">> {
  const [row] = await db.rows<Pick<ProvedSlice, "entries" | "digest">>(sql`
    select count(*)::int as entries,
      sha256(coalesce(string_agg(int8send(entry_no) || digest, '' order by entry_no), '')) as digest
    from ledger_entries
    where entry_no > ${from} and entry_no <= ${to}`);
  if (!row) throw new Error("a count has a row");
  return row;
}

/** The next `limit` slices that end after a number. */
export async function listSlices(
  db: Db,
  after: number,
  limit: number,
): Promise<readonly ProvedSlice[]> {
  return await db.rows(sql`
    select from_no as from, to_no as to, entries, digest
    from ledger_proof_slices
    where from_no >= ${after}
    order by from_no
    limit ${limit}`);
}

export async function findLastSlice(db: Db): Promise<ProvedSlice | undefined> {
  const [row] = await db.rows<ProvedSlice>(sql`
    select from_no as from, to_no as to, entries, digest
    from ledger_proof_slices
    order by from_no desc
    limit 1`);
  return row;
}

/** Replaces the slice with the same start. */
export async function setProved(tx: Tx, slice: ProvedSlice): Promise<void> {
  await tx.rows(sql`
    insert into ledger_proof_slices as s (from_no, to_no, entries, digest)
    values (${slice.from}, ${slice.to}, ${slice.entries}, ${slice.digest})
    on conflict (from_no) do update
    set to_no = excluded.to_no, entries = excluded.entries, digest = excluded.digest`);
  await tx.rows(sql`update ledger_proof set proved_to = ${slice.to}`);
}

export async function countProved(db: Db): Promise<number> {
  const [row] = await db.rows<{ entries: number }>(sql`
    select coalesce(sum(entries), 0) as entries
    from ledger_proof_slices`);
  return row?.entries ?? 0;
}

export async function countAfter(db: Db, entryNo: number): Promise<number> {
  const [row] = await db.rows<{ entries: number }>(sql`
    select count(*) as entries
    from ledger_entries
    where entry_no > ${entryNo}`);
  return row?.entries ?? 0;
}

export async function findChangedEntry(db: Db, { from, to }: Slice): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
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
    where e.entry_no > ${from} and e.entry_no <= ${to} and made.digest <> e.digest
    order by entry_no
    limit 1`);
  return row;
}

/** The postings of every entry sum to zero. */
export async function findUnbalancedEntry(
  db: Db,
  { from, to }: Slice,
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('entry %s, %s of %s', e.entry_no, e.kind, e.subject) as place,
      format('%s from %s to %s', coalesce((m).amount::text, 'nothing'),
        coalesce((m).from_account, 'nowhere'), coalesce((m).to_account, 'nowhere')) as found,
      'an amount from one account to another' as expected
    from (
      select entry_no, kind, subject, unnest(movements) as m
      from ledger_entries
      where entry_no > ${from} and entry_no <= ${to}
    ) as e
    where (
      (m).from_account <> (m).to_account and (m).amount >= 1
      and ((m).scrip_no is null or (m).amount = 1)
    ) is not true
    order by e.entry_no
    limit 1`);
  return row;
}

/** A resolution ends one pending entry of its own name, once; one that has movements, posts the same. */
export async function findWrongResolution(
  db: Db,
  { from, to }: Slice,
): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('entry %s, %s of %s', r.entry_no, r.kind, r.subject) as place, r.found,
      'the only end of a pending entry, with its movements' as expected
    from (
      select r.entry_no, r.kind, r.subject,
        case
          when other.is_there then format('one of several ends of entry %s', r.resolves)
          when p.entry_no is null then format('an end of entry %s, which is missing', r.resolves)
          when p.phase <> 'pending' then format('an end of entry %s, which was posted', r.resolves)
          when (p.environment, p.kind, p.subject, p.ordinal)
            <> (r.environment, r.kind, r.subject, r.ordinal)
            then format('an end of entry %s, which has another name', r.resolves)
          when cardinality(r.movements) > 0 and p.movements::text <> r.movements::text
            then format('other movements than entry %s', r.resolves)
        end as found
      from ledger_entries as r
      left join lateral (
        select entry_no, phase, environment, kind, subject, ordinal, movements
        from ledger_entries as pending
        where pending.entry_no = r.resolves
        limit 1
      ) as p on true
      left join lateral (
        select true as is_there
        from ledger_entries as other
        where other.resolves = r.resolves and other.entry_no <> r.entry_no
        limit 1
      ) as other on true
      where r.entry_no > ${from} and r.entry_no <= ${to} and r.resolves is not null
    ) as r
    where r.found is not null
    order by r.entry_no
    limit 1`);
  return row;
}

/** Each movement of a credit starts at its last owner, the first at customs; for the slice after the proof. */
export async function findBrokenChain(db: Db, { from, to }: Slice): Promise<Mismatch | undefined> {
  const [row] = await db.rows<Mismatch>(sql`
    select format('%s credit %s at entry %s', move.environment, move.scrip_no, entry_no) as place,
      'from ' || from_account as found,
      'from ' || coalesce(before, proved.account, 'external_customs') as expected
    from (
      select e.environment, m.scrip_no, e.entry_no, m.from_account,
        lag(m.to_account) over (
          partition by e.environment, m.scrip_no
          order by e.entry_no, m.line
        ) as before
      from ledger_entries as e
      ${moved}
      where e.entry_no > ${from} and e.entry_no <= ${to} and e.phase = 'posted'
        and m.scrip_no is not null
    ) as move
    left join lateral (
      select account
      from ledger_proof_owners as known
      where known.environment = move.environment and known.scrip_no = move.scrip_no
        and move.before is null
      limit 1
    ) as proved on true
    where from_account <> coalesce(before, proved.account, 'external_customs')
    order by entry_no, move.scrip_no
    limit 1`);
  return row;
}

/**
 * What the entries of a slice add to sums: what is posted, and what is pending until an entry of the
 * slice ends it. `sign` is 1 for what begins and -1 for what ends; `phase` is that of the money.
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

export const moving = { moves, ended, summed, given } as const;

/** Adds a slice to the proved sums. */
export async function addSums(tx: Tx, { from, to }: Slice): Promise<void> {
  await tx.rows(sql`
    with move as materialized (
      ${moves} > ${from} and e.entry_no <= ${to}
      union all
      ${ended} > ${from} and e.entry_no <= ${to}
    )
    insert into ledger_proof_sums as s (
      environment, account, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
    )
    ${summed}
    order by account
    on conflict (account, environment) do update
    set posted_paise = s.posted_paise + excluded.posted_paise,
      escrow_paise = s.escrow_paise + excluded.escrow_paise,
      pending_out_paise = s.pending_out_paise + excluded.pending_out_paise,
      pending_in_paise = s.pending_in_paise + excluded.pending_in_paise`);
}

/** Adds the owners of a slice to the proof. */
export async function addOwners(tx: Tx, { from, to }: Slice): Promise<void> {
  await tx.rows(sql`
    with move as materialized (
      ${moves} > ${from} and e.entry_no <= ${to}
      union all
      ${ended} > ${from} and e.entry_no <= ${to}
    ), given as (
      ${given}
    )
    insert into ledger_proof_owners as o (environment, scrip_no, account, pending)
    select g.environment, g.scrip_no, coalesce(g.account, known.account),
      array(
        select unnest(coalesce(known.pending, '{}') || g.begun)
        except
        select unnest(g.ended)
        order by 1
      )
    from given as g
    left join lateral (
      select account, pending
      from ledger_proof_owners as proved
      where proved.environment = g.environment and proved.scrip_no = g.scrip_no
      limit 1
    ) as known on true
    order by g.environment, g.scrip_no
    on conflict (environment, scrip_no) do update
    set account = excluded.account, pending = excluded.pending`);
}
