-- What is sent to whom. An event becomes one delivery for each subscription that wants it; a delivery
-- is sent until it is taken or given up.
--
-- A subscription's queue says how far the desk's events have become deliveries, and when the next
-- delivery is due at the earliest. The sender looks at queues first, so that one receiver's backlog
-- never hides another's work.
create table webhook_queues (
  webhook_id text primary key references webhooks (webhook_id),
  fanned_sequence bigint not null,
  -- Never later than the earliest pending delivery; null only when there is none.
  next_due_at timestamptz,
  -- When the sender last took something from it: who has waited longest for a turn goes first.
  served_at timestamptz,
  failing_since timestamptz
);

create index webhook_queues_due on webhook_queues (next_due_at) where next_due_at is not null;

create table deliveries (
  delivery_id text primary key check (starts_with(delivery_id, 'dlv_') and length(delivery_id) = 30),
  webhook_id text not null references webhook_queues (webhook_id),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  -- The event: its body is stored there and nowhere else.
  sequence bigint not null,
  event text not null,
  state text not null check (state in ('pending', 'delivered', 'dead')),
  -- When the next attempt is due; while one is under way, when it is taken for lost.
  due_at timestamptz not null,
  -- Raised by every claim. What was claimed under an earlier number is no longer anybody's to settle.
  lease integer not null,
  attempts integer not null check (attempts >= 0),
  -- Attempts since it was queued or last replayed: how far the schedule has come.
  tries integer not null check (tries >= 0),
  last_status integer,
  reason text,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (desk_id, sequence) references events (desk_id, sequence),
  -- One delivery per event and subscription; also the order in which they are listed.
  constraint deliveries_once unique (webhook_id, sequence)
) with (fillfactor = 80);

create index deliveries_pending on deliveries (webhook_id, due_at) where state = 'pending';
create index deliveries_dead on deliveries (desk_id, updated_at desc, delivery_id desc)
  where state = 'dead';

-- One row per POST. A lease has at most one attempt; one that a crash took along has none.
create table delivery_attempts (
  delivery_id text not null,
  lease integer not null,
  at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  outcome text not null check (outcome in ('delivered', 'transient', 'permanent')),
  status integer,
  reason text,
  -- The first bytes of the answer, as text.
  answer text not null,
  primary key (delivery_id, lease)
);
