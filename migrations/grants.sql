-- What the service's own role may do, applied after the numbered migrations on every start: it
-- reads and writes rows, and can neither change the schema nor forget that it was changed.
grant usage on schema public to scripdesk_app;
grant select, insert, update, delete on all tables in schema public to scripdesk_app;
grant usage on sequence ledger_entry_numbers to scripdesk_app;
revoke insert, update, delete on schema_migrations from scripdesk_app;
-- What happened stays as it was written.
revoke update, delete on journal_blocks, journal_clients, rate_cards, rate_index_days from scripdesk_app;
-- What was written before there were blocks is only read.
revoke insert, update, delete on former_events, former_audit_records from scripdesk_app;
revoke update, delete on ledger_entries, ledger_firm_entries, delivery_attempts from scripdesk_app;
revoke update, delete on delivered_blocks, request_blocks from scripdesk_app;
revoke delete on ledger_balances, credit_owners, ledger_verdict from scripdesk_app;
-- Who the house was on a day stays as it was said.
revoke update, delete on houses, number_forms from scripdesk_app;
-- An update of the market is pruned in time and never changed.
revoke update on market_updates from scripdesk_app;
revoke delete on settlements, settlement_legs, deal_minutes, payouts, approvals from scripdesk_app;
revoke delete on crosses, cross_quotes, netting_runs from scripdesk_app;
revoke update, delete on deposits, payout_lines, statements, usage_notices from scripdesk_app;
-- Pages that were left behind may go; a trigger keeps those of statements.
revoke update on statement_pages from scripdesk_app;
revoke delete on audit_heads from scripdesk_app;
revoke insert, delete on journal_form from scripdesk_app;
-- An address that was removed keeps what it opted out of.
revoke delete on notice_addresses from scripdesk_app;
-- People are disabled, not forgotten.
revoke delete on operators, operator_sessions, machines from scripdesk_app;
-- What the drop folder brought stays as it was found.
revoke update, delete on dropped_files from scripdesk_app;
-- A payout file and what it told the bank stay; only what became of it is added.
revoke delete on payout_files, payout_file_lines, payout_file_items from scripdesk_app;
-- What was invoiced stays as it was issued, and a number is never given twice.
revoke update, delete on bills_of_supply, fee_invoices from scripdesk_app;
revoke delete on leg_taxes, invoice_series, supplies, tax_rates, tds_sums from scripdesk_app;
-- What the bank wrote stays as it is; what became of it is added.
revoke delete on bank_statements, bank_lines from scripdesk_app;
-- What a credit paid stays as it was told.
revoke update, delete on credit_uses from scripdesk_app;
revoke update, delete on bank_line_entries, payment_references, deposit_reversals from scripdesk_app;
-- A partition is reached through its table.
do $$
declare
  partition regclass;
begin
  for partition in select inhrelid from pg_inherits join pg_class on oid = inhparent where relkind = 'p' loop
    execute format('revoke all on %s from scripdesk_app', partition);
  end loop;
end
$$;
