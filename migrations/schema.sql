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

create table audit_records (
  record_id text not null,
  environment text not null,
  desk_id text not null,
  at timestamp with time zone not null,
  actor_kind text not null,
  actor_id text not null,
  request_id text,
  action text not null,
  entity_type text not null,
  entity_id text not null,
  entity_version integer not null,
  before_hash text,
  after_hash text,
  constraint audit_records_pkey PRIMARY KEY (record_id),
  constraint audit_records_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'operator'::text, 'worker'::text]))),
  constraint audit_records_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint audit_records_record_id_check CHECK ((record_id ~ '^aud_[0-9a-z]{26}$'::text))
);
CREATE INDEX audit_records_by_desk ON public.audit_records USING btree (desk_id, at DESC, record_id DESC);

create table credits (
  credit_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  scrip_no text not null,
  scheme text not null,
  issued_paise bigint not null,
  face_paise bigint not null,
  port_code text,
  issued_on date not null,
  expires_on date not null,
  state text not null,
  state_before_suspension text,
  reserved_for text,
  reason text,
  as_of timestamp with time zone not null,
  expiry_told integer,
  expiry_due_on date not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint credits_pkey PRIMARY KEY (credit_id),
  constraint credits_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint credits_balance_within_issue CHECK ((face_paise <= issued_paise)),
  constraint credits_credit_id_check CHECK ((starts_with(credit_id, 'crd_'::text) AND (length(credit_id) = 30))),
  constraint credits_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint credits_expire_after_issue CHECK ((expires_on >= issued_on)),
  constraint credits_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint credits_issued_paise_check CHECK (((issued_paise >= 1) AND (issued_paise <= '9007199254740991'::bigint))),
  constraint credits_port_code_check CHECK ((port_code ~ '^IN[A-Z0-9]{3}[0-9A-Z]$'::text)),
  constraint credits_reserved_for_something CHECK (((COALESCE(state_before_suspension, state) = ANY (ARRAY['reserved'::text, 'in_settlement'::text])) = (reserved_for IS NOT NULL))),
  constraint credits_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint credits_scrip_no_check CHECK ((scrip_no ~ '^[A-Z0-9][A-Z0-9/-]{5,24}$'::text)),
  constraint credits_state_check CHECK ((state = ANY (ARRAY['declared'::text, 'rejected'::text, 'listed'::text, 'reserved'::text, 'in_settlement'::text, 'transferred'::text, 'suspended'::text, 'cancelled'::text, 'expired'::text, 'used'::text, 'withdrawn'::text]))),
  constraint credits_suspended_from CHECK (((state = 'suspended'::text) = (state_before_suspension IS NOT NULL))),
  constraint credits_version_check CHECK ((version > 0))
);
CREATE INDEX credits_by_desk_scrip ON public.credits USING btree (desk_id, scrip_no);
CREATE INDEX credits_by_firm ON public.credits USING btree (firm_id, created_at DESC, credit_id DESC);
CREATE INDEX credits_expiry ON public.credits USING btree (expiry_due_on) WHERE (state = ANY (ARRAY['declared'::text, 'listed'::text, 'suspended'::text]));
CREATE INDEX credits_unconfirmed ON public.credits USING btree (environment, scrip_no) WHERE (state = 'declared'::text);
CREATE UNIQUE INDEX credits_claim ON public.credits USING btree (scrip_no, firm_id) WHERE (state = ANY (ARRAY['declared'::text, 'listed'::text, 'reserved'::text, 'in_settlement'::text, 'suspended'::text]));
CREATE UNIQUE INDEX credits_live_scrip ON public.credits USING btree (environment, scrip_no) WHERE (state = ANY (ARRAY['listed'::text, 'reserved'::text, 'in_settlement'::text, 'suspended'::text]));

create table deliveries (
  delivery_id text not null,
  webhook_id text not null,
  environment text not null,
  desk_id text not null,
  sequence bigint not null,
  event text not null,
  state text not null,
  due_at timestamp with time zone not null,
  lease integer not null,
  attempts integer not null,
  tries integer not null,
  last_status integer,
  reason text,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint deliveries_once UNIQUE (webhook_id, sequence),
  constraint deliveries_pkey PRIMARY KEY (delivery_id),
  constraint deliveries_desk_id_sequence_fkey FOREIGN KEY (desk_id, sequence) REFERENCES events(desk_id, sequence),
  constraint deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook_queues(webhook_id),
  constraint deliveries_attempts_check CHECK ((attempts >= 0)),
  constraint deliveries_delivery_id_check CHECK ((starts_with(delivery_id, 'dlv_'::text) AND (length(delivery_id) = 30))),
  constraint deliveries_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text]))),
  constraint deliveries_tries_check CHECK ((tries >= 0)),
  constraint deliveries_version_check CHECK ((version > 0))
);
CREATE INDEX deliveries_dead ON public.deliveries USING btree (desk_id, updated_at DESC, delivery_id DESC) WHERE (state = 'dead'::text);
CREATE INDEX deliveries_pending ON public.deliveries USING btree (webhook_id, due_at) WHERE (state = 'pending'::text);

create table delivery_attempts (
  delivery_id text not null,
  lease integer not null,
  at timestamp with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  reason text,
  answer text not null,
  constraint delivery_attempts_pkey PRIMARY KEY (delivery_id, lease),
  constraint delivery_attempts_duration_ms_check CHECK ((duration_ms >= 0)),
  constraint delivery_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'transient'::text, 'permanent'::text])))
);

create table desk_sequences (
  desk_id text not null,
  last_sequence bigint not null,
  constraint desk_sequences_pkey PRIMARY KEY (desk_id),
  constraint desk_sequences_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint desk_sequences_last_sequence_check CHECK ((last_sequence >= 0))
);

create table events (
  desk_id text not null,
  sequence bigint not null,
  event_id text not null,
  environment text not null,
  firm_id text not null,
  event text not null,
  entity_type text not null,
  entity_id text not null,
  entity_version integer not null,
  created_at timestamp with time zone not null,
  body text not null,
  constraint events_event_id_key UNIQUE (event_id),
  constraint events_pkey PRIMARY KEY (desk_id, sequence),
  constraint events_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint events_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint events_event_id_check CHECK ((event_id ~ '^evt_[0-9a-z]{26}$'::text)),
  constraint events_sequence_check CHECK ((sequence > 0))
);
CREATE INDEX events_by_firm ON public.events USING btree (desk_id, firm_id, sequence);

create table firms (
  firm_id text not null,
  environment text not null,
  desk_id text not null,
  legal_name text not null,
  iec text,
  pan text,
  connection_state text not null,
  created_at timestamp with time zone not null,
  role text not null default 'both'::text,
  gstin text,
  cin text,
  email text,
  phone text,
  bank_sealed bytea,
  bank_last4 text,
  bank_ifsc text,
  bank_name text,
  external_id text,
  group_id text,
  mandate jsonb,
  checks jsonb not null default '[]'::jsonb,
  checked_at timestamp with time zone,
  hold_reason text,
  hold_until timestamp with time zone,
  suspended_by text,
  suspension_reason text,
  version integer not null default 1,
  updated_at timestamp with time zone not null,
  constraint firms_environment_desk_id_firm_id_key UNIQUE (environment, desk_id, firm_id),
  constraint firms_pkey PRIMARY KEY (firm_id),
  constraint firms_environment_desk_id_desk_id_fkey FOREIGN KEY (environment, desk_id, desk_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint firms_group_of_desk FOREIGN KEY (desk_id, group_id) REFERENCES groups(desk_id, group_id),
  constraint firms_bank_ifsc_check CHECK ((bank_ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'::text)),
  constraint firms_bank_last4_check CHECK ((bank_last4 ~ '^[0-9]{4}$'::text)),
  constraint firms_bank_sealed CHECK (((bank_sealed IS NOT NULL) = ((bank_last4 IS NOT NULL) AND (connection_state <> 'offboarded'::text)))),
  constraint firms_bank_whole CHECK ((((bank_ifsc IS NULL) = (bank_last4 IS NULL)) AND ((bank_ifsc IS NULL) = (bank_name IS NULL)) AND ((bank_ifsc IS NOT NULL) OR (bank_sealed IS NULL)))),
  constraint firms_cin_check CHECK ((cin ~ '^[LU][0-9]{5}[A-Z]{2}[0-9]{4}[A-Z]{3}[0-9]{6}$'::text)),
  constraint firms_connection_state_check CHECK ((connection_state = ANY (ARRAY['registered'::text, 'verifying'::text, 'action_required'::text, 'verified'::text, 'authorized'::text, 'suspended'::text, 'rejected'::text, 'offboarding'::text, 'offboarded'::text]))),
  constraint firms_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint firms_firm_id_check CHECK ((firm_id ~ '^frm_[0-9a-z]{26}$'::text)),
  constraint firms_gstin_check CHECK ((gstin ~ '^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$'::text)),
  constraint firms_hold_whole CHECK (((hold_reason IS NULL) = (hold_until IS NULL))),
  constraint firms_iec_check CHECK ((iec ~ '^([A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]|[0-9]{10})$'::text)),
  constraint firms_legal_name_check CHECK (((length(legal_name) >= 1) AND (length(legal_name) <= 200))),
  constraint firms_pan_check CHECK ((pan ~ '^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$'::text)),
  constraint firms_role_check CHECK ((role = ANY (ARRAY['exporter'::text, 'importer'::text, 'both'::text]))),
  constraint firms_suspended_by CHECK ((((connection_state = 'suspended'::text) = (suspended_by IS NOT NULL)) AND ((suspended_by IS NULL) = (suspension_reason IS NULL)))),
  constraint firms_suspended_by_check CHECK ((suspended_by = ANY (ARRAY['desk'::text, 'operator'::text]))),
  constraint firms_version_check CHECK ((version > 0))
);
CREATE INDEX firms_by_desk ON public.firms USING btree (desk_id, created_at DESC, firm_id DESC);
CREATE INDEX firms_by_group ON public.firms USING btree (group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX firms_offboarding ON public.firms USING btree (firm_id) WHERE (connection_state = 'offboarding'::text);
CREATE UNIQUE INDEX firms_desk_name ON public.firms USING btree (environment, legal_name) WHERE (desk_id = firm_id);
CREATE UNIQUE INDEX firms_external_id ON public.firms USING btree (desk_id, external_id) WHERE ((external_id IS NOT NULL) AND (connection_state <> 'offboarded'::text));
CREATE UNIQUE INDEX firms_iec ON public.firms USING btree (desk_id, iec) WHERE ((iec IS NOT NULL) AND (connection_state <> 'offboarded'::text));

create table groups (
  group_id text not null,
  environment text not null,
  desk_id text not null,
  name text not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint groups_desk_id_group_id_key UNIQUE (desk_id, group_id),
  constraint groups_desk_id_name_key UNIQUE (desk_id, name),
  constraint groups_pkey PRIMARY KEY (group_id),
  constraint groups_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint groups_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint groups_group_id_check CHECK ((group_id ~ '^grp_[0-9a-z]{26}$'::text)),
  constraint groups_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint groups_version_check CHECK ((version > 0))
);
CREATE INDEX groups_by_desk ON public.groups USING btree (desk_id, created_at DESC, group_id DESC);

create table idempotency_keys (
  scope text not null,
  idempotency_key text not null,
  resource_id text not null,
  fingerprint jsonb not null,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (scope, idempotency_key),
  constraint idempotency_keys_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,255}$'::text))
);

create table inquiries (
  inquiry_id text not null,
  environment text not null,
  desk_id text not null,
  port text not null,
  kind text not null,
  subject_id text not null,
  facts jsonb not null,
  state text not null,
  due_at timestamp with time zone not null,
  answer jsonb,
  as_of timestamp with time zone,
  reference text,
  answered_by text,
  created_at timestamp with time zone not null,
  constraint inquiries_pkey PRIMARY KEY (inquiry_id),
  constraint inquiries_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint inquiries_answered_whole CHECK (((state = 'answered'::text) = ((answer IS NOT NULL) AND (as_of IS NOT NULL) AND (answered_by IS NOT NULL)))),
  constraint inquiries_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint inquiries_inquiry_id_check CHECK ((inquiry_id ~ '^inq_[0-9a-z]{26}$'::text)),
  constraint inquiries_port_check CHECK ((port = ANY (ARRAY['registry'::text, 'bank'::text]))),
  constraint inquiries_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'dropped'::text])))
);
CREATE INDEX inquiries_due ON public.inquiries USING btree (environment, due_at) WHERE (state = 'open'::text);
CREATE UNIQUE INDEX inquiries_open_subject ON public.inquiries USING btree (kind, subject_id) WHERE (state = 'open'::text);

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

create table port_outages (
  environment text not null,
  port text not null,
  since timestamp with time zone not null,
  note text not null,
  constraint port_outages_pkey PRIMARY KEY (environment, port),
  constraint port_outages_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint port_outages_port_check CHECK ((port = ANY (ARRAY['registry'::text, 'bank'::text])))
);

create table requirements (
  requirement_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  scheme text,
  amount_paise bigint not null,
  due_on date not null,
  reference text not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint requirements_firm_id_reference_key UNIQUE (firm_id, reference),
  constraint requirements_pkey PRIMARY KEY (requirement_id),
  constraint requirements_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint requirements_amount_paise_check CHECK (((amount_paise >= 1) AND (amount_paise <= '9007199254740991'::bigint))),
  constraint requirements_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint requirements_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 100))),
  constraint requirements_requirement_id_check CHECK ((requirement_id ~ '^rqm_[0-9a-z]{26}$'::text)),
  constraint requirements_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint requirements_version_check CHECK ((version > 0))
);
CREATE INDEX requirements_by_firm ON public.requirements USING btree (firm_id, created_at DESC, requirement_id DESC);

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

create table webhook_queues (
  webhook_id text not null,
  fanned_sequence bigint not null,
  next_due_at timestamp with time zone,
  served_at timestamp with time zone,
  failing_since timestamp with time zone,
  constraint webhook_queues_pkey PRIMARY KEY (webhook_id),
  constraint webhook_queues_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(webhook_id)
);
CREATE INDEX webhook_queues_due ON public.webhook_queues USING btree (next_due_at) WHERE (next_due_at IS NOT NULL);

create table webhooks (
  webhook_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text,
  url text not null,
  event text not null,
  state text not null,
  warnings integer not null,
  secret_sealed bytea not null,
  secret_hint text not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamp with time zone,
  after_sequence bigint not null,
  tested_at timestamp with time zone,
  enabled_at timestamp with time zone,
  deleted_at timestamp with time zone,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint webhooks_pkey PRIMARY KEY (webhook_id),
  constraint webhooks_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint webhooks_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint webhooks_after_sequence_check CHECK ((after_sequence >= 0)),
  constraint webhooks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint webhooks_previous_secret CHECK (((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))),
  constraint webhooks_state_check CHECK ((state = ANY (ARRAY['active'::text, 'failing'::text, 'disabled'::text]))),
  constraint webhooks_url_check CHECK ((length(url) <= 2048)),
  constraint webhooks_version_check CHECK ((version > 0)),
  constraint webhooks_warnings_check CHECK ((warnings >= 0)),
  constraint webhooks_webhook_id_check CHECK ((starts_with(webhook_id, 'whk_'::text) AND (length(webhook_id) = 30)))
);
CREATE INDEX webhooks_by_desk ON public.webhooks USING btree (desk_id, created_at DESC, webhook_id DESC) WHERE (deleted_at IS NULL);

grant delete, insert, select, update on api_keys to scripdesk_app;
grant insert, select on audit_records to scripdesk_app;
grant delete, insert, select, update on credits to scripdesk_app;
grant delete, insert, select, update on deliveries to scripdesk_app;
grant insert, select on delivery_attempts to scripdesk_app;
grant delete, insert, select, update on desk_sequences to scripdesk_app;
grant insert, select on events to scripdesk_app;
grant delete, insert, select, update on firms to scripdesk_app;
grant delete, insert, select, update on groups to scripdesk_app;
grant delete, insert, select, update on idempotency_keys to scripdesk_app;
grant delete, insert, select, update on inquiries to scripdesk_app;
grant delete, insert, select, update on plans to scripdesk_app;
grant delete, insert, select, update on port_outages to scripdesk_app;
grant delete, insert, select, update on requirements to scripdesk_app;
grant select on schema_migrations to scripdesk_app;
grant delete, insert, select, update on usage_days to scripdesk_app;
grant delete, insert, select, update on usage_months to scripdesk_app;
grant delete, insert, select, update on webhook_queues to scripdesk_app;
grant delete, insert, select, update on webhooks to scripdesk_app;
