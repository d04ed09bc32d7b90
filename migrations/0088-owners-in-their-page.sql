-- The owner of a credit is written when it is sold and again when it is delivered, in one page.
alter table credit_owners set (fillfactor = 45);
