-- What each sandbox desk has had of the house on a day: the face that the house bought from it, and the
-- credits of the synthetic shelf that it bought. One desk has a share of either, so that the others find
-- a price and credits whatever it takes. Written under the match lock of the scheme.
create table house_desk_days (
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  day date not null,
  desk_id text not null references firms (firm_id),
  taken_paise numeric not null check (taken_paise >= 0),
  shelf_credits integer not null check (shelf_credits >= 0),
  primary key (scheme, day, desk_id)
);
