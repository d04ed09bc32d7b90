-- A question to customs or to a bank is called a question everywhere; its ids keep their letters.
alter table inquiries rename to questions;
alter table questions rename column inquiry_id to question_id;
alter table questions rename constraint inquiries_pkey to questions_pkey;
alter table questions rename constraint inquiries_answered_whole to questions_answered_whole;
alter table questions rename constraint inquiries_environment_check to questions_environment_check;
alter table questions rename constraint inquiries_inquiry_id_check to questions_question_id_check;
alter table questions rename constraint inquiries_port_check to questions_port_check;
alter table questions rename constraint inquiries_state_check to questions_state_check;
alter index inquiries_due rename to questions_due;
alter index inquiries_transfers_answered rename to questions_transfers_answered;
alter index inquiries_open_subject rename to questions_open_subject;

create or replace function refuse_unanswered_transfer() returns trigger
language plpgsql as $function$
begin
  if not exists (
    select
    from questions as q
    where q.kind = 'credit_transfer' and q.state = 'answered'
      and q.subject_id = new.settlement_id || ':' || new.ordinal
      and (q.answer ->> 'outcome' = 'transferred') = (new.state = 'delivered')
  ) then
    raise exception 'customs has not said what became of % in %', new.scrip_no, new.settlement_id
      using errcode = 'check_violation', constraint = 'settlement_legs_answered_by_customs';
  end if;
  return new;
end
$function$;

-- An open proposal names what it answers; who confirms it is told that it changed, and proposes anew.
update approvals
set kind = 'question.attest',
  terms = replace(terms::text, '"inquiryId"', '"questionId"')::jsonb
where kind = 'inquiry.attest';

-- What a person did alone today counts on under the kind's name.
update acts_alone set kind = 'question.attest' where kind = 'inquiry.attest';
