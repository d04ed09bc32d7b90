-- A statement with more lines than one text should hold is kept in pages. They are written one by
-- one before the statement that they belong to, whose body names the digest of each; pages that no
-- statement has were left by a process that ended before it was done.
create table statement_pages (
  firm_id text not null references firms (firm_id),
  period text not null check (period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
  -- Whose pages they are: the statement's that saw the books up to this entry.
  seen_entry_no bigint not null check (seen_entry_no >= 0),
  page_no integer not null check (page_no >= 0),
  -- The lines, as a JSON array.
  body text not null,
  primary key (firm_id, period, seen_entry_no, page_no)
);
