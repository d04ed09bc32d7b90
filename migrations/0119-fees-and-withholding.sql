-- What a fee bears is law, too: the code of the service and its rate of GST, from a day on. What is
-- withheld is cited by its Act, with the payment code that the return asks for.
alter table tax_rates
  add column sac text check (sac ~ '^[0-9]{4,8}$'),
  add column gst_bps integer check (gst_bps between 0 and 5000),
  add column act text check (act ~ '^[0-9]{4}$'),
  add column payment_code text check (payment_code ~ '^[0-9A-Z]{1,8}$'),
  drop constraint tax_rates_section_check,
  add constraint tax_rates_section_check check (length(section) between 3 and 60),
  drop constraint tax_rates_line_check,
  add constraint tax_rates_line_check check (line in ('gst', 'tds', 'scrip', 'fee')),
  add constraint tax_rates_fee check (
    (line = 'fee' and is_on) = (sac is not null) and (sac is null) = (gst_bps is null)
  ),
  add constraint tax_rates_act check (section is not null or (act is null and payment_code is null));

update tax_rates set act = '1961' where section is not null;

insert into tax_rates (environment, line, effective_from, is_on, sac, gst_bps, set_at)
select environment, 'fee', date '2017-07-01', true, '996111', 1800, now()
from (values ('live'), ('sandbox')) as e (environment)
on conflict do nothing;

-- A line of tds that nobody has confirmed is a proposal. This one takes the place of section 194Q.
insert into tax_rates (
  environment, line, effective_from, is_on, act, section, payment_code, rate_bps, threshold_paise,
  with_crosses, set_at
)
select e.environment, 'tds', date '2026-04-01', true, '2025', '393(1) Table Sl. 8(ii)', '1031',
  coalesce(last.rate_bps, 10), coalesce(last.threshold_paise, 500000000),
  coalesce(last.with_crosses, false), now()
from (values ('live'), ('sandbox')) as e (environment)
left join lateral (
  select *
  from tax_rates as known
  where known.environment = e.environment and known.line = 'tds' and known.is_on
  order by effective_from desc
  limit 1
) as last on true
on conflict do nothing;

-- An invoice tells the code that its service had then.
alter table fee_invoices add column sac text check (sac ~ '^[0-9]{4,8}$');

-- What a payee may be paid with less withheld: by the certificate that the tax officer gave it.
create table tds_certificates (
  environment text not null check (environment in ('live', 'sandbox')),
  certificate_no text not null check (certificate_no ~ '^[0-9A-Z/-]{4,20}$'),
  pan text not null check (length(pan) = 10),
  rate_bps integer not null check (rate_bps between 0 and 3000),
  limit_paise bigint not null check (limit_paise between 1 and 9007199254740991),
  used_paise bigint not null default 0 check (used_paise between 0 and limit_paise),
  effective_from date not null,
  effective_until date not null,
  set_by text not null,
  set_at timestamptz not null,
  primary key (environment, certificate_no),
  constraint tds_certificates_end check (effective_until >= effective_from)
);
create index tds_certificates_of_payee on tds_certificates (environment, pan);

alter table leg_taxes
  add column tds_act text,
  add column tds_code text,
  add column tds_certificate text,
  add constraint leg_taxes_certified
    foreign key (environment, tds_certificate)
    references tds_certificates (environment, certificate_no);
create index leg_taxes_withheld_at on leg_taxes (environment, taxed_at) where tds_base_paise > 0;

-- A cross keeps the rate of GST within its fee.
alter table cross_quotes add column gst_bps integer not null default 1800 check (gst_bps between 0 and 5000);
alter table crosses add column gst_bps integer not null default 1800 check (gst_bps between 0 and 5000);
