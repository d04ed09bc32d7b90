-- What is due to one payee in one run leaves as one remittance, under one reference of the bank. Each
-- payout of it names the first of them, and what they come to.
--
-- An instructed payout is in a file that the bank was given, and nobody but the bank says what becomes
-- of it.
alter table payouts
  add column remitted_with text,
  add column remitted_paise bigint;

update payouts set remitted_with = payout_id, remitted_paise = paise where utr is not null;

drop index payouts_utr;
create unique index payouts_utr on payouts (environment, rail, utr)
  where utr is not null and remitted_with = payout_id;
create index payouts_remitted on payouts (remitted_with) where remitted_with <> payout_id;

drop index payouts_unfinished;
create index payouts_unfinished on payouts (firm_id)
  where state in ('scheduled', 'held', 'instructed', 'sent');

alter table payouts
  drop constraint payouts_state_check,
  add constraint payouts_state_check
    check (state in ('scheduled', 'held', 'instructed', 'sent', 'paid', 'returned')),
  drop constraint payouts_sent_somewhere,
  add constraint payouts_sent_somewhere
    check (state not in ('instructed', 'sent', 'paid') or ifsc is not null),
  add constraint payouts_remitted_whole
    check ((remitted_with is null) = (remitted_paise is null) and remitted_paise >= paise),
  add constraint payouts_remitted_once
    check ((state in ('instructed', 'sent', 'paid')) <= (remitted_with is not null)),
  add constraint payouts_unsent_not_remitted
    check (state not in ('scheduled', 'held') or remitted_with is null);
