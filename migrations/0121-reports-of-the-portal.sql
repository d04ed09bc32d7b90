-- What operators read of the customs portal: each report with what it said of our transfers, and the rows
-- that fit nothing and wait for a person.
create table ledger_reports (
  report_id text primary key,
  environment text not null check (environment in ('live', 'sandbox')),
  digest text not null,
  as_of timestamptz not null check (as_of <= imported_at),
  is_whole boolean not null,
  transferred integer not null check (transferred >= 0),
  refused integer not null check (refused >= 0),
  pending integer not null check (pending >= 0),
  absent integer not null check (absent >= 0),
  missing integer not null check (missing >= 0),
  known integer not null check (known >= 0),
  queued jsonb not null,
  imported_at timestamptz not null,
  imported_by text not null,
  unique (environment, digest)
);

create index ledger_reports_listed on ledger_reports (environment, report_id);

-- Receivers that find nothing to accept stand first in the operators' queue. The index is not by state:
-- then every step of every leg would write all indexes again.
create index settlement_legs_missing on settlement_legs (environment, settlement_id)
  where missing_at is not null;
