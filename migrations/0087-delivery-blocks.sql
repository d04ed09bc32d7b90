-- Most deliveries are taken at their first attempt, and nothing about them is changed afterwards. Each
-- was a row that was inserted, leased and settled, with nine entries of indexes, and a row for its
-- attempt. They are now written by the block: some deliveries of one subscription in one row. What
-- fails or takes long leaves its block and has its own row, as all had before.

-- Deliveries that wait for their first attempt or are being sent: a stretch of what a subscription
-- wants, in the order of their events.
create table delivery_blocks (
  webhook_id text not null references webhook_queues (webhook_id),
  first_sequence bigint not null,
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  -- The events.
  sequences bigint[] not null,
  -- When the attempts are due; while they are under way, when they are taken for lost.
  due_at timestamptz not null,
  -- Raised by every claim: only the holder of the current lease records the block.
  lease integer not null check (lease >= 0),
  created_at timestamptz not null,
  primary key (webhook_id, first_sequence),
  constraint delivery_blocks_size check (cardinality(sequences) between 1 and 16),
  constraint delivery_blocks_first check (sequences[1] = first_sequence)
);
create index delivery_blocks_due on delivery_blocks (webhook_id, due_at);

-- Those that were taken at the first attempt, by the month, so that the log of a month can be dropped.
create table delivered_blocks (
  webhook_id text not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  deliveries smallint not null check (deliveries between 1 and 16),
  lease integer not null check (lease > 0),
  -- The digits of the deliveries' ids, 13 bytes each.
  ids bytea not null,
  -- Sequences, and time, duration, status and answer of each attempt, compressed.
  packed bytea not null,
  created_at timestamptz not null,
  delivered_at timestamptz not null,
  primary key (webhook_id, first_sequence, delivered_at),
  constraint delivered_blocks_ids check (length(ids) = 13 * deliveries),
  constraint delivered_blocks_span check (first_sequence <= last_sequence)
) partition by range (delivered_at);
alter table delivered_blocks alter column packed set storage external;
-- For a month that has no partition yet.
create table delivered_blocks_rest partition of delivered_blocks default;

-- A sender of the version before does not see blocks, and would find a queue without anything due. It
-- no longer finds this column, so it leaves the queues alone.
alter table webhook_queues rename column next_due_at to due_at;
