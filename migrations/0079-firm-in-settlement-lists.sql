-- The settlements of one firm are found among its desk's without reading the rows of the others.
create index settlement_legs_of_seller on settlement_legs
  (seller_desk_id, dealt_at desc, settlement_id desc, seller_firm_id)
  where seller_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
drop index settlement_legs_by_seller;
alter index settlement_legs_of_seller rename to settlement_legs_by_seller;

create index settlements_of_buyer on settlements
  (buyer_desk_id, created_at desc, settlement_id desc, buyer_firm_id)
  where buyer_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
drop index settlements_by_buyer;
alter index settlements_of_buyer rename to settlements_by_buyer;
