-- Which days are holidays differs by year and office, and is announced by others: it is data that the
-- operator keeps. What is different from the week (Sundays, second and fourth Saturdays and the three
-- national holidays are closed) is a row. The starting rows are marked for the operator to check
-- against the lists of the RBI and of customs.
create table calendar_days (
  office text not null check (office in ('bank', 'customs')),
  day date not null,
  name text not null check (length(name) between 1 and 100),
  works boolean not null,
  status text not null check (status in ('check', 'confirmed')),
  changed_at timestamptz not null default now(),
  primary key (office, day),
  -- Customs' business is done by the desk: a day on which the banks are closed counts for nobody.
  constraint calendar_days_customs_closes check (office = 'bank' or not works)
);

-- Every change of the days gives them another version, so that whoever keeps them in memory knows when
-- they are old. No two states of any calendar have the same one.
create table calendar_versions (
  only_one boolean primary key default true check (only_one),
  version uuid not null
);
insert into calendar_versions (version) values (gen_random_uuid());

insert into calendar_days (office, day, name, works, status) values
  ('bank', '2026-01-26', 'Republic Day', false, 'check'),
  ('bank', '2026-02-19', 'Chhatrapati Shivaji Maharaj Jayanti', false, 'check'),
  ('bank', '2026-03-03', 'Holi', false, 'check'),
  ('bank', '2026-03-19', 'Gudhi Padwa', false, 'check'),
  ('bank', '2026-03-26', 'Shri Ram Navami', false, 'check'),
  ('bank', '2026-03-31', 'Mahavir Janmakalyanak', false, 'check'),
  ('bank', '2026-04-01', 'Annual closing of accounts', false, 'check'),
  ('bank', '2026-04-03', 'Good Friday', false, 'check'),
  ('bank', '2026-04-14', 'Dr Babasaheb Ambedkar Jayanti', false, 'check'),
  ('bank', '2026-05-01', 'Maharashtra Day, Buddha Pournima', false, 'check'),
  ('bank', '2026-05-28', 'Bakri Id', false, 'check'),
  ('bank', '2026-06-26', 'Muharram', false, 'check'),
  ('bank', '2026-08-15', 'Independence Day', false, 'check'),
  ('bank', '2026-08-26', 'Id-E-Milad', false, 'check'),
  ('bank', '2026-09-14', 'Ganesh Chaturthi', false, 'check'),
  ('bank', '2026-10-02', 'Mahatma Gandhi Jayanti', false, 'check'),
  ('bank', '2026-10-20', 'Dussehra', false, 'check'),
  ('bank', '2026-11-10', 'Diwali Balipratipada', false, 'check'),
  ('bank', '2026-11-24', 'Guru Nanak Jayanti', false, 'check'),
  ('bank', '2026-12-25', 'Christmas', false, 'check'),
  ('bank', '2027-01-26', 'Republic Day', false, 'check'),
  ('bank', '2027-04-01', 'Annual closing of accounts', false, 'check'),
  ('bank', '2027-04-14', 'Dr Babasaheb Ambedkar Jayanti', false, 'check'),
  ('bank', '2027-08-15', 'Independence Day', false, 'check'),
  ('bank', '2027-10-02', 'Mahatma Gandhi Jayanti', false, 'check'),
  ('customs', '2026-01-26', 'Republic Day', false, 'check'),
  ('customs', '2026-03-04', 'Holi', false, 'check'),
  ('customs', '2026-03-26', 'Ram Navami', false, 'check'),
  ('customs', '2026-03-31', 'Mahavir Jayanti', false, 'check'),
  ('customs', '2026-04-03', 'Good Friday', false, 'check'),
  ('customs', '2026-05-01', 'Buddha Purnima', false, 'check'),
  ('customs', '2026-05-27', 'Id-ul-Zuha', false, 'check'),
  ('customs', '2026-06-26', 'Muharram', false, 'check'),
  ('customs', '2026-08-15', 'Independence Day', false, 'check'),
  ('customs', '2026-08-26', 'Milad-un-Nabi', false, 'check'),
  ('customs', '2026-09-04', 'Janmashtami', false, 'check'),
  ('customs', '2026-10-02', 'Mahatma Gandhi''s Birthday', false, 'check'),
  ('customs', '2026-10-20', 'Dussehra', false, 'check'),
  ('customs', '2026-11-09', 'Diwali', false, 'check'),
  ('customs', '2026-11-24', 'Guru Nanak''s Birthday', false, 'check'),
  ('customs', '2026-12-25', 'Christmas Day', false, 'check');
