-- Live money leaves in files that the bank is given. A file has a line for each remittance, with the
-- account of the payee as it was then; its number is sealed. A payout is in one file that counts.
create table payout_files (
  file_id text primary key check (starts_with(file_id, 'fil_') and length(file_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  rail text not null check (rail in ('RTGS', 'NEFT', 'IMPS')),
  format jsonb not null,
  state text not null check (state in ('live', 'answered', 'voided')),
  line_count integer not null check (line_count > 0),
  paise bigint not null check (paise between 1 and 9007199254740991),
  -- Of its bytes, since they were first read.
  sha256 bytea check (octet_length(sha256) = 32),
  made_by text not null,
  made_at timestamptz not null,
  voided_by text,
  voided_at timestamptz,
  void_reason text,
  version integer not null check (version > 0),
  constraint payout_files_voided_whole check (
    (voided_by is null) = (voided_at is null) and (voided_by is null) = (void_reason is null)
  ),
  constraint payout_files_voided check (state <> 'voided' or voided_by is not null)
);

create index payout_files_newest on payout_files (made_at desc, file_id desc);

create table payout_file_lines (
  file_id text not null references payout_files,
  ordinal integer not null check (ordinal > 0),
  -- The payout that names the remittance.
  lead_id text not null references payouts,
  firm_id text not null,
  paise bigint not null check (paise between 1 and 9007199254740991),
  reference text not null unique check (length(reference) between 12 and 22 and reference !~ '[^A-Z0-9]'),
  account_sealed bytea not null,
  ifsc text not null,
  account_name text not null,
  state text not null check (state in ('live', 'paid', 'returned', 'voided')),
  primary key (file_id, ordinal)
);

create unique index payout_file_lines_once on payout_file_lines (lead_id) where state <> 'voided';

create table payout_file_items (
  file_id text not null,
  ordinal integer not null,
  payout_id text not null references payouts,
  is_void boolean not null default false,
  primary key (file_id, payout_id),
  foreign key (file_id, ordinal) references payout_file_lines
);

create unique index payout_file_items_once on payout_file_items (payout_id) where not is_void;
