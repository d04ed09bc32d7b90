-- Monthly quotas survive restarts and are exact across processes, so the count lives here and is
-- raised before a call is let in. A root key's row is the pool of its whole family: its own calls
-- and those of its children. A child's row is its own calls.
create table usage_months (
  key_id text not null references api_keys (key_id),
  month text not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  calls bigint not null check (calls >= 0),
  primary key (key_id, month)
);

-- Who called what on which day (IST), for GET /v1/usage and for invoices. Written in the statement
-- that raises the quota count, so the two always agree.
create table usage_days (
  key_id text not null references api_keys (key_id),
  day date not null,
  route text not null,
  calls bigint not null check (calls > 0),
  primary key (key_id, day, route)
);
