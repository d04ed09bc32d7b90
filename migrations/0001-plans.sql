-- What a key may call is a plan the operator can change, not a constant: desks grow, and a change
-- must take effect on the next request without a release.
--
-- The sandbox plan shows its numbers and is never enforced, so that test code cannot be throttled.
create table plans (
  name text primary key check (name ~ '^[a-z][a-z0-9_-]{0,31}$'),
  per_minute integer not null check (per_minute > 0),
  monthly_quota bigint check (monthly_quota > 0),
  enforced boolean not null,
  updated_at timestamptz not null default now(),
  constraint plans_enforced_with_quota check (enforced = (monthly_quota is not null))
);

insert into plans (name, per_minute, monthly_quota, enforced)
values
  ('starter', 60, 50000, true),
  ('growth', 300, 500000, true),
  ('scale', 1200, 5000000, true),
  ('desk', 60000, 100000000, true),
  ('sandbox', 6000, null, false);
