-- A netting is what a group was told it could move inside itself, kept as it was told: crosses made
-- under its ref within its time are exactly these moves, or none. Like a quote it names nothing that
-- it could keep alive: groups, firms and credits are looked at again when it is used.
create table netting_runs (
  netting_ref text primary key check (starts_with(netting_ref, 'net_') and length(netting_ref) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  group_id text not null,
  key_id text not null,
  -- Each with the requirement that it is for and the version of it: read whole, never searched.
  proposals jsonb not null check (jsonb_typeof(proposals) = 'array'),
  created_at timestamptz not null,
  valid_until timestamptz not null check (valid_until > created_at),
  -- When its crosses were made: once, and all of them.
  crossed_at timestamptz
);

-- What deals are bringing to a firm counts as its own when its group is netted.
create index crosses_coming on crosses (buyer_firm_id) where state in ('agreed', 'funded');
create index settlements_coming on settlements (buyer_firm_id) where due_at is not null;
