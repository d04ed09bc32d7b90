-- One double-entry ledger for paise and for credits. An entry is a list of movements; each movement
-- takes an amount from one account and gives it to another, so it is two postings that sum to zero,
-- and no entry can be out of balance however it is written.

-- A firm's accounts are in the firm's own environment.
alter table firms add constraint firms_in_environment unique (environment, firm_id);

-- An account is named by its kind and, where it is one firm's, by the firm: 'house_cash',
-- 'firm_cash:frm_…'. The amount is paise, or the one credit that is named.
create type ledger_movement_parts as (
  from_account text,
  to_account text,
  scrip_no text,
  amount bigint
);

create domain ledger_movement as ledger_movement_parts check (
  coalesce(
    (value).from_account <> (value).to_account
    and (value).amount between 1 and case when (value).scrip_no is null then 9007199254740991 else 1 end,
    false
  )
);

-- Numbers are taken while the balances that the entry touches are locked: in the order of their
-- numbers, the entries of one firm are in the order in which they took effect.
create sequence ledger_entry_numbers;

create table ledger_entries (
  entry_no bigint primary key,
  environment text not null check (environment in ('live', 'sandbox')),
  kind text not null check (length(kind) between 1 and 40),
  -- What the entry is about: the id of an order, settlement, cross or payout, or a bank's reference.
  subject text not null check (length(subject) between 1 and 64),
  ordinal integer not null check (ordinal >= 0),
  phase text not null check (phase in ('pending', 'posted', 'voided')),
  -- What a pending entry keeps back on the accounts it takes from.
  held_as text check (held_as in ('escrow', 'pending_out')),
  -- The pending entry that this one ends, as posted or as voided.
  resolves bigint references ledger_entries,
  at timestamptz not null,
  -- Together in one row: that is half the writing of a row for each.
  movements ledger_movement[] not null,
  -- Of everything above but the number; whatever is changed afterwards, the check names its entry.
  digest bytea not null check (length(digest) = 8),
  constraint ledger_entries_hold check ((phase = 'pending') = (held_as is not null)),
  constraint ledger_entries_resolve check (
    case phase when 'pending' then resolves is null when 'voided' then resolves is not null else true end
  ),
  constraint ledger_entries_move_something check ((phase = 'voided') = (cardinality(movements) = 0))
);

-- A retry cannot write an entry twice.
create unique index ledger_entries_once on ledger_entries (subject, kind, ordinal, environment)
  where resolves is null;
-- A pending entry is resolved at most once.
create unique index ledger_entries_resolved_once on ledger_entries (resolves)
  where resolves is not null;

-- The posted entries that concern a firm, in the order of its statement.
create table ledger_firm_entries (
  firm_id text not null,
  at timestamptz not null,
  entry_no bigint not null,
  primary key (firm_id, at, entry_no)
);

-- What the movements of each account add up to, kept so that a decision reads one row. Entries of
-- everybody touch the accounts of the house and of the outside, on which nothing is ever refused:
-- each of them is kept in 16 stripes that are added up when they are read, so that nobody waits.
create table ledger_balances (
  -- One word for everything below it that names the balance: the key of every write.
  balance text primary key,
  environment text not null check (environment in ('live', 'sandbox')),
  account text not null,
  kind text not null,
  firm_id text,
  stripe smallint check (stripe between 0 and 15),
  posted_paise bigint not null default 0,
  escrow_paise bigint not null default 0,
  pending_out_paise bigint not null default 0,
  pending_in_paise bigint not null default 0,
  version bigint not null default 0,
  foreign key (environment, firm_id) references firms (environment, firm_id),
  constraint ledger_balances_named check (
    account = kind || coalesce(':' || firm_id, '')
    and balance = account || coalesce(':' || environment || ':' || stripe, '')
  ),
  constraint ledger_balances_kind check (
    case when firm_id is null
      then stripe is not null
        and kind in ('house_cash', 'house_fees', 'gst_payable', 'external_bank')
      else stripe is null and kind in ('firm_cash', 'desk_commission', 'firm_dues')
    end
  ),
  -- What a firm has with us never falls below zero, and neither does what is left of it after holds.
  constraint ledger_balances_floor check (
    kind not in ('firm_cash', 'desk_commission')
    or (
      posted_paise - escrow_paise - pending_out_paise >= 0
      and least(posted_paise, escrow_paise, pending_out_paise, pending_in_paise) >= 0
    )
  )
) with (fillfactor = 50); -- Room to update a row in its page.

insert into ledger_balances (balance, environment, account, kind, stripe)
select kind || ':' || environment || ':' || stripe, environment, kind, kind, stripe
from unnest(array['live', 'sandbox']) as environment,
  unnest(array['house_cash', 'house_fees', 'gst_payable', 'external_bank']) as kind,
  generate_series(0, 15) as stripe;

-- Who owns a credit that has taken part in a deal: one row, so one owner. A pending entry that will
-- move it has it to itself.
create table credit_owners (
  environment text not null check (environment in ('live', 'sandbox')),
  scrip_no text not null,
  account text not null check (
    starts_with(account, 'firm_credits:') or account in ('house_credits', 'external_customs')
  ),
  pending_entry_no bigint references ledger_entries,
  primary key (environment, scrip_no)
) with (fillfactor = 80);

-- What the last check of the books found: payouts go out on a good verdict only. One row.
create table ledger_verdict (
  only_one boolean primary key default true check (only_one),
  claimed_at timestamptz,
  checked_at timestamptz,
  took_ms bigint,
  entries bigint,
  sound boolean,
  first_break jsonb,
  constraint ledger_verdict_whole check (num_nulls(checked_at, took_ms, entries, sound) in (0, 4)),
  constraint ledger_verdict_break check (coalesce(sound, true) = (first_break is null))
);

insert into ledger_verdict default values;
