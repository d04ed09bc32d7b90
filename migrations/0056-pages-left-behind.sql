-- Pages that no statement has are deleted when the statement they were made for is kept by somebody
-- else. Those of a statement stay.
create function keep_statement_pages() returns trigger
language plpgsql
as $$
begin
  if exists (
    select
    from statements as s
    where s.firm_id = old.firm_id and s.period = old.period and s.seen_entry_no = old.seen_entry_no
  ) then
    raise exception 'a page of a statement stays' using errcode = 'restrict_violation';
  end if;
  return old;
end
$$;
create trigger statement_pages_stay before delete on statement_pages
for each row execute function keep_statement_pages();
