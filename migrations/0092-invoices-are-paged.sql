-- Pages of the fee invoices, newest first: of everybody, and of one firm.
create index fee_invoices_newest on fee_invoices (environment, issued_at, invoice_no);
create index fee_invoices_of_firm on fee_invoices (environment, firm_id, issued_at, invoice_no);
