-- Sealed data can be opened with one master key only. The database keeps what tells that key from any
-- other, so that a service with another one refuses to start instead of failing at the first secret.
create table master_key_checks (
  only_one boolean primary key default true check (only_one),
  key_check bytea not null check (length(key_check) = 32)
);
