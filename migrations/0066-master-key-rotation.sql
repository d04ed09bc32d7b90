-- The master key can be changed while the service runs: the database knows which key takes the place of
-- which, so that nobody starts with a key that cannot open what the others have sealed, and no key that
-- was replaced comes back.
alter table master_key_checks
  add column next_key_check bytea check (length(next_key_check) = 32),
  add column retired bytea[] not null default '{}';

-- The key that signs exports changes with the master key. What both keys have signed says that one
-- followed the other, so that what was signed before stays proven.
create table audit_key_successions (
  former_key text primary key check (former_key ~ '^[0-9a-f]{64}$'),
  public_key text not null check (public_key ~ '^[0-9a-f]{64}$'),
  signed_by_former text not null check (signed_by_former ~ '^[0-9a-f]{128}$'),
  signed_by_new text not null check (signed_by_new ~ '^[0-9a-f]{128}$'),
  at timestamptz not null
);
