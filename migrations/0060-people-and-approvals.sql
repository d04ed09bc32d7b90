-- People who run the service, each with a role and credentials of their own, so that the audit trail
-- names them and one person cannot be two.
create table operators (
  operator_id text primary key,
  name text not null check (name ~ '^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$'),
  -- Two spellings of one name are one person.
  name_key text not null unique check (name_key = lower(replace(name, ' ', ''))),
  role text not null check (role in ('viewer', 'dealer', 'settlement', 'admin')),
  -- Both are missing until the person has enrolled.
  password_hash text,
  totp_sealed bytea,
  -- The last time step of which a code was used; no code is used twice.
  totp_step bigint not null default 0,
  -- Digests of the codes that the person enrols with, one from each person who let them in.
  enrol_hashes bytea[],
  enrol_until timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  disabled_at timestamptz,
  version integer not null check (version > 0),
  constraint operators_enrolled_whole check ((password_hash is null) = (totp_sealed is null)),
  constraint operators_enrolling_whole check ((enrol_hashes is null) = (enrol_until is null))
);

create table operator_sessions (
  -- SHA-256 of the token.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  operator_id text not null references operators,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  revoked_at timestamptz
);

create index operator_sessions_open on operator_sessions (operator_id) where revoked_at is null;

-- Attempts to sign in that failed, by the name that was given, whether or not somebody has it.
create table operator_attempts (
  name_key text primary key,
  failures integer not null check (failures >= 0),
  next_at timestamptz not null
);

-- What takes two people is a queue: a proposal is decided by somebody else before it happens. What
-- was proposed before the queue existed has no facts to hold it to and is proposed again.
alter table approvals drop constraint approvals_pkey;
alter table approvals drop constraint approvals_check;
alter table approvals drop constraint approvals_confirmed_whole;
alter table approvals rename column action to kind;
alter table approvals rename column confirmed_by to decided_by;
alter table approvals rename column confirmed_at to decided_at;
alter table approvals
  add column approval_id text,
  add column environment text,
  add column state text,
  add column summary text,
  add column value_paise bigint,
  add column facts_hash text,
  add column expires_at timestamptz,
  add column reason text;
update approvals
set approval_id = 'apr_' || substr(md5(kind || ' ' || subject_id), 1, 26),
  environment = 'live',
  state = case when decided_by is null then 'voided' else 'approved' end,
  summary = kind || ' ' || subject_id,
  facts_hash = '',
  expires_at = proposed_at,
  reason = case when decided_by is null then 'made before proposals had facts' end,
  decided_by = coalesce(decided_by, proposed_by),
  decided_at = coalesce(decided_at, proposed_at);
alter table approvals
  alter column approval_id set not null,
  alter column environment set not null,
  alter column state set not null,
  alter column summary set not null,
  alter column facts_hash set not null,
  alter column expires_at set not null,
  add primary key (approval_id),
  add constraint approvals_environment_check check (environment in ('live', 'sandbox')),
  add constraint approvals_state_check
    check (state in ('proposed', 'approved', 'rejected', 'voided', 'expired')),
  add constraint approvals_value_check check (value_paise between 0 and 9007199254740991),
  add constraint approvals_decided_whole check (
    (state = 'proposed') = (decided_by is null)
    and (decided_by is null) = (decided_at is null)
  ),
  -- Nobody approves what they proposed, however they spell their name.
  add constraint approvals_two_people check (
    state <> 'approved'
    or lower(replace(decided_by, ' ', '')) <> lower(replace(proposed_by, ' ', ''))
  );

-- One open proposal about a thing at a time.
create unique index approvals_open on approvals (kind, subject_id) where state = 'proposed';
create index approvals_by_subject on approvals (kind, subject_id, state);
create index approvals_newest on approvals (proposed_at desc, approval_id desc);
