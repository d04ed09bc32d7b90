-- The records that a set of changes makes on one desk are one row, a block, which is read as audit
-- records and as events. A sale wrote ten audit records and eight events, each a row with two index
-- entries; what they say is now compressed in a block, and looked up by few entries of indexes.
--
-- Records and events from before stay in their tables, which have other names now, and nothing is added
-- to them: on each desk the numbers of the blocks go on from theirs. A program of before does not find
-- its tables, and so can neither write beside the blocks nor pass over events that it does not see.
alter table events rename to former_events;
alter index events_pkey rename to former_events_pkey;
alter index events_by_client rename to former_events_by_client;
alter table former_events rename constraint events_environment_check
  to former_events_environment_check;
alter table former_events rename constraint events_event_id_check to former_events_event_id_check;
alter table former_events rename constraint events_sequence_check to former_events_sequence_check;
alter table audit_records rename to former_audit_records;
alter index audit_records_pkey rename to former_audit_records_pkey;
alter index audit_records_by_entity rename to former_audit_records_by_entity;
alter table former_audit_records rename constraint audit_records_actor_kind_check
  to former_audit_records_actor_kind_check;
alter table former_audit_records rename constraint audit_records_environment_check
  to former_audit_records_environment_check;
alter table former_audit_records rename constraint audit_records_hash_check
  to former_audit_records_hash_check;
alter table former_audit_records rename constraint audit_records_record_id_check
  to former_audit_records_record_id_check;
alter table former_audit_records rename constraint audit_records_seq_check
  to former_audit_records_seq_check;

create table journal_blocks (
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  first_seq bigint not null check (first_seq > 0),
  last_seq bigint not null,
  first_sequence bigint check (first_sequence > 0),
  last_sequence bigint,
  at timestamptz not null,
  form smallint not null check (form = 2),
  entities bigint[] not null,
  summary jsonb not null,
  packed bytea not null,
  hashes bytea not null,
  primary key (environment, desk_id, first_seq),
  constraint journal_blocks_records check (last_seq between first_seq and first_seq + 255),
  constraint journal_blocks_hashes check (length(hashes) = 32 * (last_seq - first_seq + 1)),
  constraint journal_blocks_events check (
    (first_sequence is null) = (last_sequence is null)
    and coalesce(last_sequence - first_sequence between 0 and last_seq - first_seq, true)
  )
);
-- Compressed already, or without a pattern.
alter table journal_blocks alter column packed set storage external;
alter table journal_blocks alter column hashes set storage external;
create unique index journal_blocks_by_event on journal_blocks (desk_id, last_sequence)
  where last_sequence is not null;
create index journal_blocks_by_entity on journal_blocks using gin (entities)
  with (fastupdate = off);

-- The events of client firms, for keys of one firm: how many a block has, found by its last number.
create table journal_clients (
  desk_id text not null,
  firm_id text not null,
  last_sequence bigint not null,
  events integer not null check (events between 1 and 256),
  primary key (desk_id, firm_id, last_sequence),
  constraint journal_clients_firm check (firm_id <> desk_id)
);

-- A block holds many events, so a row cannot refer to one of them. A delivery is inserted in the
-- transaction that reads its event, and events are never deleted.
alter table deliveries drop constraint deliveries_desk_id_sequence_fkey;
