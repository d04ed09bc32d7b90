-- Calls that were answered, by the block: one desk's of one second, as far as one process had answered
-- them when it wrote. Divided by the month; a month that nobody sees any more is dropped.
create table request_blocks (
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  second timestamptz not null check (second = date_trunc('second', second)),
  block_id text not null,
  -- How many calls there are of each key, route and answer.
  summary jsonb not null check (jsonb_typeof(summary) = 'array'),
  -- Ids of calls that callers chose.
  echoed text[],
  packed text not null,
  primary key (desk_id, second, block_id)
) partition by range (second);
create index request_blocks_newest on request_blocks (second, block_id);
create index request_blocks_echoed on request_blocks using gin (echoed) where echoed is not null;
create table request_blocks_rest partition of request_blocks default;
