-- Nobody told a firm that a deal waits for its payment or its act at customs. The contact of a live firm
-- is told by mail, from the moment it is given; those that were given before get their addresses here.
-- There is one address for each firm, so its id is made of the firm's.

with contacts as (
  select f.firm_id, f.desk_id, lower(trim(f.email)) as email, coalesce(s.last_sequence, 0) as last_sequence
  from firms as f
  left join desk_sequences as s on s.desk_id = f.desk_id
  where f.environment = 'live' and f.email is not null
    and f.connection_state not in ('rejected', 'offboarded')
    and lower(trim(f.email)) ~ '^[!-?A-~]+@[a-z0-9.-]+$' and length(trim(f.email)) <= 254
), cursors as (
  insert into notice_cursors (desk_id, told_sequence)
  select distinct desk_id, last_sequence
  from contacts
  on conflict do nothing
)
insert into notice_addresses (
  address_id, environment, desk_id, firm_id, email, after_sequence, created_by, version, created_at, updated_at
)
select
  'nad_' || substr(firm_id, 5), 'live', desk_id, firm_id, email, last_sequence, firm_id, 1, now(), now()
from contacts
on conflict do nothing;
