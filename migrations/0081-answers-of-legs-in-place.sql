-- The answer to a leg changes no index, so that the new version of the row stays in its page. The index
-- by credit is for all legs, not only for awaited ones: a credit is dealt a few times in its life, and
-- those that are not awaited are passed over.
create index settlement_legs_by_credit on settlement_legs (environment, scrip_no);
drop index settlement_legs_awaited;
