-- What of each side's money is the house's fee and the tax on it. Both are inside what the side pays
-- or gets, so a document can show the split and its lines sum to it.
alter table settlement_legs
  add column buyer_fee_paise bigint not null default 0 check (buyer_fee_paise >= 0),
  add column buyer_gst_paise bigint not null default 0 check (buyer_gst_paise >= 0),
  add column seller_fee_paise bigint not null default 0 check (seller_fee_paise >= 0),
  add column seller_gst_paise bigint not null default 0 check (seller_gst_paise >= 0),
  add constraint settlement_legs_fees_within check (
    buyer_fee_paise + buyer_gst_paise <= buyer_paise
    and seller_fee_paise + seller_gst_paise <= face_paise
  );
