-- Money can be told of twice: by a person, under its UTR, and by a line of the bank. Each UTR of money
-- that came in is written here once by whoever is first, so that two at the same time wait for each other.
create table payment_references (
  environment text not null check (environment in ('live', 'sandbox')),
  reference text not null check (length(reference) between 12 and 22 and reference !~ '[^A-Z0-9]'),
  -- The bank's line; null when a person entered it.
  line_id text references bank_lines,
  primary key (environment, reference)
);

create index payment_references_of_line on payment_references (line_id) where line_id is not null;

-- A narration may have other UTRs than the bank's column.
alter table bank_lines add other_utrs text[] not null default '{}';

-- A deposit that an assigned line brought is explained by that line.
insert into bank_line_entries (environment, kind, subject, line_id)
select distinct on (l.line_id) l.environment, 'deposit', d.reference, l.line_id
from bank_lines as l
join deposits as d on d.environment = l.environment and d.firm_id = l.firm_id and d.paise = l.paise
  and d.reference in (l.utr, 'BL' || upper(left(l.line_key, 18)))
where l.state = 'assigned' and l.direction = 'credit'
order by l.line_id, d.reference = l.utr
on conflict do nothing;

insert into payment_references (environment, reference)
select d.environment, d.reference
from deposits as d
where d.environment = 'live' and not exists (
  select from bank_line_entries as e
  where e.environment = d.environment and e.kind = 'deposit' and e.subject = d.reference
);

insert into payment_references (environment, reference, line_id)
select environment, utr, min(line_id)
from bank_lines
where direction = 'credit' and utr is not null and state not in ('new', 'repeated')
group by environment, utr
on conflict do nothing;
