-- An idempotency key is bound to what it created in the transaction that created it: a retry after
-- any crash finds the original or creates it, and two racing calls wait for each other on this
-- primary key. The fingerprint keeps a digest per field, enough to say which fields of a reused
-- key differ and too little to read the request back.
create table idempotency_keys (
  scope text not null,
  idempotency_key text not null check (idempotency_key ~ '^[!-~]{1,255}$'),
  resource_id text not null,
  fingerprint jsonb not null,
  created_at timestamptz not null,
  primary key (scope, idempotency_key)
);
