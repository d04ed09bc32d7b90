-- People had to look at the console, and desks at their events, to learn that something waits for them.
-- Notices go out by mail:
--
--   notice_addresses   who gets them: addresses of a desk, or of a person who runs the service, who
--                      belongs to the house's desk. What an address does not want is kept with it, also
--                      after its removal
--   notice_cursors     of each desk with an address: every event up to it became notices or was none
--   notices            the outbox: written in the transaction that moves the cursor past their events, so
--                      that an event is in one notice of each address

create table notice_addresses (
  address_id text primary key check (starts_with(address_id, 'nad_') and length(address_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null references firms (firm_id),
  operator_id text references operators (operator_id),
  email text not null check (email ~ '^[!-?A-~]+@[a-z0-9.-]+$' and length(email) <= 254),
  opted_out text[] not null default '{}',
  after_sequence bigint not null check (after_sequence >= 0),
  removed_at timestamptz,
  created_by text not null,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint notice_addresses_once unique nulls not distinct (desk_id, operator_id, email)
);

create table notice_cursors (
  desk_id text primary key references firms (firm_id),
  told_sequence bigint not null check (told_sequence >= 0)
);

create table notices (
  notice_id text primary key check (starts_with(notice_id, 'ntc_') and length(notice_id) = 30),
  address_id text not null references notice_addresses (address_id),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  occasion text not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  events integer not null check (events > 0),
  subject text not null,
  body text not null,
  state text not null check (state in ('waiting', 'sent', 'dead', 'dropped')),
  reason text,
  answer text,
  attempts integer not null,
  lease integer not null,
  due_at timestamptz not null,
  queued_at timestamptz not null,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint notices_once unique (address_id, occasion, first_sequence),
  constraint notices_span check (first_sequence <= last_sequence),
  constraint notices_reason check ((state in ('dead', 'dropped')) <= (reason is not null))
);

-- The sender takes the desks in turn, so it looks for the next desk, and for what is due of it.
create index notices_waiting on notices (environment, desk_id, due_at) where state = 'waiting';
create index notices_due on notices (environment, due_at) where state = 'waiting';
create index notices_dead on notices (notice_id) where state = 'dead';
create index notices_of_desk on notices (desk_id, notice_id);
create index notices_done on notices (updated_at) where state <> 'waiting';
