-- Subscriptions are looked through in the order of their ids, so many at a time; those that were
-- deleted are kept, and are not passed on the way.
create index webhooks_listening on webhooks (webhook_id) where deleted_at is null;
