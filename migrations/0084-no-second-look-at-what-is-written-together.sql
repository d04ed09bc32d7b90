-- A foreign key locks the row that it refers to, once for each row that refers to it. These rows are
-- written in the transaction that has just written or locked what they refer to, and the service may
-- delete none of them: what holds the reference is that one function writes both. That an entry ends one
-- that exists is also proved by the check of the books.
alter table payouts drop constraint payouts_settlement_id_fkey;
alter table payout_lines drop constraint payout_lines_payout_id_fkey;
alter table ledger_entries drop constraint ledger_entries_resolves_fkey;
