-- The month's pack reads what was posted in a month. Entries lie in the order of their time, so a summary
-- of blocks is enough, and costs an order next to nothing.
create index ledger_entries_by_time on ledger_entries using brin (at) with (autosummarize = on);
