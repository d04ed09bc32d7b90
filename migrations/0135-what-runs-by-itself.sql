-- What the service does by itself at its times: when it last ran, what came of it, and when it runs next.
create table schedules (
  name text primary key,
  -- The times of the day, or how often.
  times text not null,
  next_at timestamptz,
  last_at timestamptz,
  outcome text check (outcome in ('done', 'nothing', 'failed')),
  said text,
  constraint schedules_run_whole check (
    (last_at is null) = (outcome is null) and (last_at is null) = (said is null)
  )
);

-- Files that were found in the drop folder, and what became of each.
create table dropped_files (
  file_id text primary key,
  folder text not null check (folder in ('statements', 'credits')),
  name text not null,
  -- Null where it could not be read.
  sha256 bytea check (octet_length(sha256) = 32),
  outcome text not null check (outcome in ('done', 'proposed', 'known', 'failed')),
  said text not null,
  machine text not null,
  at timestamptz not null
);

-- Each counts once.
create unique index dropped_files_once on dropped_files (folder, sha256)
where outcome in ('done', 'proposed');
