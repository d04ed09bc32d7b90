-- A buy may be placed for a requirement. What such orders have dealt is what covers it; at most one of
-- them rests at a time. A desk is told once, for each day that a requirement is due, that it is not
-- covered; one that is covered is looked at again every day until then, because a deal may still fail.
-- Requirements that were due before this step are not told of.

alter table orders
  add column requirement_id text,
  add constraint orders_requirement_id_check check (requirement_id ~ '^rqm_[0-9a-z]{26}$'),
  add constraint orders_cover_is_a_buy check (requirement_id is null or side = 'buy');

create index orders_of_requirement on orders (requirement_id, order_id)
  where requirement_id is not null;
create unique index orders_one_rests_for_requirement on orders (requirement_id)
  where requirement_id is not null and state = 'open';

alter table requirements
  add column uncovered_told_for date,
  add column uncovered_checked_on date;

update requirements
set uncovered_told_for = due_on
where due_on < (now() at time zone 'Asia/Kolkata')::date;

create index requirements_untold on requirements (due_on)
  where uncovered_told_for is distinct from due_on;

-- The clock of a sandbox desk moves what its firms will have to pay.
create index requirements_by_desk on requirements (desk_id, requirement_id);
