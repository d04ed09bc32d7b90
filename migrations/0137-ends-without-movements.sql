-- An entry that ends another has no movements of its own: what it posts is what the other held. Those
-- that were written with their own keep them. Rows that are there hold, since the former rule was narrower.
alter table ledger_entries
  drop constraint ledger_entries_move_something,
  add constraint ledger_entries_move_something check (
    case
      when resolves is null then cardinality(movements) > 0
      when phase = 'voided' then cardinality(movements) = 0
      else true
    end
  ) not valid;
