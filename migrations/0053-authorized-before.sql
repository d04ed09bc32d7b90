-- A proposal is for firms with its IEC that were authorized before it was made: anybody can register
-- an IEC afterwards. So a firm keeps since when its authorization holds.
alter table firms add column authorized_at timestamptz;

-- By the last record that authorized it; a desk that was opened as it is, since it was opened.
update firms as f
set authorized_at = coalesce(
  (
    select max(r.at)
    from audit_records as r
    where r.entity_id = f.firm_id and r.desk_id = f.desk_id and r.action = 'firm.authorize'
  ),
  f.created_at
)
where f.connection_state in ('authorized', 'suspended', 'offboarding', 'offboarded');

alter table firms add constraint firms_authorized_at_a_time
  check (connection_state <> 'authorized' or authorized_at is not null);
