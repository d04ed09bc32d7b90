-- One settlement per matched deal: delivery of whole credits against one payment by one buyer.
create table settlements (
  settlement_id text primary key check (starts_with(settlement_id, 'stl_') and length(settlement_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  -- The order or cross that made the deal.
  origin text not null,
  buyer_desk_id text not null,
  buyer_firm_id text not null,
  -- Null when the house buys.
  buyer_order_id text,
  state text not null check (
    state in (
      'pending', 'funded', 'transfer_initiated', 'transfer_confirmed', 'settled', 'failed', 'reversed'
    )
  ),
  reason text,
  face_paise bigint not null check (face_paise between 1 and 9007199254740991),
  buyer_paise bigint not null check (buyer_paise between 0 and 9007199254740991),
  -- When what it waits for must have happened; null once nothing is waited for.
  due_at timestamptz,
  -- Whether the money came after the deal and so is held by entries of its own.
  money_apart boolean not null default false,
  history jsonb not null default '[]',
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint settlements_open_have_deadline check (
    (state in ('pending', 'funded', 'transfer_initiated')) = (due_at is not null)
  )
);

-- What the workers look at: funded ones, and those whose time is up.
create index settlements_open on settlements (environment, state, due_at) where due_at is not null;
create index settlements_unfunded on settlements (buyer_firm_id) where state = 'pending';
-- What a desk bought, newest first. The house, on one side of most deals, reads its own otherwise.
create index settlements_by_buyer on settlements (buyer_desk_id, created_at desc, settlement_id desc)
  where buyer_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
create index settlements_by_order on settlements (buyer_order_id) where buyer_order_id is not null;

-- One leg per credit: who delivers it and what each side's price is. The facts of a leg never
-- change, and together they are the tape that market figures and the public index are made of.
create table settlement_legs (
  settlement_id text not null references settlements,
  scrip_no text not null,
  environment text not null,
  scheme text not null,
  dealt_at timestamptz not null,
  seller_desk_id text not null,
  seller_firm_id text not null,
  -- Null when the house sells.
  seller_order_id text,
  face_paise bigint not null check (face_paise between 1 and 9007199254740991),
  seller_bps integer not null check (seller_bps between 1 and 10000),
  buyer_bps integer not null check (buyer_bps between 1 and 10000),
  seller_paise bigint not null check (seller_paise >= 0),
  -- This credit's share of what the buyer pays: what is refunded when it is not delivered.
  buyer_paise bigint not null check (buyer_paise >= 0),
  -- Names the leg's entries in the books.
  ordinal integer not null check (ordinal >= 0),
  state text not null check (state in ('pending', 'transferring', 'delivered', 'failed')),
  reason text,
  primary key (settlement_id, scrip_no)
);

create index settlement_legs_tape on settlement_legs (environment, scheme, dealt_at);
-- What a desk sold, newest first.
create index settlement_legs_by_seller
  on settlement_legs (seller_desk_id, dealt_at desc, settlement_id desc)
  where seller_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
create index settlement_legs_by_order on settlement_legs (seller_order_id)
  where seller_order_id is not null;
-- The leg that a credit is in, for what customs says about it meanwhile.
create index settlement_legs_open on settlement_legs (environment, scrip_no)
  where state in ('pending', 'transferring');
