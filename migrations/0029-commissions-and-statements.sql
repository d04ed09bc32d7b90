-- What a desk earns on its clients' deals, in basis points of face. A desk without a row has the
-- rate that every desk begins with.
create table commission_rates (
  desk_id text primary key references firms (firm_id),
  environment text not null check (environment in ('live', 'sandbox')),
  bps integer not null check (bps between 0 and 100),
  version integer not null check (version > 0),
  updated_at timestamptz not null
);

-- Statements of months that are over, as they were made. What is corrected later is in the
-- statement of the month in which it was corrected, so a row is never changed.
create table statements (
  firm_id text not null references firms (firm_id),
  -- A month in IST.
  period text not null check (period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
  environment text not null check (environment in ('live', 'sandbox')),
  opening_paise bigint not null check (opening_paise between 0 and 9007199254740991),
  closing_paise bigint not null check (closing_paise between 0 and 9007199254740991),
  -- What of the closing balance is commission earned as a desk; the rest is cash.
  commission_paise bigint not null check (commission_paise between 0 and closing_paise),
  -- What the firm owed the house at the end, beside its balance.
  dues_paise bigint not null,
  -- The last entry of the firm that was there when the statement was made: an entry with a time in
  -- the month and a higher number came too late for it, and belongs to the next.
  seen_entry_no bigint not null check (seen_entry_no >= 0),
  frozen_at timestamptz not null,
  -- Everything the statement says, as text, and the SHA-256 of it.
  body text not null,
  digest bytea not null check (length(digest) = 32),
  primary key (firm_id, period)
);

-- A contract note names the money that came for its deal.
create index deposits_by_settlement on deposits (settlement_id) where settlement_id is not null;
