-- The house pays nobody's difference: the buyer of a leg pays at least what its seller gets. With the
-- house on a side both are the same. Legs of before that break it stay as they are and can still end;
-- the check of the ledger names the first of them, and the index, which is empty otherwise, finds it.

alter table settlement_legs add constraint settlement_legs_buyer_pays_seller
  check (buyer_paise >= seller_paise and buyer_bps >= seller_bps or not awaited) not valid;

create index settlement_legs_underpaid on settlement_legs (dealt_at, settlement_id, ordinal)
  where buyer_paise < seller_paise or buyer_bps < seller_bps;
