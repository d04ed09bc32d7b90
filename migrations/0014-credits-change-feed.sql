-- Every node keeps the house's tradable credits in memory. It follows them by the transaction that
-- last changed each row: what is older than every transaction still running is complete, so a
-- reader that continues from there misses nothing and needs no log beside the rows.
alter table credits add column changed_in xid8 not null default pg_current_xact_id();

create index credits_of_house on credits (environment, changed_in)
  where firm_id in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
