-- What people gave as evidence, by the thing that it is about and by its reference. The simulated
-- answers of the sandbox leave no rows, so these cost nothing there.

create index questions_answered_about on questions (split_part(subject_id, ':', 1))
  where state = 'answered';
create index questions_by_reference on questions (upper(reference)) where state = 'answered';
create index approvals_about on approvals (subject_id);
create index approvals_by_reference on approvals (upper(terms ->> 'reference'))
  where terms ? 'reference';
create index firms_by_mandate on firms (upper(mandate ->> 'reference')) where mandate is not null;
create index settlement_legs_by_initiation on settlement_legs (upper(initiate_reference))
  where initiate_reference is not null;
create index settlement_legs_by_acceptance on settlement_legs (upper(accept_reference))
  where accept_reference is not null;
create index bank_lines_decided_for_deal on bank_lines (deal_id) where decided_by is not null;
create index bank_lines_decided_for_firm on bank_lines (firm_id) where decided_by is not null;
