-- The audit trail becomes a chain of hashes for each desk, made after the commit by one sequencer, so
-- that no writer waits for another and none pays for the chain.
--
-- A record knows the transaction that wrote it. What is older than every transaction still running is
-- complete, so the sequencer remembers how far it has come and still misses nobody who commits late.
-- Records are found by that alone; whoever looks at a desk goes by the chain, so the index by desk,
-- which every writer paid for, goes.
drop index audit_records_by_desk;

alter table audit_records
  drop constraint audit_records_pkey,
  add column recorded_in xid8 not null default pg_current_xact_id(),
  drop constraint audit_records_actor_kind_check,
  add constraint audit_records_actor_kind_check
    check (actor_kind in ('key', 'operator', 'worker', 'visitor', 'counterparty'));

alter table audit_records add primary key (recorded_in, record_id);

-- One link for each record. A link is only ever added: the hash of each holds all that came before it
-- on its desk. Time and entity are here as well because trails are searched by them.
create table audit_chain (
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  seq bigint not null check (seq > 0),
  recorded_in xid8 not null,
  record_id text not null,
  -- The form of the bytes that were hashed.
  form smallint not null,
  hash bytea not null check (length(hash) = 32),
  at timestamptz not null,
  entity_id text not null,
  primary key (environment, desk_id, seq)
);

-- Nothing is chained twice.
create unique index audit_chain_by_record on audit_chain (recorded_in, record_id);

create index audit_chain_by_entity on audit_chain (environment, desk_id, entity_id, seq);

-- Every record up to here has its link.
create table audit_cursor (
  only_one boolean primary key default true check (only_one),
  recorded_in xid8 not null,
  record_id text not null
);

insert into audit_cursor (recorded_in, record_id) values ('0', '');
