-- The monthly quota is each key's own. A root key's counter held the calls of its children as well;
-- from here on it holds what the key itself called, which the history by day has always known.

update usage_months as counter
set calls = own.calls
from (
  select m.key_id, m.month, coalesce(sum(d.calls), 0) as calls
  from usage_months as m
  left join usage_days as d on d.key_id = m.key_id and to_char(d.day, 'YYYY-MM') = m.month
  where m.key_id in (select parent_key_id from api_keys where parent_key_id is not null)
  group by m.key_id, m.month
) as own
where counter.key_id = own.key_id and counter.month = own.month and counter.calls <> own.calls;

-- What a desk was told of how much of a month's quota a key has used: each mark once a month.
create table usage_notices (
  key_id text not null references api_keys (key_id),
  month text not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  percent integer not null check (percent between 1 and 100),
  told_at timestamptz not null,
  primary key (key_id, month, percent)
);
