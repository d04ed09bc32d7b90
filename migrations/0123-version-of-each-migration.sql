-- A program that is older than the schema names the version that it takes. Migrations from before this
-- one have none.

alter table if exists schema_migrations add column version text check (version <> '');
