-- A webhook is sent several events, may be described and paused, and knows the key that registered it.
-- Of a row of before, `events` is null: it has the one of `event`.
alter table webhooks
  add column events text[] check (cardinality(events) > 0),
  add column description text check (length(description) <= 200),
  add column key_id text,
  drop constraint webhooks_state_check,
  add constraint webhooks_state_check check (state in ('active', 'failing', 'disabled', 'paused'));
