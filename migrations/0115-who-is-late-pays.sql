-- A side that is proved late at customs pays the other a part of the face. What is proved is what the
-- portal's report or an attestation showed, never what a party said, so a leg knows since when and until
-- when its transfer was seen pending. What the deal was made on stays with it, whatever the card says
-- later; deals made before were told of nothing.

alter table rate_cards
  add column default_bps integer not null default 50 check (default_bps between 0 and 1000);

alter table settlements
  add column default_bps integer not null default 0 check (default_bps between 0 and 1000);

alter table settlement_legs
  -- Since when customs shows the transfer as pending, and when that was seen last.
  add column pending_from timestamptz,
  add column pending_until timestamptz,
  -- The side that pays, how much, and when the other side got it.
  add column default_by text check (default_by in ('sell', 'buy')),
  add column default_paise bigint not null default 0
    check (default_paise between 0 and 9007199254740991),
  add column default_paid_at timestamptz,
  add constraint settlement_legs_seen_in_order check (
    (pending_from is null) = (pending_until is null) and pending_until >= pending_from
  ),
  add constraint settlement_legs_default_is_whole check (
    (default_by is null) = (default_paise = 0)
    and (default_by is not null or default_paid_at is null)
  ),
  add constraint settlement_legs_default_is_of_a_party check (
    default_by is null
    or state in ('delivered', 'failed') and (default_by = 'buy' or initiate_by = 'firm')
  ),
  -- In live a receiver pays only where the portal showed the transfer after its deadline.
  add constraint settlement_legs_default_is_proved check (
    default_by is distinct from 'buy' or environment = 'sandbox'
    or coalesce(pending_until > accept_due_at, false)
  );

create index settlement_legs_uncollected on settlement_legs (environment, settlement_id)
  where default_by is not null and default_paid_at is null;

-- Who is late counts like who does not pay: a deal can have several of them.
alter table unpaid_deals
  add column failed_step text not null default 'pay'
    check (failed_step in ('pay', 'initiate', 'accept')),
  drop constraint unpaid_deals_pkey,
  add primary key (settlement_id, firm_id);
