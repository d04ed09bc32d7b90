-- In live a transfer that was begun may be open at customs: its leg ends only by an answer of customs
-- that an operator has attested, and as that answer says. The code sees to it, and here the database
-- refuses what would give money or a credit away without one.

create index inquiries_transfers_answered on inquiries (subject_id)
  where kind = 'credit_transfer' and state = 'answered';

create function refuse_unanswered_transfer() returns trigger
language plpgsql as $$
begin
  if not exists (
    select
    from inquiries as i
    where i.kind = 'credit_transfer' and i.state = 'answered'
      and i.subject_id = new.settlement_id || ':' || new.ordinal
      and (i.answer ->> 'outcome' = 'transferred') = (new.state = 'delivered')
  ) then
    raise exception 'customs has not said what became of % in %', new.scrip_no, new.settlement_id
      using errcode = 'check_violation', constraint = 'settlement_legs_answered_by_customs';
  end if;
  return new;
end
$$;

create trigger answered_by_customs before update of state on settlement_legs
  for each row
  when (new.environment = 'live' and old.state = 'transferring' and new.state <> 'transferring')
  execute function refuse_unanswered_transfer();
