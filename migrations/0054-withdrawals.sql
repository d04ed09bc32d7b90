-- Money leaves when its owner says so: a payout comes from a settlement, or is a withdrawal of what a
-- firm has available, which comes from no one settlement.

alter table payouts add column kind text not null default 'settlement';
alter table payouts add constraint payouts_kind_check check (kind in ('settlement', 'withdrawal'));
alter table payouts alter column settlement_id drop not null;
alter table payouts add constraint payouts_from_settlement
  check ((kind = 'settlement') = (settlement_id is not null));
