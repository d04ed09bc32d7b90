-- A block keeps the traces of the requests whose events it has, beside what is hashed: webhooks pass
-- them on. A list of [place among the block's events, `traceparent` or null], each up to the next; null
-- where no event has one.

alter table journal_blocks add column traces jsonb;
alter table journal_blocks
  add constraint journal_blocks_traces
  check (jsonb_typeof(traces) = 'array' and last_sequence is not null or traces is null) not valid;
