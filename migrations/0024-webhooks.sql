-- Who wants to be told of which events, and where. A subscription of a desk is told of all its firms,
-- one of a sub_account key of that firm alone.
create table webhooks (
  webhook_id text primary key check (starts_with(webhook_id, 'whk_') and length(webhook_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null references firms (firm_id),
  firm_id text,
  url text not null check (length(url) <= 2048),
  event text not null,
  state text not null check (state in ('active', 'failing', 'disabled')),
  -- How often its desk has been warned since it last took something.
  warnings integer not null check (warnings >= 0),
  -- The secret signs, so it must be read again; it is unreadable without the master key.
  secret_sealed bytea not null,
  secret_hint text not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  -- The desk's last event when it was registered: it is told of what comes after.
  after_sequence bigint not null check (after_sequence >= 0),
  tested_at timestamptz,
  -- When its desk last had it enabled again; what it failed before counts no more.
  enabled_at timestamptz,
  -- What was sent stays on record, so a subscription that is gone keeps its row.
  deleted_at timestamptz,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id),
  constraint webhooks_previous_secret check (
    (previous_secret_sealed is null) = (previous_secret_until is null)
  )
);

create index webhooks_by_desk on webhooks (desk_id, created_at desc, webhook_id desc)
  where deleted_at is null;
