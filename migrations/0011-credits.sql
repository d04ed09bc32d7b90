-- A credit as its holder sees it: one row is one firm's holding of one scrip. Declaring is a claim
-- that anyone may make; the registry's confirmation makes it a holding, and a scrip has one live
-- holding in an environment. So nobody can block a number by claiming it first.
create table credits (
  credit_id text primary key check (starts_with(credit_id, 'crd_') and length(credit_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  firm_id text not null,
  scrip_no text not null check (scrip_no ~ '^[A-Z0-9][A-Z0-9/-]{5,24}$'),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  issued_paise bigint not null check (issued_paise between 1 and 9007199254740991),
  -- The balance that can be transferred: what is priced and sold.
  face_paise bigint not null check (face_paise between 1 and 9007199254740991),
  port_code text check (port_code ~ '^IN[A-Z0-9]{3}[0-9A-Z]$'),
  issued_on date not null,
  expires_on date not null,
  state text not null check (
    state in (
      'declared', 'rejected', 'listed', 'reserved', 'in_settlement', 'transferred',
      'suspended', 'cancelled', 'expired', 'used', 'withdrawn'
    )
  ),
  -- What a suspended credit returns to when customs lifts the suspension.
  state_before_suspension text,
  -- The order or cross that has it. A credit is one row, so it has one live reservation or none.
  reserved_for text,
  reason text,
  as_of timestamptz not null,
  -- The smallest number of days left that credit.expiring has been told for.
  expiry_told integer,
  -- The day on which the clock has something to do with it: to warn again, or to expire it. Kept, so
  -- that the worker finds what is due in an index and an idle look costs nothing.
  expiry_due_on date not null,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id),
  constraint credits_balance_within_issue check (face_paise <= issued_paise),
  constraint credits_expire_after_issue check (expires_on >= issued_on),
  constraint credits_reserved_for_something check (
    (coalesce(state_before_suspension, state) in ('reserved', 'in_settlement')) = (reserved_for is not null)
  ),
  constraint credits_suspended_from check ((state = 'suspended') = (state_before_suspension is not null))
);

-- One live holding per scrip in an environment.
create unique index credits_live_scrip on credits (environment, scrip_no)
  where state in ('listed', 'reserved', 'in_settlement', 'suspended');
-- One open claim per firm and scrip. The number comes first, so that looking a number up is quick
-- whichever index the planner takes.
create unique index credits_claim on credits (scrip_no, firm_id)
  where state in ('declared', 'listed', 'reserved', 'in_settlement', 'suspended');
-- Claims that lose when another is confirmed.
create index credits_unconfirmed on credits (environment, scrip_no)
  where state = 'declared';
create index credits_by_desk_scrip on credits (desk_id, scrip_no);
create index credits_by_firm on credits (firm_id, created_at desc, credit_id desc);
create index credits_expiry on credits (expiry_due_on)
  where state in ('declared', 'listed', 'suspended');
