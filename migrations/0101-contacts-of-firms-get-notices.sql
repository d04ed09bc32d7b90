-- A firm's own contact is told that its bank account was changed. The address is that of a firm, beside
-- those of desks and of people, and is told of nothing else.
alter table notice_addresses add firm_id text references firms (firm_id);
alter table notice_addresses add constraint notice_addresses_of_one
  check (firm_id is null or operator_id is null);
alter table notice_addresses drop constraint notice_addresses_once;
alter table notice_addresses add constraint notice_addresses_once
  unique nulls not distinct (desk_id, operator_id, firm_id, email);
create index notice_addresses_of_firm on notice_addresses (firm_id) where firm_id is not null;
