-- A desk could not know that a client's mandate was about to end until its orders were refused. The day
-- of the next warning is kept beside the mandate, so that the worker finds it by an index. Mandates from
-- before are looked at from thirty days before their end.

alter table firms add column mandate_due_on date;

update firms
set mandate_due_on = ((mandate ->> 'valid_until')::timestamptz at time zone 'Asia/Kolkata')::date - 30
where mandate is not null and connection_state in ('authorized', 'suspended');

alter table firms add constraint firms_mandate_due check (mandate_due_on is null or mandate is not null);

create index firms_by_mandate_due on firms (mandate_due_on) where mandate_due_on is not null;
