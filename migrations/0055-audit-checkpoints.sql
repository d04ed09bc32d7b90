-- The owner of the database can cut off the end of a chain and set its head back, and what is left is
-- whole. So where each desk's chain stood goes out, signed, and is kept here until it has gone.
create table audit_checkpoints (
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  seq bigint not null check (seq > 0),
  -- The bytes that were signed, with their signature.
  line text not null check (length(line) between 1 and 2000),
  made_on date not null,
  made_at timestamptz not null,
  sent_at timestamptz,
  primary key (environment, desk_id, seq)
);

create index audit_checkpoints_unsent on audit_checkpoints (made_at) where sent_at is null;
