-- A cross is a deal that two named firms agree on away from the market. It is proposed on a quote of
-- its own, which fixes the terms that both sides then consent to.
create table cross_quotes (
  cross_quote_ref text primary key
    check (starts_with(cross_quote_ref, 'cqt_') and length(cross_quote_ref) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  -- The firm that was acted for, and the side it takes.
  firm_id text not null,
  key_id text not null,
  side text not null check (side in ('sell', 'buy')),
  kind text not null check (kind in ('block', 'intra_group')),
  -- Known here only when it is a firm of the same desk; anybody else is an IEC.
  counterparty_firm_id text,
  seller_iec text not null,
  buyer_iec text not null,
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  -- Null where the seller is to choose what it delivers.
  scrip_nos text[] check (cardinality(scrip_nos) > 0),
  face_paise bigint not null check (face_paise between 1 and 9007199254740991),
  price_bps integer not null check (price_bps between 1 and 10000),
  fee_bps integer not null check (fee_bps between 0 and 10000),
  terms_hash text not null check (length(terms_hash) = 64),
  created_at timestamptz not null,
  valid_until timestamptz not null,
  -- The one cross that was proposed on it.
  cross_id text
);

create table crosses (
  cross_id text primary key check (starts_with(cross_id, 'crs_') and length(cross_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  kind text not null check (kind in ('block', 'intra_group')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  face_paise bigint not null check (face_paise between 1 and 9007199254740991),
  price_bps integer not null check (price_bps between 1 and 10000),
  -- What each side pays the house, tax included, in basis points of face.
  fee_bps integer not null check (fee_bps between 0 and 10000),
  seller_paise bigint not null check (seller_paise between 1 and 9007199254740991),
  buyer_paise bigint not null check (buyer_paise between 1 and 9007199254740991),
  proposed_by text not null check (proposed_by in ('sell', 'buy')),
  seller_iec text not null,
  seller_desk_id text,
  seller_firm_id text,
  buyer_iec text not null,
  buyer_desk_id text,
  buyer_firm_id text,
  -- The IEC whose answer is waited for, wherever a firm of it is; null once one has answered.
  awaited_iec text,
  -- Whether the terms name the credits. Where they do not, the seller chooses when it agrees.
  names_credits boolean not null,
  scrip_nos text[] not null,
  terms_hash text not null check (length(terms_hash) = 64),
  state text not null check (
    state in (
      'proposed', 'agreed', 'funded', 'released', 'settled',
      'declined', 'cancelled', 'expired', 'refunded', 'failed'
    )
  ),
  reason text,
  -- What the buyer names its payment by. With it an agreed cross waits for the bank.
  payment_ref text check (length(payment_ref) between 1 and 64),
  settlement_id text references settlements,
  -- The netting of a group that this cross is a part of.
  netting_ref text,
  -- When what it waits for must have happened; null once its parties have nothing left to do.
  due_at timestamptz,
  history jsonb not null,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint crosses_two_firms check (seller_iec <> buyer_iec),
  constraint crosses_seller_whole check ((seller_desk_id is null) = (seller_firm_id is null)),
  constraint crosses_buyer_whole check ((buyer_desk_id is null) = (buyer_firm_id is null)),
  constraint crosses_awaited check (
    (awaited_iec is not null) = (num_nulls(seller_firm_id, buyer_firm_id) > 0)
    and num_nulls(seller_firm_id, buyer_firm_id) <= 1
  ),
  constraint crosses_agreed_by_both check (
    state not in ('agreed', 'funded', 'released', 'settled', 'refunded', 'failed')
    or (awaited_iec is null and cardinality(scrip_nos) > 0)
  ),
  constraint crosses_funded_by_payment check (
    state not in ('funded', 'released', 'settled', 'failed') or payment_ref is not null
  ),
  constraint crosses_open_have_deadline check (
    (state in ('proposed', 'agreed', 'funded')) = (due_at is not null)
  ),
  constraint crosses_settle_once check (
    (state in ('released', 'settled', 'failed')) = (settlement_id is not null)
  )
);

create unique index crosses_by_settlement on crosses (settlement_id) where settlement_id is not null;
create index crosses_by_seller on crosses (seller_desk_id, created_at desc, cross_id desc)
  where seller_desk_id is not null;
create index crosses_by_buyer on crosses (buyer_desk_id, created_at desc, cross_id desc)
  where buyer_desk_id is not null;
-- Whoever has that IEC on its desk sees what is proposed to it.
create index crosses_by_awaited on crosses (environment, awaited_iec) where awaited_iec is not null;
create index firms_authorized_by_iec on firms (environment, iec) where connection_state = 'authorized';
create index crosses_due on crosses (environment, state, due_at) where due_at is not null;
-- The credits that crosses have reserved, for what customs says about them meanwhile.
create index crosses_reserved on crosses using gin (scrip_nos) where state in ('agreed', 'funded');
create index crosses_by_netting on crosses (netting_ref) where netting_ref is not null;

-- What two firms agree on between themselves is no price of the market: it is on no tape.
alter table settlement_legs add column private boolean not null default false;
drop index settlement_legs_tape;
create index settlement_legs_tape on settlement_legs (environment, scheme, dealt_at)
  where not private;
