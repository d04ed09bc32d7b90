-- Questions to the world outside: customs (registry) and banks. Neither answers at once, both may
-- be away for weeks, and customs has no interface for machines. So a question is a row that waits:
-- in the sandbox a simulation answers it when it falls due, in production an operator answers it
-- with a reference to what they saw.
create table inquiries (
  inquiry_id text primary key check (inquiry_id ~ '^inq_[0-9a-z]{26}$'),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null references firms (firm_id),
  port text not null check (port in ('registry', 'bank')),
  kind text not null,
  -- What is asked about; at most one open question of a kind about one thing.
  subject_id text not null,
  facts jsonb not null,
  state text not null check (state in ('open', 'answered', 'dropped')),
  due_at timestamptz not null,
  answer jsonb,
  as_of timestamptz,
  reference text,
  answered_by text,
  created_at timestamptz not null,
  constraint inquiries_answered_whole check (
    (state = 'answered') = (answer is not null and as_of is not null and answered_by is not null)
  )
);

create unique index inquiries_open_subject on inquiries (kind, subject_id) where state = 'open';
create index inquiries_due on inquiries (environment, due_at) where state = 'open';

-- An outage of a port is a normal state: questions wait, and everybody can see since when.
create table port_outages (
  environment text not null check (environment in ('live', 'sandbox')),
  port text not null check (port in ('registry', 'bank')),
  since timestamptz not null,
  note text not null,
  primary key (environment, port)
);
