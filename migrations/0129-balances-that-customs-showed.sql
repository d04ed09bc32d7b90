-- The day on which customs showed a credit's balance: by confirming who holds it, or its transfer. A
-- balance that only its firm has told has none.
alter table credits add column balance_shown_on date;
