-- The end of a settlement finds room in its page: no row is locked twice for it, and only what changed
-- is written ahead. The index of what comes to a firm leaves out the house, which no statement asks for.
alter table settlements set (fillfactor = 45);
create index settlements_coming_to on settlements (buyer_firm_id)
  where due_at is not null
    and buyer_firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
drop index settlements_coming;
alter index settlements_coming_to rename to settlements_coming;
