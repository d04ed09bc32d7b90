-- How much a firm may have bought that waits for money is a number of its desk's plan: such deals
-- hold other people's credits until the money comes or the time is over.
alter table plans
  add column unfunded_max_paise bigint not null default 1000000000
    check (unfunded_max_paise between 0 and 9007199254740991);

update plans
set unfunded_max_paise = sizes.unfunded_max_paise
from (
  values
    ('starter', 1000000000),
    ('growth', 5000000000),
    ('scale', 25000000000),
    ('desk', 100000000000),
    ('sandbox', 1000000000000)
) as sizes (name, unfunded_max_paise)
where plans.name = sizes.name;
