-- A deposit that a person entered by mistake is taken back by an entry that corrects it.
create table deposit_reversals (
  environment text not null,
  reference text not null,
  reason text not null,
  reversed_by text not null,
  at timestamptz not null,
  primary key (environment, reference),
  foreign key (environment, reference) references deposits
);

-- A deposit and its reversal explain each other and have no line: what was reversed is explained by no
-- line of the bank, and what a line explains is not reversed.
alter table bank_line_entries
  alter line_id drop not null,
  add constraint bank_line_entries_explained check (line_id is not null or kind in ('deposit', 'refund'));
