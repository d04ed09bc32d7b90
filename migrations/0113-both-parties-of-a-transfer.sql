-- A deal is carried out by its parties: the buyer pays, the holder initiates the transfer on the
-- customs portal, the receiver accepts it there, and customs shows it. A leg knows which of these is
-- awaited and until when, and what the parties said that they did.

alter table settlements
  -- Whether its transfers may begin: the parties have been told.
  add column begun boolean not null default false,
  add column paid_at timestamptz,
  add column pay_due_at timestamptz,
  add column pay_reference text,
  -- When the buyer was told that its payment is late.
  add column pay_late_at timestamptz,
  -- When the clock ends what is open of it; null while only customs may end it.
  add column ends_at timestamptz,
  -- The earliest deadline of a task that nobody was told is late.
  add column next_late_at timestamptz;

update settlements
set begun = state = 'transfer_initiated',
  pay_due_at = case when state = 'pending' then due_at end,
  next_late_at = case when state = 'pending' then due_at end,
  ends_at = case when environment = 'sandbox' or state <> 'transfer_initiated' then due_at end
where due_at is not null;

alter table settlements
  add constraint settlements_end_before_they_ended check (ends_at is null or due_at is not null),
  -- A live transfer that may be open is never ended by the clock.
  add constraint settlements_open_transfer_has_no_end check (
    environment = 'sandbox' or state <> 'transfer_initiated' or ends_at is null
  ),
  add constraint settlements_pay_reference_check check (length(pay_reference) between 1 and 200);

create index settlements_to_begin on settlements (environment, due_at)
  where state = 'funded' and not begun;
create index settlements_ending on settlements (environment, state, ends_at)
  where ends_at is not null;
create index settlements_late on settlements (environment, state, next_late_at)
  where next_late_at is not null;

create index settlements_of_buyer_open on settlements (buyer_desk_id) where due_at is not null;

drop trigger answered_by_customs on settlement_legs;

alter table settlement_legs
  drop constraint settlement_legs_state_check,
  drop constraint settlement_legs_buyer_pays_seller,
  drop column awaited,
  -- Who initiates on the portal: the holder, or the house by the holder's mandate or as the holder.
  add column initiate_by text not null default 'house',
  -- What the simulated parties do with it, in the sandbox.
  add column scenario text,
  add column initiate_due_at timestamptz,
  add column initiated_at timestamptz,
  add column initiate_reference text,
  add column accept_due_at timestamptz,
  add column accepted_at timestamptz,
  add column accept_reference text,
  add column missing_at timestamptz,
  add column missing_reference text,
  add column missing_note text,
  add column customs_due_at timestamptz,
  -- When its party was told that the step is late.
  add column late_at timestamptz,
  add column failed_step text;

alter table settlement_legs
  add column awaited boolean not null generated always as (
    state in ('pending', 'to_initiate', 'to_accept', 'missing', 'transferring')
  ) stored;

update settlement_legs as l
set initiated_at = s.updated_at, accepted_at = s.updated_at, customs_due_at = s.due_at
from settlements as s
where s.settlement_id = l.settlement_id and l.state = 'transferring';

create index settlement_legs_of_seller_open on settlement_legs (seller_desk_id) where awaited;

alter table settlement_legs
  add constraint settlement_legs_state_check check (
    state in (
      'pending', 'to_initiate', 'to_accept', 'missing', 'transferring', 'delivered', 'failed'
    )
  ),
  add constraint settlement_legs_buyer_pays_seller check (
    buyer_paise >= seller_paise and buyer_bps >= seller_bps or not awaited
  ) not valid,
  add constraint settlement_legs_initiate_by_check check (initiate_by in ('firm', 'house')),
  add constraint settlement_legs_simulated_in_sandbox check (
    scenario is null or environment = 'sandbox'
  ),
  add constraint settlement_legs_steps_have_deadlines check (
    case state
      when 'to_initiate' then initiate_due_at is not null
      when 'to_accept' then initiated_at is not null and accept_due_at is not null
      when 'missing' then missing_at is not null and initiate_due_at is not null
      when 'transferring' then accepted_at is not null and customs_due_at is not null
      else true
    end
  ),
  add constraint settlement_legs_failed_step_check check (
    failed_step is null
    or state = 'failed' and failed_step in ('pay', 'initiate', 'accept', 'customs')
  ),
  add constraint settlement_legs_claims_are_short check (
    length(initiate_reference) between 1 and 200 and length(accept_reference) between 1 and 200
    and length(missing_reference) between 1 and 200 and length(missing_note) between 1 and 500
  );

-- In live nobody but customs ends a transfer that may be open, and no credit changes hands without
-- its word.
create trigger answered_by_customs before update of state on settlement_legs
  for each row
  when (
    new.environment = 'live' and new.state in ('delivered', 'failed') and (
      new.state = 'delivered' and old.state <> 'delivered'
      or old.state in ('to_accept', 'missing', 'transferring')
    )
  )
  execute function refuse_unanswered_transfer();
