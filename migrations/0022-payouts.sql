-- Money on its way to a firm's bank. Its entry in the books is pending from the moment it is
-- scheduled, so what is on its way out cannot be spent on anything else.
create table payouts (
  payout_id text primary key check (starts_with(payout_id, 'pay_') and length(payout_id) = 30),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  firm_id text not null,
  settlement_id text not null references settlements,
  -- The payout that came back and is sent again by this one.
  resend_of text references payouts,
  paise bigint not null check (paise between 1 and 9007199254740991),
  rail text not null check (rail in ('RTGS', 'NEFT', 'IMPS')),
  -- Where it goes, as far as anybody is shown; null while the firm has no account.
  ifsc text,
  last4 text,
  state text not null check (state in ('scheduled', 'held', 'sent', 'paid', 'returned')),
  -- Why it is held or came back.
  reason text,
  held_until timestamptz,
  utr text check (utr ~ '^[A-Z0-9]{12,22}$'),
  -- When the worker looks again at what has not been sent.
  look_at timestamptz,
  history jsonb not null,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id),
  constraint payouts_sent_with_utr check (state not in ('sent', 'paid') or utr is not null),
  constraint payouts_sent_somewhere check (state not in ('sent', 'paid') or ifsc is not null),
  constraint payouts_account_whole check ((ifsc is null) = (last4 is null)),
  constraint payouts_unsent_looked_at check ((state in ('scheduled', 'held')) = (look_at is not null))
);

create unique index payouts_utr on payouts (environment, rail, utr) where utr is not null;
create unique index payouts_resent_once on payouts (resend_of) where resend_of is not null;
create index payouts_unsent on payouts (look_at) where look_at is not null;
create index payouts_by_desk on payouts (desk_id, created_at desc, payout_id desc);
create index payouts_by_settlement on payouts (settlement_id);
create index payouts_unfinished on payouts (firm_id) where state in ('scheduled', 'held', 'sent');

-- Which order each paisa of a payout comes from.
create table payout_lines (
  payout_id text not null references payouts,
  order_id text not null,
  scrip_no text not null,
  paise bigint not null check (paise > 0),
  primary key (payout_id, scrip_no)
);

create index payout_lines_by_order on payout_lines (order_id);
