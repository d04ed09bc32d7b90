-- What the public asks: to sell, to buy, or something else. Who asks is sealed with a key made from
-- the master key, is read by the operator only, and goes with its row when its time has come.
create table enquiries (
  enquiry_ref text primary key check (enquiry_ref ~ '^enq_[0-9a-z]{26}$'),
  kind text not null check (kind in ('sell', 'buy', 'contact')),
  scheme text check (scheme in ('RODTEP', 'ROSCTL')),
  amount_paise bigint check (amount_paise between 1 and 9007199254740991),
  status text not null check (status in ('received', 'closed')),
  person_sealed bytea not null,
  -- A keyed digest of the whole enquiry: sent again while it is open, it is the same one.
  digest bytea not null,
  -- What the operator notes when closing it; goes with the row too.
  outcome text,
  forget_at timestamptz not null,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint enquiries_about check (
    (kind = 'contact') = (scheme is null) and (kind = 'contact') = (amount_paise is null)
  ),
  constraint enquiries_closed_whole check ((status = 'closed') = (outcome is not null))
);

create unique index enquiries_open_digest on enquiries (digest) where status = 'received';
create index enquiries_newest on enquiries (created_at desc, enquiry_ref desc);
create index enquiries_to_forget on enquiries (forget_at);

-- Whoever sends an enquiry has no key and is no operator.
alter table audit_records drop constraint audit_records_actor_kind_check;
alter table audit_records add constraint audit_records_actor_kind_check
  check (actor_kind in ('key', 'operator', 'worker', 'visitor'));
