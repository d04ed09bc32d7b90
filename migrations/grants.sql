-- What the service's own role may do, applied after the numbered migrations on every start: it
-- reads and writes rows, and can neither change the schema nor forget that it was changed.
grant usage on schema public to scripdesk_app;
grant select, insert, update, delete on all tables in schema public to scripdesk_app;
revoke insert, update, delete on schema_migrations from scripdesk_app;
-- What happened stays as it was written.
revoke update, delete on events, audit_records, delivery_attempts from scripdesk_app;
