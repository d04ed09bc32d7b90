-- Dues are set off before anything else is done with a firm's money: a firm that owes us has nothing
-- available. The books see to it, and here the database refuses what would break it.

-- What of its proceeds did not become a payout, because the firm owed it.
alter table payouts
  add column set_off_paise bigint not null default 0 check (set_off_paise >= 0);

-- Firms that owe or once owed. No column of it changes, so that balances are updated in their page.
create index ledger_balances_dues on ledger_balances (firm_id) where kind = 'firm_dues';

create function refuse_money_beside_dues() returns trigger
language plpgsql as $$
declare
  owing text;
begin
  select dues.firm_id into owing
  from ledger_balances as dues
  where dues.kind = 'firm_dues'
    and dues.firm_id in (select firm_id from changed where firm_id is not null)
    and dues.posted_paise < 0
    and exists (
      select
      from ledger_balances as free
      where free.balance in ('firm_cash:' || dues.firm_id, 'desk_commission:' || dues.firm_id)
        and free.posted_paise - free.escrow_paise - free.pending_out_paise > 0
    )
  limit 1;
  if owing is not null then
    raise exception 'the firm % owes, and has money available', owing
      using errcode = 'check_violation', constraint = 'ledger_balances_no_money_beside_dues';
  end if;
  return null;
end
$$;

create trigger no_money_beside_dues after update on ledger_balances
  referencing new table as changed
  for each statement execute function refuse_money_beside_dues();
