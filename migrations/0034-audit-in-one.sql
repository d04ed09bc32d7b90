-- A record gets its place in the chain of its desk in the transaction that makes it, and keeps it in
-- its own row. The sequencer that gave places afterwards cost more than the writing itself: every
-- record was read again, and had a second row with three indexes. No writer waits longer than before:
-- whoever tells a desk of a change holds the desk's number until it commits anyway.

-- Where each desk's chain ends, to be locked by whoever adds to it.
create table audit_heads (
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  seq bigint not null check (seq >= 0),
  hash bytea not null check (length(hash) = 32),
  primary key (environment, desk_id)
) with (fillfactor = 50);

alter table audit_records
  add column seq bigint,
  -- The form of the bytes that were hashed.
  add column form smallint,
  add column hash bytea;

update audit_records as r
set seq = c.seq, form = c.form, hash = c.hash
from audit_chain as c
where c.recorded_in = r.recorded_in and c.record_id = r.record_id;

insert into audit_heads (environment, desk_id, seq, hash)
select distinct on (environment, desk_id) environment, desk_id, seq, hash
from audit_chain
order by environment, desk_id, seq desc;

-- What the sequencer had not come to, by the bytes of form 1.
do $$
declare
  r record;
  head audit_heads;
begin
  for r in
    select * from audit_records where seq is null order by recorded_in, record_id
  loop
    insert into audit_heads (environment, desk_id, seq, hash)
    values (r.environment, r.desk_id, 0, decode(repeat('0', 64), 'hex'))
    on conflict do nothing;
    select * into head
    from audit_heads
    where environment = r.environment and desk_id = r.desk_id;
    head.hash = sha256(convert_to(
      concat(
        '{"v":1,"environment":', to_json(r.environment),
        ',"desk_id":', to_json(r.desk_id),
        ',"seq":', head.seq + 1,
        ',"record_id":', to_json(r.record_id),
        ',"at":"',
        to_char(r.at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"'),
        '","actor_kind":', to_json(r.actor_kind),
        ',"actor_id":', to_json(r.actor_id),
        ',"request_id":', coalesce(to_json(r.request_id)::text, 'null'),
        ',"action":', to_json(r.action),
        ',"entity_type":', to_json(r.entity_type),
        ',"entity_id":', to_json(r.entity_id),
        ',"entity_version":', r.entity_version,
        ',"before_hash":', coalesce(to_json(r.before_hash)::text, 'null'),
        ',"after_hash":', coalesce(to_json(r.after_hash)::text, 'null'),
        ',"prev_hash":"', encode(head.hash, 'hex'), '"'
      ),
      'UTF8'
    ));
    update audit_heads
    set seq = head.seq + 1, hash = head.hash
    where environment = r.environment and desk_id = r.desk_id;
    update audit_records
    set seq = head.seq + 1, form = 1, hash = head.hash
    where recorded_in = r.recorded_in and record_id = r.record_id;
  end loop;
end
$$;

alter table audit_records
  drop constraint audit_records_pkey,
  drop column recorded_in,
  alter column seq set not null,
  alter column form set not null,
  alter column hash set not null,
  add constraint audit_records_seq_check check (seq > 0),
  add constraint audit_records_hash_check check (length(hash) = 32),
  add primary key (environment, desk_id, seq);

create index audit_records_by_entity on audit_records (entity_id, desk_id, seq);

drop table audit_chain, audit_cursor;
