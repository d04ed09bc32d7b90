-- A credit pays duty bill of entry by bill of entry. Each part that its firm tells is a row, with the
-- balance that it left; what went before, or was told by a report of customs, is what is missing
-- between the issued amount, these parts and the balance. A credit that is used up has no balance.

alter table credits drop constraint credits_face_paise_check;

update credits set face_paise = 0 where state = 'used';

alter table credits
  add constraint credits_face_paise_check check (face_paise between 0 and 9007199254740991),
  add constraint credits_used_up check ((face_paise = 0) = (state = 'used'));

create table credit_uses (
  firm_id text not null,
  scrip_no text not null,
  ordinal integer not null,
  environment text not null,
  desk_id text not null,
  credit_id text not null references credits,
  bill_of_entry text,
  used_on date,
  port_code text,
  amount_paise bigint not null,
  balance_paise bigint not null,
  told_at timestamptz not null,
  primary key (firm_id, scrip_no, ordinal),
  constraint credit_uses_one_of_a_bill unique (firm_id, scrip_no, bill_of_entry),
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id),
  constraint credit_uses_environment_check check (environment in ('live', 'sandbox')),
  constraint credit_uses_ordinal_check check (ordinal > 0),
  constraint credit_uses_bill_check check (bill_of_entry ~ '^[A-Z0-9][A-Z0-9/-]{0,29}$'),
  constraint credit_uses_port_check check (port_code ~ '^IN[A-Z0-9]{3}[0-9A-Z]$'),
  -- All of a bill is told, or nothing: then the firm has said no more than that the credit is used.
  constraint credit_uses_bill_is_whole
    check ((bill_of_entry is null) = (used_on is null) and (used_on is null) = (port_code is null)),
  constraint credit_uses_amount_check check (amount_paise between 1 and 9007199254740991),
  constraint credit_uses_balance_check check (balance_paise between 0 and 9007199254740991),
  constraint credit_uses_unnamed_takes_all check (bill_of_entry is not null or balance_paise = 0)
);

create index credit_uses_of_credit on credit_uses (credit_id, ordinal);
