-- Who lets a deal fail for want of money has taken a credit off the shelf for nothing. From then on it
-- buys with money that is there, for as many working days as its plan says or until a person lifts it.
-- The memory is of the PAN, because another firm of it is registered in a minute. What may wait for
-- money is limited per desk too, because a desk has as many firms as it likes.
alter table plans
  add column unfunded_desk_max_paise bigint not null default 2000000000
    check (unfunded_desk_max_paise between 0 and 9007199254740991),
  add column unpaid_days integer not null default 10 check (unpaid_days between 0 and 250);

update plans set unfunded_desk_max_paise = least(2 * unfunded_max_paise, 9007199254740991);
-- A test of the sandbox lets deals fail on purpose.
update plans set unpaid_days = 0 where name = 'sandbox';

create table unpaid_deals (
  settlement_id text primary key,
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  firm_id text not null,
  pan text,
  buyer_paise bigint not null check (buyer_paise > 0),
  failed_at timestamptz not null,
  until timestamptz not null check (until > failed_at),
  lifted_at timestamptz,
  lifted_by text,
  lift_reason text,
  constraint unpaid_deals_lifted check (
    (lifted_at is null) = (lifted_by is null) and (lifted_at is null) = (lift_reason is null)
  )
);

create index unpaid_deals_of_pan on unpaid_deals (pan) where lifted_at is null;
create index unpaid_deals_of_firm on unpaid_deals (firm_id) where lifted_at is null;
create index unpaid_deals_listed on unpaid_deals (environment, settlement_id);

create index settlements_unfunded_of_desk on settlements (buyer_desk_id) where state = 'pending';
