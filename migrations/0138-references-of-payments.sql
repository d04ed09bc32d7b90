-- What buyers gave for their payments, by which an operator finds the deal.

create index settlements_by_payment on settlements (upper(pay_reference))
  where pay_reference is not null;
create index crosses_by_payment on crosses (upper(payment_ref)) where payment_ref is not null;
