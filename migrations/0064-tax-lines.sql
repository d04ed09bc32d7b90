-- Which taxes are shown apart and withheld, at which rates and from which day, is data: it is off
-- until the operator sets it, and what is in force is never changed but followed by another row.
create table tax_rates (
  environment text not null check (environment in ('live', 'sandbox')),
  line text not null check (line in ('gst', 'tds')),
  effective_from date not null,
  is_on boolean not null,
  -- Of gst: how the tax on a fee is divided, and the state that the house supplies from.
  cgst_bps integer check (cgst_bps between 0 and 5000),
  sgst_bps integer check (sgst_bps between 0 and 5000),
  igst_bps integer check (igst_bps between 0 and 10000),
  house_state text check (house_state ~ '^[0-9]{2}$'),
  -- Of tds: what is withheld from sellers, under which section, above which sum of a financial year.
  section text check (section ~ '^[0-9A-Z()-]{3,12}$'),
  rate_bps integer check (rate_bps between 1 and 3000),
  threshold_paise bigint check (threshold_paise between 0 and 9007199254740991),
  with_crosses boolean,
  set_at timestamptz not null,
  primary key (environment, line, effective_from),
  constraint tax_rates_gst check (
    (line = 'gst' and is_on) = (cgst_bps is not null and sgst_bps is not null and house_state is not null)
    and (igst_bps is null or igst_bps = cgst_bps + sgst_bps)
    and (igst_bps is null) = (cgst_bps is null)
  ),
  constraint tax_rates_tds check (
    (line = 'tds' and is_on) = (rate_bps is not null)
    and (rate_bps is null) = (section is null)
    and (rate_bps is null) = (threshold_paise is null)
    and (rate_bps is null) = (with_crosses is null)
  )
);

-- Fee invoices and credit notes are numbered without a gap, from 1 in each financial year. The row of a
-- series is raised in the transaction that writes what it numbers, so that a number is never lost.
create table invoice_series (
  environment text not null check (environment in ('live', 'sandbox')),
  financial_year text not null check (financial_year ~ '^[0-9]{4}-[0-9]{2}$'),
  kind text not null check (kind in ('invoice', 'credit_note')),
  last_number bigint not null check (last_number > 0),
  primary key (environment, financial_year, kind)
);

create table fee_invoices (
  environment text not null,
  financial_year text not null,
  kind text not null,
  number bigint not null check (number > 0),
  -- At most 16 characters, as the rules for tax invoices demand.
  invoice_no text not null check (length(invoice_no) between 1 and 16),
  firm_id text not null,
  settlement_id text not null references settlements (settlement_id),
  side text not null check (side in ('sell', 'buy')),
  place_of_supply text not null check (place_of_supply ~ '^[0-9]{2}$'),
  fee_paise bigint not null check (fee_paise > 0),
  cgst_paise bigint not null check (cgst_paise >= 0),
  sgst_paise bigint not null check (sgst_paise >= 0),
  igst_paise bigint not null check (igst_paise >= 0),
  issued_at timestamptz not null,
  primary key (environment, financial_year, kind, number),
  unique (environment, invoice_no),
  foreign key (environment, financial_year, kind)
    references invoice_series (environment, financial_year, kind),
  foreign key (environment, firm_id) references firms (environment, firm_id),
  constraint fee_invoices_one_place check (igst_paise = 0 or cgst_paise + sgst_paise = 0)
);
create index fee_invoices_by_settlement on fee_invoices (settlement_id);

-- What was decided about the taxes of one side of a leg when it was delivered, and when it was reversed.
create table leg_taxes (
  settlement_id text not null references settlements (settlement_id),
  ordinal integer not null check (ordinal >= 0),
  side text not null check (side in ('sell', 'buy')),
  kind text not null check (kind in ('invoice', 'credit_note')),
  environment text not null check (environment in ('live', 'sandbox')),
  firm_id text not null,
  taxed_at timestamptz not null,
  fee_paise bigint not null check (fee_paise >= 0),
  place_of_supply text check (place_of_supply ~ '^[0-9]{2}$'),
  cgst_bps integer not null check (cgst_bps >= 0),
  sgst_bps integer not null check (sgst_bps >= 0),
  igst_bps integer not null check (igst_bps >= 0),
  cgst_paise bigint not null check (cgst_paise >= 0),
  sgst_paise bigint not null check (sgst_paise >= 0),
  igst_paise bigint not null check (igst_paise >= 0),
  tds_section text,
  tds_bps integer not null check (tds_bps >= 0),
  tds_base_paise bigint not null check (tds_base_paise >= 0),
  tds_paise bigint not null check (tds_paise between 0 and tds_base_paise),
  invoice_no text,
  primary key (settlement_id, ordinal, side, kind),
  foreign key (environment, invoice_no) references fee_invoices (environment, invoice_no),
  constraint leg_taxes_one_place check (igst_paise = 0 or cgst_paise + sgst_paise = 0),
  constraint leg_taxes_supplied check (fee_paise = 0 or place_of_supply is not null),
  constraint leg_taxes_withheld check ((tds_paise = 0 or tds_section is not null) and (tds_paise = 0 or side = 'sell'))
);
create index leg_taxes_uninvoiced on leg_taxes (environment, settlement_id)
  where invoice_no is null and fee_paise > 0;

-- What each payee, known by a digest of its PAN, sold in a financial year, and what of it tax was
-- withheld on: the threshold is the year's.
create table tds_sums (
  environment text not null check (environment in ('live', 'sandbox')),
  financial_year text not null check (financial_year ~ '^[0-9]{4}-[0-9]{2}$'),
  payee bytea not null check (length(payee) = 32),
  sold_paise numeric not null check (sold_paise >= 0),
  taxed_paise numeric not null check (taxed_paise >= 0),
  withheld_paise numeric not null check (withheld_paise >= 0),
  primary key (environment, financial_year, payee)
);

-- The taxes have accounts of their own.
alter table ledger_balances drop constraint ledger_balances_kind;
alter table ledger_balances add constraint ledger_balances_kind check (
  case
    when firm_id is null then stripe is not null and kind in (
      'house_cash', 'house_fees', 'gst_payable', 'cgst_payable', 'sgst_payable', 'igst_payable',
      'tds_payable', 'external_bank'
    )
    else stripe is null and kind in ('firm_cash', 'desk_commission', 'firm_dues')
  end
);

insert into ledger_balances (balance, environment, account, kind, stripe)
select kind || ':' || environment || ':' || stripe, environment, kind, kind, stripe
from unnest(array['live', 'sandbox']) as environment,
  unnest(array['cgst_payable', 'sgst_payable', 'igst_payable', 'tds_payable']) as kind,
  generate_series(0, 15) as stripe;
