-- Who changed what and when: every change by a key, an operator or a worker, with digests of the
-- thing before and after. Rows are only ever added.
create table audit_records (
  record_id text primary key check (record_id ~ '^aud_[0-9a-z]{26}$'),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('key', 'operator', 'worker')),
  actor_id text not null,
  request_id text,
  action text not null,
  entity_type text not null,
  entity_id text not null,
  entity_version integer not null,
  before_hash text,
  after_hash text
);

create index audit_records_by_desk on audit_records (desk_id, at desc, record_id desc);
