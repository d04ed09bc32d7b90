-- The house is the operator's own firm, one per environment. It stands on the other side of every
-- binding price, so it is there before anybody calls, under ids that never change.
insert into firms (
  firm_id, environment, desk_id, legal_name, iec, pan, role, connection_state, created_at, updated_at
)
values
  (
    'frm_00000000000000000000000001', 'live', 'frm_00000000000000000000000001', 'Scripdesk House',
    null, null, 'both', 'authorized', now(), now()
  ),
  (
    'frm_00000000000000000000000002', 'sandbox', 'frm_00000000000000000000000002', 'Scripdesk House',
    'AAACH0000H', 'AAACH0000H', 'both', 'authorized', now(), now()
  );

-- What the operator publishes for one scheme: everything a price is made of. A card is never
-- changed; publishing, halting and opening each add a version, and a quote names the one it used.
create table rate_cards (
  environment text not null check (environment in ('live', 'sandbox')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  version integer not null check (version > 0),
  state text not null check (state in ('open', 'halted')),
  mid_bps integer not null check (mid_bps between 1 and 10000),
  half_spread_bps integer not null check (half_spread_bps between 1 and 5000),
  -- [{"below_paise": 5000000, "bps": -150}, …, {"below_paise": null, "bps": 10}]
  size_bands jsonb not null,
  -- [{"from_days": 365, "bps": 0}, …, {"from_days": 30, "bps": -250}]; fewer days have no price.
  validity_bands jsonb not null,
  floor_bps integer not null,
  ceiling_bps integer not null,
  -- The dearest a buyer is ever asked to pay: below par, or cash would be as good.
  ask_ceiling_bps integer not null,
  face_max_paise bigint not null check (face_max_paise between 1 and 9007199254740991),
  -- How much face the house takes on in one day.
  house_limit_paise bigint not null check (house_limit_paise between 1 and 9007199254740991),
  quote_window_s integer not null check (quote_window_s between 1 and 86400),
  -- The least the house keeps between two clients.
  margin_bps integer not null check (margin_bps between 0 and 5000),
  fee_bps integer not null check (fee_bps between 0 and 1000),
  published_at timestamptz not null,
  published_by text not null,
  note text,
  primary key (environment, scheme, version),
  constraint rate_cards_clamps check (
    1 <= floor_bps and floor_bps < ceiling_bps and ceiling_bps < ask_ceiling_bps
    and ask_ceiling_bps < 10000
  )
);

-- The sandbox can be tried at once; live has no price until the operator publishes one.
insert into rate_cards (
  environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
  floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s,
  margin_bps, fee_bps, published_at, published_by, note
)
select
  'sandbox', scheme, 1, 'open', mid_bps, half_spread_bps,
  '[
    {"below_paise": 5000000, "bps": -150},
    {"below_paise": 10000000, "bps": -90},
    {"below_paise": 50000000, "bps": -45},
    {"below_paise": 250000000, "bps": -15},
    {"below_paise": 1000000000, "bps": 0},
    {"below_paise": null, "bps": 10}
  ]'::jsonb,
  '[
    {"from_days": 365, "bps": 0},
    {"from_days": 180, "bps": -15},
    {"from_days": 90, "bps": -50},
    {"from_days": 60, "bps": -110},
    {"from_days": 30, "bps": -250}
  ]'::jsonb,
  7500, 9980, 9990, 15000000000, 1000000000000, 120, 20, 0, now(), 'migration', 'starting card'
from (values ('RODTEP', 9850, 40), ('ROSCTL', 9835, 45)) as start (scheme, mid_bps, half_spread_bps);

-- How much of the day's limit the house has taken on, by the day it did.
create table house_days (
  environment text not null,
  scheme text not null,
  day date not null,
  taken_paise bigint not null check (taken_paise >= 0),
  primary key (environment, scheme, day)
);
