-- A payout is written three times within seconds; its versions find room in one page, so that no row is
-- locked twice for an update and only what changed is written ahead.
alter table payouts set (fillfactor = 40);
