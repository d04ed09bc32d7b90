-- What a desk says takes two of its keys; nothing until it says so.
create table second_key_rules (
  desk_id text primary key,
  environment text not null check (environment in ('live', 'sandbox')),
  bank_changes boolean not null,
  -- Withdrawals of a firm that come to this sum within 24 hours; null for none.
  withdrawals_from_paise bigint check (withdrawals_from_paise between 1 and 9007199254740991),
  version integer not null check (version > 0),
  updated_at timestamptz not null
);

-- Acts that one key proposed and another one decides.
create table desk_approvals (
  approval_id text primary key,
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  firm_id text not null,
  kind text not null check (kind in ('bank_change', 'withdrawal', 'offboarding', 'rules')),
  state text not null check (state in ('proposed', 'approved', 'rejected', 'voided')),
  -- Everything needed to carry it out; an account number is among it.
  terms_sealed bytea,
  -- The same as both keys may see it.
  shown jsonb not null,
  -- The account that money goes to as things were; under another the proposal is void.
  fact text not null,
  proposed_by text not null,
  proposed_name text not null,
  decided_by text,
  decided_name text,
  reason text,
  payout_id text,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  -- Nobody approves what their own key, or one of the same name, proposed.
  constraint desk_approvals_two_keys check (
    state <> 'approved'
    or (
      decided_by <> proposed_by
      and lower(regexp_replace(decided_name, '\s', '', 'g'))
        <> lower(regexp_replace(proposed_name, '\s', '', 'g'))
    )
  ),
  constraint desk_approvals_decided_whole check (
    (state in ('approved', 'rejected')) = (decided_by is not null)
    and (decided_by is null) = (decided_name is null)
  )
);

create index desk_approvals_newest on desk_approvals (desk_id, created_at desc, approval_id desc);
create index desk_approvals_open on desk_approvals (desk_id) where state = 'proposed';
