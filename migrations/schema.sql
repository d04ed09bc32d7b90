-- The schema after all migrations, made by `npm run golden`. A test fails when it differs.

create table api_keys (
  key_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  kind text not null,
  parent_key_id text,
  name text not null,
  plan text,
  scopes text[] not null,
  buy_side boolean not null,
  per_minute integer,
  monthly_quota bigint,
  max_order_paise bigint,
  daily_notional_paise bigint,
  ip_allowlist text[] not null,
  expires_at timestamp with time zone,
  salt bytea not null,
  secret_hash bytea not null,
  hint text not null,
  state text not null,
  revoked_at timestamp with time zone,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint api_keys_pkey PRIMARY KEY (key_id),
  constraint api_keys_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint api_keys_parent_key_id_fkey FOREIGN KEY (parent_key_id) REFERENCES api_keys(key_id),
  constraint api_keys_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name),
  constraint api_keys_daily_notional_paise_check CHECK (((daily_notional_paise >= 1) AND (daily_notional_paise <= '9007199254740991'::bigint))),
  constraint api_keys_hint_check CHECK ((length(hint) = 4)),
  constraint api_keys_key_id_check CHECK ((key_id ~ '^key_[0-9a-z]{26}$'::text)),
  constraint api_keys_kind_check CHECK ((kind = ANY (ARRAY['root'::text, 'sub_account'::text, 'app'::text]))),
  constraint api_keys_max_order_paise_check CHECK (((max_order_paise >= 1) AND (max_order_paise <= '9007199254740991'::bigint))),
  constraint api_keys_monthly_quota_check CHECK ((monthly_quota > 0)),
  constraint api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint api_keys_per_minute_check CHECK ((per_minute > 0)),
  constraint api_keys_plan_of_environment CHECK (((plan IS NULL) OR ((environment = 'sandbox'::text) = (plan = 'sandbox'::text)))),
  constraint api_keys_revoked_at_a_time CHECK (((state = 'revoked'::text) = (revoked_at IS NOT NULL))),
  constraint api_keys_root_has_no_parent CHECK (((kind = 'root'::text) = (parent_key_id IS NULL))),
  constraint api_keys_root_has_plan CHECK (((kind = 'root'::text) = (plan IS NOT NULL))),
  constraint api_keys_salt_check CHECK ((octet_length(salt) = 16)),
  constraint api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['firms'::text, 'quote'::text, 'orders:write'::text, 'orders:read'::text, 'market:read'::text, 'webhooks:write'::text, '*'::text]))),
  constraint api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
  constraint api_keys_state_check CHECK ((state = ANY (ARRAY['active'::text, 'revoked'::text]))),
  constraint api_keys_version_check CHECK ((version > 0))
);
CREATE INDEX api_keys_by_desk ON public.api_keys USING btree (desk_id, created_at DESC, key_id DESC);
CREATE INDEX api_keys_by_parent ON public.api_keys USING btree (parent_key_id) WHERE (parent_key_id IS NOT NULL);

create table firms (
  firm_id text not null,
  environment text not null,
  desk_id text not null,
  legal_name text not null,
  iec text,
  pan text,
  connection_state text not null,
  created_at timestamp with time zone not null,
  constraint firms_environment_desk_id_firm_id_key UNIQUE (environment, desk_id, firm_id),
  constraint firms_pkey PRIMARY KEY (firm_id),
  constraint firms_environment_desk_id_desk_id_fkey FOREIGN KEY (environment, desk_id, desk_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint firms_connection_state_check CHECK ((connection_state = ANY (ARRAY['registered'::text, 'verifying'::text, 'action_required'::text, 'verified'::text, 'authorized'::text, 'suspended'::text, 'rejected'::text, 'offboarding'::text, 'offboarded'::text]))),
  constraint firms_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint firms_firm_id_check CHECK ((firm_id ~ '^frm_[0-9a-z]{26}$'::text)),
  constraint firms_iec_check CHECK ((iec ~ '^([A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]|[0-9]{10})$'::text)),
  constraint firms_legal_name_check CHECK (((length(legal_name) >= 1) AND (length(legal_name) <= 200))),
  constraint firms_pan_check CHECK ((pan ~ '^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$'::text))
);
CREATE UNIQUE INDEX firms_desk_name ON public.firms USING btree (environment, legal_name) WHERE (desk_id = firm_id);

create table idempotency_keys (
  scope text not null,
  idempotency_key text not null,
  resource_id text not null,
  fingerprint jsonb not null,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (scope, idempotency_key),
  constraint idempotency_keys_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,255}$'::text))
);

create table plans (
  name text not null,
  per_minute integer not null,
  monthly_quota bigint,
  enforced boolean not null,
  updated_at timestamp with time zone not null default now(),
  constraint plans_pkey PRIMARY KEY (name),
  constraint plans_enforced_with_quota CHECK ((enforced = (monthly_quota IS NOT NULL))),
  constraint plans_monthly_quota_check CHECK ((monthly_quota > 0)),
  constraint plans_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,31}$'::text)),
  constraint plans_per_minute_check CHECK ((per_minute > 0))
);

create table schema_migrations (
  file text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (file)
);

create table usage_days (
  key_id text not null,
  day date not null,
  route text not null,
  calls bigint not null,
  constraint usage_days_pkey PRIMARY KEY (key_id, day, route),
  constraint usage_days_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(key_id),
  constraint usage_days_calls_check CHECK ((calls > 0))
);

create table usage_months (
  key_id text not null,
  month text not null,
  calls bigint not null,
  constraint usage_months_pkey PRIMARY KEY (key_id, month),
  constraint usage_months_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(key_id),
  constraint usage_months_calls_check CHECK ((calls >= 0)),
  constraint usage_months_month_check CHECK ((month ~ '^[0-9]{4}-[0-9]{2}$'::text))
);

grant delete, insert, select, update on api_keys to scripdesk_app;
grant delete, insert, select, update on firms to scripdesk_app;
grant delete, insert, select, update on idempotency_keys to scripdesk_app;
grant delete, insert, select, update on plans to scripdesk_app;
grant select on schema_migrations to scripdesk_app;
grant delete, insert, select, update on usage_days to scripdesk_app;
grant delete, insert, select, update on usage_months to scripdesk_app;
