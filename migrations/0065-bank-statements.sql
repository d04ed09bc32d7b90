-- What the bank's own statement says about the account that all live money is on. A file counts once,
-- by its digest, and so does a line, whichever files it is in. What was received and does not count,
-- because nobody approved it or it was read in the wrong form, keeps nothing else from counting.
create table bank_statements (
  statement_id text primary key check (starts_with(statement_id, 'bst_') and length(statement_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  sha256 bytea not null check (octet_length(sha256) = 32),
  format text not null,
  line_count integer not null check (line_count > 0),
  first_day date not null,
  last_day date not null,
  -- What the bank says was on the account before the first line and after the last, where it says so.
  opening_paise bigint,
  closing_paise bigint,
  -- Its lines count once it is applied; over a limit that takes two people.
  state text not null check (state in ('received', 'applied')),
  received_by text not null,
  received_at timestamptz not null,
  -- In which order they came.
  received_no bigint generated always as identity,
  applied_by text,
  applied_at timestamptz,
  unique (environment, sha256, format),
  constraint bank_statements_balances_whole check ((opening_paise is null) = (closing_paise is null)),
  constraint bank_statements_applied_whole check (
    (state = 'applied') = (applied_by is not null) and (applied_by is null) = (applied_at is null)
  )
);

create unique index bank_statements_once on bank_statements (environment, sha256)
  where state = 'applied';
create index bank_statements_newest on bank_statements (environment, last_day desc, received_no desc);

create table bank_lines (
  line_id text primary key check (starts_with(line_id, 'bln_') and length(line_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  statement_id text not null references bank_statements,
  ordinal integer not null check (ordinal > 0),
  line_key text not null,
  day date not null,
  direction text not null check (direction in ('credit', 'debit')),
  paise bigint not null check (paise between 1 and 9007199254740991),
  utr text check (length(utr) between 12 and 22 and utr !~ '[^A-Z0-9]'),
  -- What was written in it, and who the remitter is.
  details_sealed bytea not null,
  -- What it is taken to mean.
  plan jsonb not null,
  state text not null check (
    state in ('new', 'repeated', 'matched', 'queued', 'assigned', 'returning', 'returned')
  ),
  -- Why it waits, or what whoever decided about it said.
  reason text,
  -- The firm that it counts for, and the deal.
  firm_id text,
  deal_id text,
  -- Under which reference a person sent it back.
  back_utr text check (length(back_utr) between 12 and 22 and back_utr !~ '[^A-Z0-9]'),
  decided_by text,
  decided_at timestamptz,
  version integer not null check (version > 0),
  unique (statement_id, line_key),
  constraint bank_lines_sent_back check ((state in ('returning', 'returned')) = (back_utr is not null)),
  constraint bank_lines_decided check (
    state not in ('assigned', 'returning', 'returned') or decided_by is not null
  )
);

create index bank_lines_of_statement on bank_lines (statement_id, ordinal);
create unique index bank_lines_once on bank_lines (environment, line_key)
  where state not in ('new', 'repeated');
create index bank_lines_queue on bank_lines (environment, day, line_id)
  where state in ('queued', 'returning');
create unique index bank_lines_back on bank_lines (environment, back_utr) where back_utr is not null;

-- Which entries of the books a line explains: each entry by one line.
create table bank_line_entries (
  environment text not null,
  kind text not null,
  subject text not null,
  line_id text not null references bank_lines,
  primary key (environment, kind, subject)
);

create index bank_line_entries_of_line on bank_line_entries (line_id);

-- Money on our account of which nobody knows yet whose it is.
alter table ledger_balances
  drop constraint ledger_balances_kind,
  add constraint ledger_balances_kind check (
    case when firm_id is null
      then stripe is not null
        and kind in (
          'house_cash', 'house_fees', 'gst_payable', 'cgst_payable', 'sgst_payable', 'igst_payable',
          'tds_payable', 'unmatched_cash', 'external_bank'
        )
      else stripe is null and kind in ('firm_cash', 'desk_commission', 'firm_dues')
    end
  );

insert into ledger_balances (balance, environment, account, kind, stripe)
select 'unmatched_cash:' || environment || ':' || stripe, environment, 'unmatched_cash',
  'unmatched_cash', stripe
from unnest(array['live', 'sandbox']) as environment, generate_series(0, 15) as stripe;
