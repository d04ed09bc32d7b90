-- A quote keeps what it was priced on, so that an order gets its price for these facts and no others.
-- A sell keeps the holding and its expiry, or for an amount the least face and life that the price is
-- for; a buy keeps each offer of its bundle, in the order of scrip_nos. Quotes from before have none
-- and are answered with a fresh one.

alter table quotes add column facts jsonb not null default '{}';
alter table quotes alter column facts drop default;
