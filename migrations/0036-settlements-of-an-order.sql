-- Whoever asks for the settlements of one order reads those, and not all that the desk ever had.
create index settlements_by_order on settlements (buyer_order_id) where buyer_order_id is not null;
create index settlement_legs_by_order on settlement_legs (seller_order_id)
  where seller_order_id is not null;
