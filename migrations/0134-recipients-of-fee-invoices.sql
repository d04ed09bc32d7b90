-- Who a fee invoice is for, as it was when the number was given: a firm's GSTIN may change later. Null on
-- those from before it was kept.

alter table fee_invoices
  add column recipient_name text,
  add column recipient_gstin text;
