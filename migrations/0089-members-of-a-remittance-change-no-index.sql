-- What becomes of the payouts of one remittance is decided for all of them at once. Only the first, the
-- lead, is in the indexes of what waits with the bank, and the others are found by their lead: the
-- bank's answer then changes no column of theirs that an index names.
alter table payouts
  add column queued_as text generated always as (
    case
      when state in ('scheduled', 'held', 'returned') then state
      when state in ('instructed', 'sent') and remitted_with = payout_id then state
    end
  ) stored,
  add column lead_utr text generated always as (
    case when remitted_with = payout_id then utr end
  ) stored,
  set (fillfactor = 35);

create index payouts_queued on payouts (environment, queued_as, payout_id)
  where queued_as is not null;
drop index payouts_by_state, payouts_unfinished, payouts_utr;
create index payouts_unfinished on payouts (firm_id)
  where queued_as in ('scheduled', 'held', 'instructed', 'sent');
create unique index payouts_utr on payouts (environment, rail, lead_utr)
  where lead_utr is not null;
