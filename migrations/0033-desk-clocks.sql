-- How far a sandbox desk has put its clock forward, so that whole days are counted from where the
-- last step ended.
create table desk_clocks (
  desk_id text primary key references firms (firm_id),
  ahead_s bigint not null check (ahead_s > 0)
);
