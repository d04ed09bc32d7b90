-- Money that came in, each with the bank's reference: a reference counts once, whoever reports it.
create table deposits (
  environment text not null check (environment in ('live', 'sandbox')),
  reference text not null check (reference ~ '^[A-Z0-9]{12,22}$'),
  desk_id text not null,
  firm_id text not null,
  paise bigint not null check (paise between 1 and 9007199254740991),
  -- The settlement that it was paid in for, if it was for one.
  settlement_id text references settlements,
  at timestamptz not null,
  primary key (environment, reference),
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id)
);

-- What takes two operators: the first proposes, another one confirms the same terms.
create table approvals (
  action text not null,
  subject_id text not null,
  terms jsonb not null,
  proposed_by text not null,
  proposed_at timestamptz not null,
  confirmed_by text check (confirmed_by <> proposed_by),
  confirmed_at timestamptz,
  primary key (action, subject_id),
  constraint approvals_confirmed_whole check ((confirmed_by is null) = (confirmed_at is null))
);

-- What a sandbox desk wants to happen to what it does next; taken by the first that it fits.
create table sandbox_scenarios (
  desk_id text not null references firms (firm_id),
  scenario text not null,
  set_at timestamptz not null,
  primary key (desk_id, scenario)
);

-- Thousands of transfers may be asked about at once, and whoever answers looks for some kinds only.
drop index inquiries_due;
create index inquiries_due on inquiries (environment, kind, due_at) where state = 'open';
