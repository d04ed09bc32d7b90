-- What one desk may hold of the house's day by its open quotes, and how much face an order must have
-- left to rest: both are the operator's to set, so they are terms of the card.
alter table rate_cards
  add column desk_share_bps integer not null default 1000
    check (desk_share_bps between 1 and 10000),
  add column rest_min_paise bigint not null default 100000
    check (rest_min_paise between 1 and 9007199254740991);

-- Resting buys are looked at desk by desk, the best of each first, so that no desk's orders hide
-- those of another.
drop index orders_resting_buys;
create index orders_resting_buys
  on orders (environment, scheme, desk_id, price_bps desc, created_at, order_id)
  where state = 'open' and side = 'buy';
