-- Operators look for things, and go through lists, over all desks at once. Ids begin with their time, so
-- the newest rows of most tables are the last of their primary key. Live rows among many of the sandbox,
-- rows in rare states, and firms by what a person knows of them need indexes of their own. A deal of
-- the sandbox that a desk makes for itself writes into none of these.

create index orders_live on orders (order_id) where environment = 'live';
create index orders_of_client on orders (firm_id, created_at desc, order_id desc)
  where firm_id <> desk_id;
create index orders_undone on orders (environment, order_id)
  where state in ('cancelled', 'expired', 'failed');

create index settlements_live on settlements (settlement_id) where environment = 'live';
create index settlements_undone on settlements (environment, settlement_id)
  where state in ('failed', 'reversed');

create index payouts_live on payouts (payout_id) where environment = 'live';
create index payouts_by_state on payouts (environment, state, payout_id) where state <> 'paid';

create index crosses_live on crosses (cross_id) where environment = 'live';

create index credits_live_newest on credits (credit_id) where environment = 'live';

create index firms_newest on firms (created_at desc, firm_id desc);
create index firms_live_newest on firms (created_at desc, firm_id desc) where environment = 'live';
create index firms_to_look_at on firms (connection_state, created_at desc, firm_id desc)
  where connection_state <> 'authorized';
create index firms_desks_newest on firms (created_at desc, firm_id desc) where desk_id = firm_id;
create index firms_by_iec on firms (iec) where iec is not null;
create index firms_by_pan on firms (pan) where pan is not null;
create index firms_by_name on firms (lower(legal_name) text_pattern_ops);
-- A name is words: signs between them are taken for spaces, here and in what is searched for.
create index firms_by_words on firms
  using gin (to_tsvector('simple', translate(legal_name, './-&,()_@:''"', '            ')));

create index api_keys_newest on api_keys (created_at desc, key_id desc);
create index bank_lines_by_utr on bank_lines (utr) where utr is not null;
