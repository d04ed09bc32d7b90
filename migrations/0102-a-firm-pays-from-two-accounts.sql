-- A second account that a firm pays from. It counts once another person has confirmed it; a firm that
-- leaves takes it with it.
create table paying_accounts (
  firm_id text primary key references firms,
  account_sealed bytea not null,
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  ifsc text not null check (ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  name text not null,
  entered_by text not null,
  entered_at timestamptz not null,
  confirmed_by text,
  confirmed_at timestamptz,
  constraint paying_accounts_confirmed check ((confirmed_by is null) = (confirmed_at is null))
);
