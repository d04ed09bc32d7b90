-- Client firms: who they are, how far their connection has come, and where their money goes. Bank
-- numbers are sealed with a key made from the master key; only the last four digits are readable.
alter table firms
  add column role text not null default 'both' check (role in ('exporter', 'importer', 'both')),
  add column gstin text check (gstin ~ '^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$'),
  add column cin text check (cin ~ '^[LU][0-9]{5}[A-Z]{2}[0-9]{4}[A-Z]{3}[0-9]{6}$'),
  add column email text,
  add column phone text,
  add column bank_sealed bytea,
  add column bank_last4 text check (bank_last4 ~ '^[0-9]{4}$'),
  add column bank_ifsc text check (bank_ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  add column bank_name text,
  add column external_id text,
  add column group_id text,
  add column mandate jsonb,
  add column checks jsonb not null default '[]',
  add column checked_at timestamptz,
  -- A visible hold on payouts: money does not follow a changed beneficiary at once.
  add column hold_reason text,
  add column hold_until timestamptz,
  -- Only who suspended a firm, or the operator, may resume it.
  add column suspended_by text check (suspended_by in ('desk', 'operator')),
  add column suspension_reason text,
  add column version integer not null default 1 check (version > 0),
  add column updated_at timestamptz,
  add constraint firms_bank_whole check (
    (bank_ifsc is null) = (bank_last4 is null)
    and (bank_ifsc is null) = (bank_name is null)
    and (bank_ifsc is not null or bank_sealed is null)
  ),
  -- The number itself goes when the firm goes; what recognises a past payout stays.
  add constraint firms_bank_sealed check (
    (bank_sealed is not null)
      = (bank_last4 is not null and connection_state <> 'offboarded')
  ),
  add constraint firms_hold_whole check ((hold_reason is null) = (hold_until is null)),
  add constraint firms_suspended_by check (
    (connection_state = 'suspended') = (suspended_by is not null)
    and (suspended_by is null) = (suspension_reason is null)
  );

update firms set updated_at = created_at;
alter table firms alter column updated_at set not null;

-- One legal entity is one firm of a desk; a firm that left may come back.
create unique index firms_iec on firms (desk_id, iec)
  where iec is not null and connection_state <> 'offboarded';
create unique index firms_external_id on firms (desk_id, external_id)
  where external_id is not null and connection_state <> 'offboarded';
create index firms_by_desk on firms (desk_id, created_at desc, firm_id desc);
create index firms_by_group on firms (group_id) where group_id is not null;
-- Firms that leave once their business is done: what the worker looks at.
create index firms_offboarding on firms (firm_id) where connection_state = 'offboarding';
