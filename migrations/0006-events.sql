-- What happened, written in the transaction of the change and never changed afterwards: webhooks,
-- streams and GET /v1/events all read it.
--
-- Each desk has one gap-free sequence. The next number is taken from this row, under its lock and
-- as the last step of the transaction, so that numbers become visible in their order and a
-- rollback leaves no hole. Desks do not wait for each other.
create table desk_sequences (
  desk_id text primary key references firms (firm_id),
  last_sequence bigint not null check (last_sequence >= 0)
);

create table events (
  desk_id text not null references firms (firm_id),
  sequence bigint not null check (sequence > 0),
  event_id text not null unique check (event_id ~ '^evt_[0-9a-z]{26}$'),
  environment text not null check (environment in ('live', 'sandbox')),
  firm_id text not null,
  event text not null,
  entity_type text not null,
  entity_id text not null,
  entity_version integer not null,
  created_at timestamptz not null,
  -- The exact text that every receiver gets; serialised once, so that its signature is stable.
  body text not null,
  primary key (desk_id, sequence)
);

-- A sub_account key reads the events of one firm among all those of its desk.
create index events_by_firm on events (desk_id, firm_id, sequence);
