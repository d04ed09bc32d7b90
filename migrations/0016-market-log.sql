-- The market feed is one log per environment that every node reads, so that an update has the same
-- id and the same bytes wherever a reader is connected. The row of an environment is the end of its
-- log: whoever appends holds it. Without the row the log has been lost or was restarted, and a new
-- one begins under another epoch, so that no id ever names two updates.
create table market_logs (
  environment text primary key check (environment in ('live', 'sandbox')),
  epoch text not null check (epoch ~ '^[0-9a-f]{10}$'),
  seq bigint not null check (seq >= 0),
  unique (environment, epoch)
);

-- Each update is the whole of one scheme's market, as text that is made once: for keys without and
-- with the buy side. Old ones are pruned, but never the last of a scheme.
create table market_updates (
  environment text not null,
  epoch text not null,
  seq bigint not null check (seq > 0),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  kind text not null check (kind in ('update', 'status')),
  body text not null,
  buyer_body text not null,
  created_at timestamptz not null,
  primary key (environment, epoch, seq),
  foreign key (environment, epoch) references market_logs (environment, epoch) on delete cascade
);

create index market_updates_by_scheme on market_updates (environment, epoch, scheme, seq);

-- What the house could sell, by the size bands of its card. Counting takes longer than everything
-- else that a market shows, so it is done apart, and only when a credit of the house changed in a
-- transaction that the last count may not have seen, or on another day.
create table market_depths (
  environment text not null check (environment in ('live', 'sandbox')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  -- [{"below_paise": 5000000, "count": 12, "face_paise": 31000000}, …]
  bands jsonb not null,
  -- The first transaction that the count may not have seen.
  counted_in xid8 not null,
  counted_on date not null,
  primary key (environment, scheme)
);

-- What is counted, so that the count reads no credit but in this index.
create index credits_house_depth on credits (environment, scheme, face_paise)
  include (expires_on)
  where state = 'listed'
    and firm_id in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002');
