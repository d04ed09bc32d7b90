-- The form in which blocks are written. Nodes of an older version, which may run beside those of this one
-- during an upgrade, cannot read form 3, so a database that has records begins with form 2; the service
-- raises it once no older node is left.
create table journal_form (
  form smallint not null constraint journal_form_known check (form in (2, 3))
);
create unique index journal_form_one on journal_form ((true));
insert into journal_form
select case
  when exists (select from journal_blocks) or exists (select from former_audit_records) then 2
  else 3
end;
