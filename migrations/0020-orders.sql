-- One matcher at a time per environment: whoever matches holds this row until the commit. Orders are
-- placed in sets, so the lock is taken once for many, and nobody sees a match half made.
create table match_locks (
  environment text primary key check (environment in ('live', 'sandbox')),
  -- What the matcher that looks after the resting orders has seen: the cards and every change of
  -- an offer made by a transaction before this one.
  seen_cards jsonb not null default '{}',
  seen_before xid8 not null default '0'
);

insert into match_locks (environment) values ('live'), ('sandbox');

create table orders (
  order_id text primary key check (starts_with(order_id, 'ord_') and length(order_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  firm_id text not null,
  key_id text not null,
  side text not null check (side in ('sell', 'buy')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  state text not null check (state in ('open', 'matched', 'cancelled', 'expired', 'failed')),
  -- What was asked for: one credit, a face of whole credits, or cover of a requirement.
  scrip_no text,
  face_paise bigint check (face_paise between 1 and 9007199254740991),
  requirement_paise bigint check (requirement_paise between 1 and 9007199254740991),
  limit_bps integer check (limit_bps between 1 and 10000),
  time_in_force text not null check (time_in_force in ('IOC', 'GTC', 'GTD')),
  expires_at timestamptz,
  quote_ref text,
  client_ref text,
  metadata jsonb,
  -- The credits it sells, or those that cover it so far.
  scrip_nos text[] not null,
  -- Of the credits it sells, those that no deal has yet.
  resting_scrip_nos text[] not null,
  covered_paise bigint not null check (covered_paise >= 0),
  dealt_paise bigint not null check (dealt_paise >= 0),
  -- One order has one price: its first deal sets it, and what rests afterwards rests at it.
  price_bps integer check (price_bps between 1 and 10000),
  all_in_paise bigint not null check (all_in_paise >= 0),
  settlement_ids text[] not null,
  history jsonb not null,
  idempotency_key text,
  -- The request under that key, to tell a retry from another request.
  request jsonb,
  -- Whether it was ever open, and so ever in the book.
  rested boolean not null,
  changed_in xid8 not null default pg_current_xact_id(),
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint orders_side_asks check (
    (side = 'sell') = (face_paise is not null) and (side = 'buy') = (requirement_paise is not null)
  ),
  constraint orders_within_asked check (
    dealt_paise <= covered_paise and covered_paise <= coalesce(face_paise, requirement_paise)
  ),
  constraint orders_priced_when_dealt check ((dealt_paise > 0) <= (price_bps is not null)),
  constraint orders_matched_has_deal check (state <> 'matched' or dealt_paise > 0),
  constraint orders_good_till_date check ((time_in_force = 'GTD') = (expires_at is not null)),
  constraint orders_key_with_request check ((idempotency_key is null) = (request is null))
);

create unique index orders_idempotency_key on orders (desk_id, idempotency_key)
  where idempotency_key is not null;
create index orders_by_desk on orders (desk_id, created_at desc, order_id desc);
create index orders_by_client_ref on orders (desk_id, client_ref) where client_ref is not null;
-- Price, then time.
create index orders_resting_buys on orders (environment, scheme, price_bps desc, created_at, order_id)
  where state = 'open' and side = 'buy';
create index orders_resting_sells on orders (environment, scheme, limit_bps, created_at, order_id)
  where state = 'open' and side = 'sell';
create index orders_open_of_firm on orders (firm_id) where state = 'open';
create index orders_expiring on orders (expires_at) where state = 'open' and expires_at is not null;
-- Whatever rested is followed by the transaction that last changed it: by every node's book, of which
-- the sells are part, and by the matcher.
create index orders_rested on orders (environment, changed_in) where rested;

-- What a key with a daily limit has ordered, by IST day.
create table key_days (
  key_id text not null,
  day date not null,
  ordered_paise bigint not null check (ordered_paise >= 0),
  primary key (key_id, day)
);
