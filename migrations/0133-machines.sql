-- Programs that act on the operators' listener without a person: each has a token of its own, the
-- permissions it was given, and networks that it may call from.
create table machines (
  machine_id text primary key,
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'),
  permissions text[] not null check (cardinality(permissions) > 0),
  networks text[] not null check (cardinality(networks) > 0),
  -- What it may do alone within 24 hours.
  day_limit_paise bigint not null check (day_limit_paise between 0 and 9007199254740991),
  -- SHA-256 of the token.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Who was shown the token.
  held_by text not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  disabled_at timestamptz,
  last_used_at timestamptz,
  -- The last call with its token that was refused, and when the admins were told.
  refused_at timestamptz,
  refused_from text,
  refusal text,
  told_at timestamptz,
  version integer not null check (version > 0),
  constraint machines_refused_whole
    check ((refused_at is null) = (refused_from is null) and (refused_at is null) = (refusal is null))
);

-- Whoever holds the token of a machine could propose by it and approve in person.
alter table approvals
  add column held_by text,
  add constraint approvals_two_holders check (
    state <> 'approved'
    or held_by is null
    or lower(replace(decided_by, ' ', '')) <> lower(replace(held_by, ' ', ''))
  );
