-- What an order writes is paid for row by row and index by index. Here is taken away what no query
-- reads, and updates of rows that deals go through stay within their page: PostgreSQL then touches no
-- index at all, provided that no column that an index names, in its key or its condition, changes.

-- A row is a claim, then the live holding, then neither. Being sold moves it between states of the
-- live holding and leaves its standing as it is.
alter table credits
  add column standing text generated always as (
    case
      when state in ('listed', 'reserved', 'in_settlement', 'suspended') then 'live'
      when state = 'declared' then 'claim'
    end
  ) stored,
  -- Only the house's credits are followed by the transaction that changed them.
  add column house_changed_in xid8 generated always as (
    case
      when firm_id in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002')
        then changed_in
    end
  ) stored,
  -- What the house could sell now.
  add column house_offers boolean not null generated always as (
    state = 'listed'
    and firm_id in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002')
  ) stored,
  -- Room for a second version of each row beside the first.
  set (fillfactor = 50);

drop index credits_live_scrip, credits_claim, credits_unconfirmed, credits_expiry,
  credits_of_house, credits_house_listed, credits_house_depth;

-- One live holding per scrip in an environment.
create unique index credits_live_scrip on credits (environment, scrip_no) where standing = 'live';
-- One open claim per firm and scrip.
create unique index credits_claim on credits (scrip_no, firm_id) where standing is not null;
-- Claims that lose when another is confirmed.
create index credits_unconfirmed on credits (environment, scrip_no) where standing = 'claim';
-- Also of those that a deal has, which the clock leaves alone: few of them are due.
create index credits_expiry on credits (expiry_due_on) where standing is not null;
create index credits_of_house on credits (environment, house_changed_in)
  where house_changed_in is not null;
-- What every node reads once, page by page, before it follows the changes.
create index credits_house_listed on credits (environment, scrip_no) where house_offers;
-- What is counted again and again: the index has all that the count needs.
create index credits_house_depth on credits (environment, scheme, face_paise)
  include (expires_on) where house_offers;

-- A leg is awaited until it is delivered or has failed. It is written with its settlement by one
-- function and neither is ever deleted, so no key needs to be looked up for it. By order, legs and
-- settlements are only ever looked for among those of a desk.
alter table settlement_legs
  drop constraint settlement_legs_settlement_id_fkey,
  add column awaited boolean not null generated always as (state in ('pending', 'transferring')) stored,
  set (fillfactor = 50);
drop index settlement_legs_open, settlement_legs_by_order, settlements_by_order;
create index settlement_legs_awaited on settlement_legs (environment, scrip_no) where awaited;

-- Nobody looks an event up by its id, which has 80 random bits; its place in the sequence of its desk
-- is what names it. A key that is bound to one firm is bound to a client, never to the desk itself.
alter table events drop constraint events_event_id_key;
drop index events_by_firm;
create index events_by_client on events (desk_id, firm_id, sequence) where firm_id <> desk_id;

-- Of a question, what can be wrong with its id is told by prefix and length, as for events. Whose it
-- is comes from the firm or deal that it is about.
alter table inquiries
  drop constraint inquiries_desk_id_fkey,
  drop constraint inquiries_inquiry_id_check,
  add constraint inquiries_inquiry_id_check
    check (starts_with(inquiry_id, 'inq_') and length(inquiry_id) = 30);

-- The entry that has a credit is written by the statement before, and the check of the books compares
-- every owner with the entries.
alter table credit_owners drop constraint credit_owners_pending_entry_no_fkey;
