-- An advance of a sandbox desk's clock moves the desk's deadlines in sets, each in a transaction of its
-- own. The clock keeps where the next set begins, so that an advance whose process ended is finished by
-- another. A clock is at most ten years ahead; one that was put further shows ten years.
update desk_clocks set ahead_s = 315576000 where ahead_s > 315576000;
alter table desk_clocks
  add column move jsonb,
  drop constraint desk_clocks_ahead_s_check,
  add constraint desk_clocks_ahead_s_check check (ahead_s between 0 and 315576000);
