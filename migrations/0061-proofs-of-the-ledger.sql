-- The check of the books read every entry in one snapshot, which holds back vacuum and grows without
-- end. Now entries are proved once, slice by slice, and what they add up to is kept: a check proves
-- what is new, reads what was proved against a digest of it, and compares the sums.

-- How far the books are proved, and where the rounds over what was proved have come to. One row.
create table ledger_proof (
  only_one boolean primary key default true check (only_one),
  proved_to bigint not null default 0 check (proved_to >= 0),
  rounds jsonb not null default '{}'
);

insert into ledger_proof default values;

-- Entries after one number and up to another, as they were when they were proved.
create table ledger_proof_slices (
  from_no bigint primary key,
  to_no bigint not null,
  entries integer not null check (entries >= 0),
  digest bytea not null check (length(digest) = 32),
  constraint ledger_proof_slices_forward check (from_no < to_no)
);

-- What the proved entries add up to, and what those among them that are pending keep back.
create table ledger_proof_sums (
  account text not null,
  environment text not null check (environment in ('live', 'sandbox')),
  posted_paise numeric not null,
  escrow_paise numeric not null,
  pending_out_paise numeric not null,
  pending_in_paise numeric not null,
  primary key (account, environment)
) with (fillfactor = 70);

-- Whom the proved entries gave each credit to, null when none has moved it yet; and which of them are
-- to move it and are pending.
create table ledger_proof_owners (
  environment text not null check (environment in ('live', 'sandbox')),
  scrip_no text not null,
  account text,
  pending bigint[] not null,
  primary key (environment, scrip_no)
) with (fillfactor = 80);
