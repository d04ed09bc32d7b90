-- Which amounts the rails of banks take is law, too: a line of its own, to be checked by a person. It is
-- set anew and never ends.
alter table tax_rates
  add column rtgs_from_paise bigint check (rtgs_from_paise between 1 and 9007199254740991),
  add column imps_to_paise bigint check (imps_to_paise between 1 and 9007199254740991),
  add column citation text check (length(citation) between 3 and 300),
  drop constraint tax_rates_line_check,
  add constraint tax_rates_line_check check (line in ('gst', 'tds', 'scrip', 'fee', 'rails')),
  add constraint tax_rates_rails check (
    (line = 'rails') = (rtgs_from_paise is not null) and (line <> 'rails' or is_on)
    and (rtgs_from_paise is null) = (imps_to_paise is null)
    and (imps_to_paise is null) = (citation is null)
  );

insert into tax_rates (
  environment, line, effective_from, is_on, rtgs_from_paise, imps_to_paise, citation, set_at
)
select environment, 'rails', date '2013-10-11', true, 20000000, 5000000,
  'RTGS System Regulations 2013 (at least 2 lakh); IMPS within what every bank allows, RBI/2021-22/107 allows 5 lakh',
  now()
from (values ('live'), ('sandbox')) as e (environment);
