-- Lines of the bank are compared by the balance after them and by their text without case and spaces.
-- Lines from before get the balance that their statement had; their texts are sealed, so the service
-- names them when the next statement comes.
alter table bank_lines
  add column value_at timestamptz,
  add column balance_paise bigint,
  add column text_key text,
  add column repeats_line_id text references bank_lines,
  -- The deals and firms whose money the line may be, while it waits.
  add column claimants text[] not null default '{}';

update bank_lines as l
set value_at = l.day::timestamp at time zone 'Asia/Kolkata', balance_paise = b.balance_paise
from (
  select line_id, s.opening_paise + sum(case direction when 'credit' then paise else -paise end)
    over (partition by statement_id order by ordinal) as balance_paise
  from bank_lines
  join bank_statements as s using (statement_id)
) as b
where b.line_id = l.line_id;

alter table bank_lines
  alter column value_at set not null,
  add constraint bank_lines_repeats check (state <> 'repeated' or text_key is null or repeats_line_id is not null);

drop index bank_lines_once;
create unique index bank_lines_once on bank_lines (environment, text_key, balance_paise)
  nulls not distinct
  where state not in ('new', 'repeated') and repeats_line_id is null and text_key is not null;
create index bank_lines_of_day on bank_lines (environment, day)
  where state not in ('new', 'repeated');
create index bank_lines_unnamed on bank_lines (statement_id) where text_key is null and state <> 'repeated';

-- A buyer's name for its payment is looked for in lines of the bank when it has eight letters and digits.
-- Two crosses of one buyer never wait under one such name. Where they do, the older keeps it, and the
-- buyer of the other may name its payment anew.
create function payment_name(payment_ref text) returns text
  immutable strict parallel safe
  return upper(regexp_replace(payment_ref, '[^A-Za-z0-9]', '', 'g'));

with again as (
  update crosses as c
  set payment_ref = null, version = version + 1
  where c.state = 'agreed' and length(payment_name(c.payment_ref)) >= 8 and exists (
    select
    from crosses as first
    where first.environment = c.environment and first.buyer_firm_id = c.buyer_firm_id
      and first.state = 'agreed' and first.cross_id < c.cross_id
      and payment_name(first.payment_ref) = payment_name(c.payment_ref)
  )
  returning c.cross_id
)
update inquiries
set state = 'dropped'
where kind = 'deal_funding' and state = 'open' and subject_id in (select cross_id from again);

create unique index crosses_payment_names
  on crosses (environment, buyer_firm_id, payment_name(payment_ref))
  where state = 'agreed' and length(payment_name(payment_ref)) >= 8;
