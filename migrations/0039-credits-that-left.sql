-- Credits whose holders no longer hold them leave the books, as every holding that ends does from now
-- on: until now the books went on naming the last holder, and the next one could not sell.

with gone as materialized (
  select nextval('ledger_entry_numbers') as entry_no, o.environment, o.scrip_no, o.account,
    last.credit_id, last.firm_id, date_trunc('milliseconds', now()) as at
  from credit_owners as o
  cross join lateral (
    select c.credit_id, c.firm_id
    from credits as c
    where c.environment = o.environment and c.scrip_no = o.scrip_no and c.standing is null
      and o.account = case
        when c.firm_id in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002')
          then 'house_credits'
        else 'firm_credits:' || c.firm_id
      end
    order by c.created_at desc, c.credit_id desc
    limit 1
  ) as last
  where o.pending_entry_no is null
    and not exists (
      select
      from credits as c
      where c.environment = o.environment and c.scrip_no = o.scrip_no and c.standing = 'live'
        and c.firm_id = last.firm_id
    )
), written as (
  insert into ledger_entries (
    entry_no, environment, kind, subject, ordinal, phase, held_as, resolves, at, movements, digest
  )
  select entry_no, environment, 'credit_exit', credit_id, 0, 'posted', null, null, at,
    made.movements,
    substr(
      sha256(
        convert_to(
          concat_ws(
            ' ', environment, 'credit_exit', 0, 'posted', extract(epoch from at), made.movements,
            credit_id
          ),
          'UTF8'
        )
      ),
      1, 8
    )
  from gone
  cross join lateral (
    select array[row(account, 'external_customs', scrip_no, 1)]::ledger_movement[] as movements
  ) as made
), concerned as (
  insert into ledger_firm_entries (firm_id, at, entry_no)
  select firm_id, at, entry_no
  from gone
  where account <> 'house_credits'
)
update credit_owners as o
set account = 'external_customs'
from gone
where o.environment = gone.environment and o.scrip_no = gone.scrip_no;
