-- Lists are read newest first by walking these indexes backwards, so that new rows go to the end of
-- their desk's part. In an index of descending time each new row went to the beginning of it, where a
-- full page is split in the middle: half a page is written ahead for it, and half of each page stays
-- empty.
create index orders_of_desk on orders (desk_id, created_at, order_id);
drop index orders_by_desk;
alter index orders_of_desk rename to orders_by_desk;

create index orders_by_client on orders (firm_id, created_at, order_id) where firm_id <> desk_id;
drop index orders_of_client;
alter index orders_by_client rename to orders_of_client;

create index payouts_of_desk on payouts (desk_id, created_at, payout_id);
drop index payouts_by_desk;
alter index payouts_of_desk rename to payouts_by_desk;

create index credits_of_firm on credits (firm_id, created_at, credit_id);
drop index credits_by_firm;
alter index credits_of_firm rename to credits_by_firm;

create index settlement_legs_of_seller on settlement_legs
  (seller_desk_id, dealt_at, settlement_id, seller_firm_id)
  where seller_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
drop index settlement_legs_by_seller;
alter index settlement_legs_of_seller rename to settlement_legs_by_seller;

create index settlements_of_buyer on settlements
  (buyer_desk_id, created_at, settlement_id, buyer_firm_id)
  where buyer_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
drop index settlements_by_buyer;
alter index settlements_of_buyer rename to settlements_by_buyer;
