-- A quote is a price that binds the house until a time. It is kept as it was answered, with the card
-- it was made from, so that an order can hold the house to it and support can look it up.
--
-- Quotes are written by the thousand a second, so a row costs as little as it can: nothing is
-- computed that follows from other columns, and no foreign key is checked. Firms, keys and cards
-- are never deleted, and each was read a moment before.
create table quotes (
  quote_ref text primary key check (starts_with(quote_ref, 'qte_') and length(quote_ref) = 30),
  environment text not null,
  desk_id text not null,
  -- Whose credit it prices; the firm of the key when no credit was named.
  firm_id text not null,
  key_id text not null,
  side text not null,
  scheme text not null,
  -- The credit that was named.
  scrip_no text,
  face_paise bigint,
  requirement_paise bigint,
  covered_paise bigint,
  -- The bundle.
  scrip_nos text[],
  price_bps integer not null,
  all_in_paise bigint not null check (all_in_paise > 0),
  card_version integer not null,
  created_at timestamptz not null,
  valid_until timestamptz not null,
  -- The one order that was placed on it.
  order_id text,
  constraint quotes_sell check (
    side <> 'sell'
    or (
      face_paise >= all_in_paise
      and requirement_paise is null and covered_paise is null and scrip_nos is null
    )
  ),
  constraint quotes_buy check (
    side <> 'buy'
    or (
      requirement_paise >= covered_paise and covered_paise > all_in_paise
      and cardinality(scrip_nos) > 0
      and scrip_no is null and face_paise is null
    )
  ),
  constraint quotes_side check (side in ('sell', 'buy'))
);

-- What the house could deliver now, by number: every node reads it once, page by page, before it
-- follows the changes.
create index credits_house_listed on credits (environment, scrip_no)
  where state = 'listed'
    and firm_id in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
