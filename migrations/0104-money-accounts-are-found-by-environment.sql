-- The accounts of firms that hold money, by environment: whoever makes statements goes through them in
-- pages, and reads no others. No column of it changes, so that balances are updated in their page.
create index ledger_balances_money on ledger_balances (environment, balance)
  where kind in ('firm_cash', 'desk_commission');
