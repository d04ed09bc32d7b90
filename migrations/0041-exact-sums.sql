-- One amount is at most 2^53 - 1 paise, but sums of amounts have no such end: a desk that moves the
-- largest faces among its own firms a thousand times would pass what a bigint holds, on accounts that
-- everybody's entries touch. A numeric holds them all, to the last paisa.
alter table ledger_balances
  alter column posted_paise type numeric,
  alter column escrow_paise type numeric,
  alter column pending_out_paise type numeric,
  alter column pending_in_paise type numeric;

alter table statements
  drop constraint statements_opening_paise_check,
  drop constraint statements_closing_paise_check,
  alter column opening_paise type numeric,
  alter column closing_paise type numeric,
  alter column commission_paise type numeric,
  alter column dues_paise type numeric,
  add constraint statements_opening_paise_check check (opening_paise >= 0),
  add constraint statements_closing_paise_check check (closing_paise >= 0);

alter table house_days alter column taken_paise type numeric;
alter table key_days alter column ordered_paise type numeric;
