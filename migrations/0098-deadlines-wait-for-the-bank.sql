-- A deal that waits for money ends once a statement that reaches past its deadline was applied. Lines from
-- before have days only: their statement reaches to the start of its last day.
alter table bank_statements add column reached_at timestamptz;
update bank_statements set reached_at = last_day::timestamp at time zone 'Asia/Kolkata';
alter table bank_statements alter column reached_at set not null;
create index bank_statements_reached on bank_statements (environment, reached_at)
  where state = 'applied';
