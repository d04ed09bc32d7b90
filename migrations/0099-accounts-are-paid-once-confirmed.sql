-- The account of a firm has an id that stands for its number, IFSC and holder's name together with the
-- name of the firm. When one of them changes, or the bank is asked again, the account gets another id,
-- so that what was confirmed or approved for one account never holds for another.
alter table firms add account_id text
  constraint firms_account_id_check check (starts_with(account_id, 'acc_') and length(account_id) = 30);
-- Since when the bank's answer about this very account is yes.
alter table firms add account_confirmed_at timestamptz;

-- What the bank has confirmed stays on record, without the number.
create table confirmed_accounts (
  account_id text primary key
    check (starts_with(account_id, 'acc_') and length(account_id) = 30),
  firm_id text not null references firms (firm_id),
  ifsc text not null,
  last4 text not null,
  confirmed_at timestamptz not null,
  constraint confirmed_accounts_of_firm unique (account_id, firm_id, ifsc, last4)
);

update firms
set account_id = 'acc_' || substr(firm_id, 5)
where bank_sealed is not null;

-- A yes counts for the account that is there now. In live the question that was answered must name it,
-- because an account could be changed and keep the answer about the one before.
update firms as f
set account_confirmed_at = coalesce(f.checked_at, f.updated_at)
where f.account_id is not null
  and f.checks @> '[{"check": "BANK_NAME_MATCH", "outcome": "pass"}]'
  and (
    f.environment = 'sandbox'
    or coalesce((
      select i.facts @> jsonb_build_object('legal_name', f.legal_name,
          'account_name', f.bank_name, 'last4', f.bank_last4, 'ifsc', f.bank_ifsc)
        and i.answer @> '{"checks": [{"check": "BANK_NAME_MATCH", "outcome": "pass"}]}'
      from inquiries as i
      where i.kind = 'bank_account' and i.subject_id = f.firm_id and i.state = 'answered'
      order by i.as_of desc, i.inquiry_id desc
      limit 1
    ), false)
  );

-- A yes that is about another account is forgotten, so that the bank can be asked again.
update firms
set checks = coalesce((
    select jsonb_agg(entry.value order by entry.ordinality)
    from jsonb_array_elements(checks) with ordinality as entry
    where entry.value ->> 'check' <> 'BANK_NAME_MATCH'
  ), '[]')
where account_id is not null and account_confirmed_at is null
  and checks @> '[{"check": "BANK_NAME_MATCH", "outcome": "pass"}]';

insert into confirmed_accounts (account_id, firm_id, ifsc, last4, confirmed_at)
select account_id, firm_id, bank_ifsc, bank_last4, account_confirmed_at
from firms
where account_confirmed_at is not null;

update inquiries as i
set facts = i.facts || jsonb_build_object('account_id', f.account_id)
from firms as f
where i.kind = 'bank_account' and i.state = 'open' and f.firm_id = i.subject_id;

alter table firms add constraint firms_account
  check ((account_id is not null) = (bank_sealed is not null));
alter table firms add constraint firms_account_confirmed
  check (account_confirmed_at is null or account_id is not null);

create function keep_account_id() returns trigger
language plpgsql
as $$
begin
  if new.account_id = old.account_id
    and (new.bank_ifsc, new.bank_last4, new.bank_name, new.legal_name) is distinct from
      (old.bank_ifsc, old.bank_last4, old.bank_name, old.legal_name)
  then
    raise exception 'the account of % has changed and keeps its id', new.firm_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end;
$$;
create trigger firms_account_has_own_id before update on firms
  for each row execute function keep_account_id();

-- The account that a payout went to; null until it leaves. Only a confirmed one can be named, and the
-- payout shows the same IFSC and last digits.
alter table payouts add account_id text;
alter table payouts add constraint payouts_to_confirmed_account
  foreign key (account_id, firm_id, ifsc, last4)
  references confirmed_accounts (account_id, firm_id, ifsc, last4);
-- Payouts that left before accounts had ids: whether the bank has ever confirmed an account of the firm
-- with that IFSC and these last digits. `npx scripdesk money review` lists those of which it has not.
alter table payouts add former_account text check (former_account in ('confirmed', 'unconfirmed'));
update payouts as p
set former_account = case
  when p.environment = 'sandbox' then 'confirmed'
  when exists (
    select
    from confirmed_accounts as c
    where c.firm_id = p.firm_id and c.ifsc = p.ifsc and c.last4 = p.last4
  ) then 'confirmed'
  when exists (
    select
    from inquiries as i
    where i.kind = 'bank_account' and i.subject_id = p.firm_id and i.state = 'answered'
      and i.facts @> jsonb_build_object('ifsc', p.ifsc, 'last4', p.last4)
      and i.answer @> '{"checks": [{"check": "BANK_NAME_MATCH", "outcome": "pass"}]}'
  ) then 'confirmed'
  else 'unconfirmed'
end
where p.remitted_with is not null;
create index payouts_to_former_account on payouts (payout_id) where former_account = 'unconfirmed';
-- The sandbox has an account for firms that have given none.
alter table payouts add constraint payouts_leave_to_an_account check (
  state in ('scheduled', 'held', 'returned') or former_account is not null
    or account_id is not null
  or (environment = 'sandbox' and ifsc = 'SIMB0000001')
);
