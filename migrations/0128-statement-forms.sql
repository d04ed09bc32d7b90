-- The forms of banks' statements, by name: the headings of their columns, and how they write days and signs.
create table statement_forms (
  name text not null primary key check (length(name) between 1 and 100),
  form jsonb not null,
  saved_by text not null,
  saved_at timestamptz not null,
  version integer not null check (version > 0)
);
