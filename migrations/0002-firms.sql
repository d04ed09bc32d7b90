-- A firm is a company. A desk is a firm together with the client firms it registered; the desk's
-- own firm is the one whose desk_id is itself. Every tenant row belongs to one environment and one
-- desk, so that nothing can be looked up without them.
create table firms (
  firm_id text primary key check (firm_id ~ '^frm_[0-9a-z]{26}$'),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  legal_name text not null check (length(legal_name) between 1 and 200),
  iec text check (iec ~ '^([A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]|[0-9]{10})$'),
  pan text check (pan ~ '^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$'),
  connection_state text not null check (
    connection_state in (
      'registered', 'verifying', 'action_required', 'verified', 'authorized',
      'suspended', 'rejected', 'offboarding', 'offboarded'
    )
  ),
  created_at timestamptz not null,
  unique (environment, desk_id, firm_id),
  -- A client firm is always in the environment of its desk.
  foreign key (environment, desk_id, desk_id) references firms (environment, desk_id, firm_id)
);

-- The operator names a desk when issuing a key: the name must mean one desk.
create unique index firms_desk_name on firms (environment, legal_name) where desk_id = firm_id;
