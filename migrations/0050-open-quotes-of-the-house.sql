-- What the open sell quotes of each process may still make the house take on, desk by desk, for the
-- other processes to count. A row says until when it counts; one that has ended is replaced or
-- dropped by the next announcement of its desk.
create table house_quoted (
  environment text not null check (environment in ('live', 'sandbox')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  desk_id text not null,
  node_id uuid not null,
  face_paise bigint not null check (face_paise >= 0),
  until timestamptz not null,
  -- Of two announcements of a process the later one counts, whichever is written last.
  sequence bigint not null,
  primary key (environment, scheme, desk_id, node_id)
);
