-- A key may be kept from moving money out, and shows when it was last used: with the month's counter, in
-- the statement that counts its calls. Until the next call that is the start of its last day of use.
alter table api_keys add column withdrawals boolean not null default true;
alter table usage_months add column used_at timestamptz;

update usage_months as counter
set used_at = (
  select max(day)::timestamp at time zone 'Asia/Kolkata'
  from usage_days as used
  where used.key_id = counter.key_id and to_char(used.day, 'YYYY-MM') = counter.month
);
