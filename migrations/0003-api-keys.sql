-- Keys are shown once and kept as a salted hash. A root key is a firm's own and is issued by the
-- operator; a child key is minted from it, never holds more than it, and dies with it.
create table api_keys (
  key_id text primary key check (key_id ~ '^key_[0-9a-z]{26}$'),
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  kind text not null check (kind in ('root', 'sub_account', 'app')),
  parent_key_id text references api_keys (key_id),
  name text not null check (length(name) between 1 and 100),
  -- A child has no plan of its own: it is metered under its root's, whatever that is today.
  plan text references plans (name),
  scopes text[] not null check (
    cardinality(scopes) > 0
    and scopes <@ array['firms', 'quote', 'orders:write', 'orders:read', 'market:read', 'webhooks:write', '*']
  ),
  buy_side boolean not null,
  per_minute integer check (per_minute > 0),
  monthly_quota bigint check (monthly_quota > 0),
  max_order_paise bigint check (max_order_paise between 1 and 9007199254740991),
  daily_notional_paise bigint check (daily_notional_paise between 1 and 9007199254740991),
  ip_allowlist text[] not null,
  expires_at timestamptz,
  salt bytea not null check (octet_length(salt) = 16),
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  -- The last characters of the key, so that a person can tell which one a masked view means.
  hint text not null check (length(hint) = 4),
  state text not null check (state in ('active', 'revoked')),
  revoked_at timestamptz,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id),
  constraint api_keys_root_has_no_parent check ((kind = 'root') = (parent_key_id is null)),
  constraint api_keys_root_has_plan check ((kind = 'root') = (plan is not null)),
  constraint api_keys_plan_of_environment
    check (plan is null or (environment = 'sandbox') = (plan = 'sandbox')),
  constraint api_keys_revoked_at_a_time check ((state = 'revoked') = (revoked_at is not null))
);

create index api_keys_by_desk on api_keys (desk_id, created_at desc, key_id desc);
create index api_keys_by_parent on api_keys (parent_key_id) where parent_key_id is not null;
