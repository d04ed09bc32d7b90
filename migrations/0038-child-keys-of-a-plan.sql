-- How many child keys a desk may have at a time is a number of the plan: keys are looked up and
-- counted on every call, and nobody needs them without end. Keys that exist stay.
alter table plans
  add column child_keys_max integer not null default 25 check (child_keys_max >= 0);

update plans
set child_keys_max = sizes.child_keys_max
from (
  values ('starter', 5), ('growth', 25), ('scale', 100), ('desk', 1000), ('sandbox', 1000)
) as sizes (name, child_keys_max)
where plans.name = sizes.name;
