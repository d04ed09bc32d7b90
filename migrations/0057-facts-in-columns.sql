-- What a quote was priced on, in columns of its own. As one jsonb it was written as text within an
-- array, escaped, and parsed again for every quote; most quotes are of one credit and have two facts.
-- Only the offers of a bundle are a list and stay jsonb.
alter table quotes
  -- A sell of one credit: the holding and its expiry.
  add column credit_id text,
  add column expires_on date,
  -- A sell of an amount: what may be delivered at its price.
  add column face_min_paise bigint,
  add column days_left_min int,
  -- A buy: each offer of its bundle, in the order of scrip_nos.
  add column offers jsonb;

update quotes
set
  credit_id = facts ->> 'credit_id',
  expires_on = (facts ->> 'expires_on')::date,
  face_min_paise = (facts ->> 'face_min_paise')::bigint,
  days_left_min = (facts ->> 'days_left_min')::int,
  offers = facts -> 'offers'
where facts <> '{}';

-- A quote from before facts were kept has none.
alter table quotes
  drop column facts,
  drop constraint quotes_sell,
  add constraint quotes_sell check (
    side <> 'sell' or (
      face_paise >= all_in_paise and requirement_paise is null and covered_paise is null
      and scrip_nos is null and offers is null
      and (credit_id is null) = (expires_on is null)
      and (face_min_paise is null) = (days_left_min is null)
      and (credit_id is null or (scrip_no is not null and face_min_paise is null))
    )
  ),
  drop constraint quotes_buy,
  add constraint quotes_buy check (
    side <> 'buy' or (
      requirement_paise >= covered_paise and covered_paise > all_in_paise
      and cardinality(scrip_nos) > 0 and scrip_no is null and face_paise is null
      and credit_id is null and expires_on is null
      and face_min_paise is null and days_left_min is null
    )
  );
