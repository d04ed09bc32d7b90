-- Each firm has a serial number, from which its own account number at the house's bank is made by the
-- form that the bank gave. A form is only added; the last one is told, and numbers of all are read.
alter table firms add column firm_no bigint generated always as identity;
create unique index firms_by_no on firms (firm_no);

create table number_forms (
  environment text not null check (environment in ('live', 'sandbox')),
  version integer not null check (version > 0),
  prefix text check (prefix ~ '^[A-Z0-9]{3,12}$'),
  length integer check (length between 10 and 30),
  alphabet text check (alphabet in ('digits', 'letters')),
  ifsc text check (ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  set_at timestamptz not null,
  set_by text not null,
  approved_by text,
  primary key (environment, version),
  constraint number_forms_whole check (num_nulls(prefix, length, alphabet, ifsc) in (0, 4)),
  constraint number_forms_two_people check (approved_by is null or approved_by <> set_by)
);

-- A desk reads its deposits, the newest first.
create index deposits_of_desk on deposits (desk_id, at, reference);
create index deposits_of_firm on deposits (firm_id, at, reference);
