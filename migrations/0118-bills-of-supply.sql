-- What the house sells is exempt goods, which go on a bill of supply. The heading of the tariff and the
-- exemption are law, so they are dated data as rates are: these are to be checked by a person, whose name
-- a row then has.
alter table tax_rates
  add column hsn text check (hsn ~ '^[0-9]{4,8}$'),
  add column exemption text check (length(exemption) between 1 and 300),
  add column confirmed_by text,
  drop constraint tax_rates_line_check,
  add constraint tax_rates_line_check check (line in ('gst', 'tds', 'scrip')),
  add constraint tax_rates_scrip check (
    (line = 'scrip' and is_on) = (hsn is not null) and (hsn is null) = (exemption is null)
  );

update tax_rates set confirmed_by = 'operator';

insert into tax_rates (environment, line, effective_from, is_on, hsn, exemption, set_at)
select environment, 'scrip', law.effective_from, true, '4907', law.exemption, now()
from (values ('live'), ('sandbox')) as e (environment)
cross join (values
  (date '2017-10-13', 'Notification 2/2017-Central Tax (Rate), entry 122A, as inserted by 35/2017 (duty credit scrips)'),
  (date '2025-09-22', 'Notification 10/2025-Central Tax (Rate), which supersedes 2/2017 (duty credit scrips)')
) as law (effective_from, exemption)
on conflict do nothing;

alter table invoice_series
  drop constraint invoice_series_kind_check,
  add constraint invoice_series_kind_check
    check (kind in ('invoice', 'credit_note', 'bill_of_supply', 'supply_return'));

-- The bills of what the house supplied, and of what came back; who received it, as known on that day.
create table bills_of_supply (
  environment text not null,
  financial_year text not null,
  kind text not null check (kind in ('bill_of_supply', 'supply_return')),
  number bigint not null check (number > 0),
  bill_no text not null check (length(bill_no) between 1 and 16),
  settlement_id text not null references settlements (settlement_id),
  supplied_on date not null,
  firm_id text not null,
  recipient_name text not null,
  recipient_iec text,
  recipient_gstin text,
  place_of_supply text check (place_of_supply ~ '^[0-9]{2}$'),
  value_paise bigint not null check (value_paise >= 0),
  issued_at timestamptz not null,
  primary key (environment, financial_year, kind, number),
  unique (environment, bill_no),
  foreign key (environment, financial_year, kind)
    references invoice_series (environment, financial_year, kind),
  foreign key (environment, firm_id) references firms (environment, firm_id)
);
create index bills_of_supply_by_settlement on bills_of_supply (settlement_id);
create index bills_of_supply_by_day on bills_of_supply (environment, supplied_on);

-- A credit that the house delivered to a client, or got back; each is on one bill.
create table supplies (
  settlement_id text not null references settlements (settlement_id),
  ordinal integer not null check (ordinal >= 0),
  kind text not null check (kind in ('bill_of_supply', 'supply_return')),
  environment text not null check (environment in ('live', 'sandbox')),
  financial_year text not null check (financial_year ~ '^[0-9]{4}-[0-9]{2}$'),
  supplied_on date not null,
  firm_id text not null,
  value_paise bigint not null check (value_paise >= 0),
  bill_no text,
  primary key (settlement_id, ordinal, kind),
  foreign key (environment, bill_no) references bills_of_supply (environment, bill_no)
);
create index supplies_unbilled on supplies (environment, settlement_id) where bill_no is null;
