-- The public rate index: one figure per scheme and IST day, made of live deals. A day is fixed once,
-- after it is over, and never changes: caches keep it for good and contracts may refer to it.
create table rate_index_days (
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  day date not null,
  basis text not null check (basis in ('deals', 'carried', 'none')),
  index_bps integer check (index_bps between 1 and 10000),
  -- The day whose deals the figure is made of: this one, or an earlier one when it is carried.
  deals_on date,
  -- Only of a day with enough sellers; of fewer they would tell about single deals.
  deal_count integer check (deal_count > 0),
  seller_count integer check (seller_count >= 3),
  face_paise bigint check (face_paise between 1 and 9007199254740991),
  fixed_at timestamptz not null,
  primary key (scheme, day),
  constraint rate_index_days_figure check (
    (basis = 'none') = (index_bps is null) and (basis = 'none') = (deals_on is null)
  ),
  constraint rate_index_days_basis check (
    case basis when 'deals' then deals_on = day when 'carried' then deals_on < day else true end
  ),
  constraint rate_index_days_counts check (
    (basis = 'deals') = (deal_count is not null)
    and (basis = 'deals') = (seller_count is not null)
    and (basis = 'deals') = (face_paise is not null)
  )
);
