-- The schema after all migrations, made by `npm run golden`. A test fails when it differs.

create type ledger_movement_parts as (from_account text, to_account text, scrip_no text, amount bigint);
create domain ledger_movement as ledger_movement_parts CHECK (COALESCE((((VALUE).from_account <> (VALUE).to_account) AND (((VALUE).amount >= 1) AND ((VALUE).amount <=
CASE
    WHEN ((VALUE).scrip_no IS NULL) THEN '9007199254740991'::bigint
    ELSE (1)::bigint
END))), false));
create sequence bank_statements_received_no_seq;
create sequence firms_firm_no_seq;
create sequence ledger_entry_numbers;

CREATE OR REPLACE FUNCTION public.keep_account_id()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.account_id = old.account_id
    and (new.bank_ifsc, new.bank_last4, new.bank_name, new.legal_name) is distinct from
      (old.bank_ifsc, old.bank_last4, old.bank_name, old.legal_name)
  then
    raise exception 'the account of % has changed and keeps its id', new.firm_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.keep_statement_pages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select
    from statements as s
    where s.firm_id = old.firm_id and s.period = old.period and s.seen_entry_no = old.seen_entry_no
  ) then
    raise exception 'a page of a statement stays' using errcode = 'restrict_violation';
  end if;
  return old;
end
$function$
;

CREATE OR REPLACE FUNCTION public.payment_name(payment_ref text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN upper(regexp_replace(payment_ref, '[^A-Za-z0-9]'::text, ''::text, 'g'::text))
;

CREATE OR REPLACE FUNCTION public.refuse_money_beside_dues()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  owing text;
begin
  select dues.firm_id into owing
  from ledger_balances as dues
  where dues.kind = 'firm_dues'
    and dues.firm_id in (select firm_id from changed where firm_id is not null)
    and dues.posted_paise < 0
    and exists (
      select
      from ledger_balances as free
      where free.balance in ('firm_cash:' || dues.firm_id, 'desk_commission:' || dues.firm_id)
        and free.posted_paise - free.escrow_paise - free.pending_out_paise > 0
    )
  limit 1;
  if owing is not null then
    raise exception 'the firm % owes, and has money available', owing
      using errcode = 'check_violation', constraint = 'ledger_balances_no_money_beside_dues';
  end if;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_unanswered_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (
    select
    from questions as q
    where q.kind = 'credit_transfer' and q.state = 'answered'
      and q.subject_id = new.settlement_id || ':' || new.ordinal
      and (q.answer ->> 'outcome' = 'transferred') = (new.state = 'delivered')
  ) then
    raise exception 'customs has not said what became of % in %', new.scrip_no, new.settlement_id
      using errcode = 'check_violation', constraint = 'settlement_legs_answered_by_customs';
  end if;
  return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.shown_face(face_paise bigint)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN round((face_paise)::numeric, (2 - length((face_paise)::text)))
;

create table acts_alone (
  person_key text not null,
  kind text not null,
  at timestamp with time zone not null,
  subject_id text not null,
  value_paise bigint not null,
  constraint acts_alone_value_paise_check CHECK (((value_paise >= 0) AND (value_paise <= '9007199254740991'::bigint)))
);
CREATE INDEX acts_alone_of_person ON public.acts_alone USING btree (person_key, kind, at);

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
  withdrawals boolean not null default true,
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
CREATE INDEX api_keys_newest ON public.api_keys USING btree (created_at DESC, key_id DESC);

create table approvals (
  kind text not null,
  subject_id text not null,
  terms jsonb not null,
  proposed_by text not null,
  proposed_at timestamp with time zone not null,
  decided_by text,
  decided_at timestamp with time zone,
  approval_id text not null,
  environment text not null,
  state text not null,
  summary text not null,
  value_paise bigint,
  facts_hash text not null,
  expires_at timestamp with time zone not null,
  reason text,
  held_by text,
  constraint approvals_pkey PRIMARY KEY (approval_id),
  constraint approvals_decided_whole CHECK ((((state = 'proposed'::text) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
  constraint approvals_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint approvals_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'approved'::text, 'rejected'::text, 'voided'::text, 'expired'::text]))),
  constraint approvals_two_holders CHECK (((state <> 'approved'::text) OR (held_by IS NULL) OR (lower(replace(decided_by, ' '::text, ''::text)) <> lower(replace(held_by, ' '::text, ''::text))))),
  constraint approvals_two_people CHECK (((state <> 'approved'::text) OR (lower(replace(decided_by, ' '::text, ''::text)) <> lower(replace(proposed_by, ' '::text, ''::text))))),
  constraint approvals_value_check CHECK (((value_paise >= 0) AND (value_paise <= '9007199254740991'::bigint)))
);
CREATE INDEX approvals_about ON public.approvals USING btree (subject_id);
CREATE INDEX approvals_by_reference ON public.approvals USING btree (upper((terms ->> 'reference'::text))) WHERE (terms ? 'reference'::text);
CREATE INDEX approvals_by_subject ON public.approvals USING btree (kind, subject_id, state);
CREATE UNIQUE INDEX approvals_open ON public.approvals USING btree (kind, subject_id) WHERE (state = 'proposed'::text);

create table audit_checkpoints (
  environment text not null,
  desk_id text not null,
  seq bigint not null,
  line text not null,
  made_on date not null,
  made_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  constraint audit_checkpoints_pkey PRIMARY KEY (environment, desk_id, seq),
  constraint audit_checkpoints_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint audit_checkpoints_line_check CHECK (((length(line) >= 1) AND (length(line) <= 2000))),
  constraint audit_checkpoints_seq_check CHECK ((seq > 0))
);
CREATE INDEX audit_checkpoints_unsent ON public.audit_checkpoints USING btree (made_at) WHERE (sent_at IS NULL);

create table audit_heads (
  environment text not null,
  desk_id text not null,
  seq bigint not null,
  hash bytea not null,
  constraint audit_heads_pkey PRIMARY KEY (environment, desk_id),
  constraint audit_heads_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint audit_heads_hash_check CHECK ((length(hash) = 32)),
  constraint audit_heads_seq_check CHECK ((seq >= 0))
);

create table audit_key_successions (
  former_key text not null,
  public_key text not null,
  signed_by_former text not null,
  signed_by_new text not null,
  at timestamp with time zone not null,
  constraint audit_key_successions_pkey PRIMARY KEY (former_key),
  constraint audit_key_successions_former_key_check CHECK ((former_key ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_key_successions_public_key_check CHECK ((public_key ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_key_successions_signed_by_former_check CHECK ((signed_by_former ~ '^[0-9a-f]{128}$'::text)),
  constraint audit_key_successions_signed_by_new_check CHECK ((signed_by_new ~ '^[0-9a-f]{128}$'::text))
);

create table bank_line_entries (
  environment text not null,
  kind text not null,
  subject text not null,
  line_id text,
  constraint bank_line_entries_pkey PRIMARY KEY (environment, kind, subject),
  constraint bank_line_entries_line_id_fkey FOREIGN KEY (line_id) REFERENCES bank_lines(line_id),
  constraint bank_line_entries_explained CHECK (((line_id IS NOT NULL) OR (kind = ANY (ARRAY['deposit'::text, 'refund'::text]))))
);
CREATE INDEX bank_line_entries_of_line ON public.bank_line_entries USING btree (line_id);

create table bank_lines (
  line_id text not null,
  environment text not null,
  statement_id text not null,
  ordinal integer not null,
  line_key text not null,
  day date not null,
  direction text not null,
  paise bigint not null,
  utr text,
  details_sealed bytea not null,
  plan jsonb not null,
  state text not null,
  reason text,
  firm_id text,
  deal_id text,
  back_utr text,
  decided_by text,
  decided_at timestamp with time zone,
  version integer not null,
  other_utrs text[] not null default '{}'::text[],
  value_at timestamp with time zone not null,
  balance_paise bigint,
  text_key text,
  repeats_line_id text,
  claimants text[] not null default '{}'::text[],
  constraint bank_lines_statement_id_line_key_key UNIQUE (statement_id, line_key),
  constraint bank_lines_pkey PRIMARY KEY (line_id),
  constraint bank_lines_repeats_line_id_fkey FOREIGN KEY (repeats_line_id) REFERENCES bank_lines(line_id),
  constraint bank_lines_statement_id_fkey FOREIGN KEY (statement_id) REFERENCES bank_statements(statement_id),
  constraint bank_lines_back_utr_check CHECK ((((length(back_utr) >= 12) AND (length(back_utr) <= 22)) AND (back_utr !~ '[^A-Z0-9]'::text))),
  constraint bank_lines_decided CHECK (((state <> ALL (ARRAY['assigned'::text, 'returning'::text, 'returned'::text])) OR (decided_by IS NOT NULL))),
  constraint bank_lines_direction_check CHECK ((direction = ANY (ARRAY['credit'::text, 'debit'::text]))),
  constraint bank_lines_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint bank_lines_line_id_check CHECK ((starts_with(line_id, 'bln_'::text) AND (length(line_id) = 30))),
  constraint bank_lines_ordinal_check CHECK ((ordinal > 0)),
  constraint bank_lines_paise_check CHECK (((paise >= 1) AND (paise <= '9007199254740991'::bigint))),
  constraint bank_lines_repeats CHECK (((state <> 'repeated'::text) OR (text_key IS NULL) OR (repeats_line_id IS NOT NULL))),
  constraint bank_lines_sent_back CHECK (((state = ANY (ARRAY['returning'::text, 'returned'::text])) = (back_utr IS NOT NULL))),
  constraint bank_lines_state_check CHECK ((state = ANY (ARRAY['new'::text, 'repeated'::text, 'matched'::text, 'queued'::text, 'assigned'::text, 'returning'::text, 'returned'::text]))),
  constraint bank_lines_utr_check CHECK ((((length(utr) >= 12) AND (length(utr) <= 22)) AND (utr !~ '[^A-Z0-9]'::text))),
  constraint bank_lines_version_check CHECK ((version > 0))
);
CREATE INDEX bank_lines_by_utr ON public.bank_lines USING btree (utr) WHERE (utr IS NOT NULL);
CREATE INDEX bank_lines_decided_for_deal ON public.bank_lines USING btree (deal_id) WHERE (decided_by IS NOT NULL);
CREATE INDEX bank_lines_decided_for_firm ON public.bank_lines USING btree (firm_id) WHERE (decided_by IS NOT NULL);
CREATE INDEX bank_lines_of_day ON public.bank_lines USING btree (environment, day) WHERE (state <> ALL (ARRAY['new'::text, 'repeated'::text]));
CREATE INDEX bank_lines_of_statement ON public.bank_lines USING btree (statement_id, ordinal);
CREATE INDEX bank_lines_queue ON public.bank_lines USING btree (environment, day, line_id) WHERE (state = ANY (ARRAY['queued'::text, 'returning'::text]));
CREATE INDEX bank_lines_unnamed ON public.bank_lines USING btree (statement_id) WHERE ((text_key IS NULL) AND (state <> 'repeated'::text));
CREATE UNIQUE INDEX bank_lines_back ON public.bank_lines USING btree (environment, back_utr) WHERE (back_utr IS NOT NULL);
CREATE UNIQUE INDEX bank_lines_once ON public.bank_lines USING btree (environment, text_key, balance_paise) NULLS NOT DISTINCT WHERE ((state <> ALL (ARRAY['new'::text, 'repeated'::text])) AND (repeats_line_id IS NULL) AND (text_key IS NOT NULL));

create table bank_statements (
  statement_id text not null,
  environment text not null,
  sha256 bytea not null,
  format text not null,
  line_count integer not null,
  first_day date not null,
  last_day date not null,
  opening_paise bigint,
  closing_paise bigint,
  state text not null,
  received_by text not null,
  received_at timestamp with time zone not null,
  received_no bigint not null,
  applied_by text,
  applied_at timestamp with time zone,
  reached_at timestamp with time zone not null,
  constraint bank_statements_environment_sha256_format_key UNIQUE (environment, sha256, format),
  constraint bank_statements_pkey PRIMARY KEY (statement_id),
  constraint bank_statements_applied_whole CHECK ((((state = 'applied'::text) = (applied_by IS NOT NULL)) AND ((applied_by IS NULL) = (applied_at IS NULL)))),
  constraint bank_statements_balances_whole CHECK (((opening_paise IS NULL) = (closing_paise IS NULL))),
  constraint bank_statements_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint bank_statements_line_count_check CHECK ((line_count > 0)),
  constraint bank_statements_sha256_check CHECK ((octet_length(sha256) = 32)),
  constraint bank_statements_state_check CHECK ((state = ANY (ARRAY['received'::text, 'applied'::text]))),
  constraint bank_statements_statement_id_check CHECK ((starts_with(statement_id, 'bst_'::text) AND (length(statement_id) = 30)))
);
CREATE INDEX bank_statements_newest ON public.bank_statements USING btree (environment, last_day DESC, received_no DESC);
CREATE INDEX bank_statements_reached ON public.bank_statements USING btree (environment, reached_at) WHERE (state = 'applied'::text);
CREATE UNIQUE INDEX bank_statements_once ON public.bank_statements USING btree (environment, sha256) WHERE (state = 'applied'::text);

create table bills_of_supply (
  environment text not null,
  financial_year text not null,
  kind text not null,
  number bigint not null,
  bill_no text not null,
  settlement_id text not null,
  supplied_on date not null,
  firm_id text not null,
  recipient_name text not null,
  recipient_iec text,
  recipient_gstin text,
  place_of_supply text,
  value_paise bigint not null,
  issued_at timestamp with time zone not null,
  constraint bills_of_supply_environment_bill_no_key UNIQUE (environment, bill_no),
  constraint bills_of_supply_pkey PRIMARY KEY (environment, financial_year, kind, number),
  constraint bills_of_supply_environment_financial_year_kind_fkey FOREIGN KEY (environment, financial_year, kind) REFERENCES invoice_series(environment, financial_year, kind),
  constraint bills_of_supply_environment_firm_id_fkey FOREIGN KEY (environment, firm_id) REFERENCES firms(environment, firm_id),
  constraint bills_of_supply_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id),
  constraint bills_of_supply_bill_no_check CHECK (((length(bill_no) >= 1) AND (length(bill_no) <= 16))),
  constraint bills_of_supply_kind_check CHECK ((kind = ANY (ARRAY['bill_of_supply'::text, 'supply_return'::text]))),
  constraint bills_of_supply_number_check CHECK ((number > 0)),
  constraint bills_of_supply_place_of_supply_check CHECK ((place_of_supply ~ '^[0-9]{2}$'::text)),
  constraint bills_of_supply_value_paise_check CHECK ((value_paise >= 0))
);
CREATE INDEX bills_of_supply_by_day ON public.bills_of_supply USING btree (environment, supplied_on);
CREATE INDEX bills_of_supply_by_settlement ON public.bills_of_supply USING btree (settlement_id);

create table calendar_days (
  office text not null,
  day date not null,
  name text not null,
  works boolean not null,
  status text not null,
  changed_at timestamp with time zone not null default now(),
  constraint calendar_days_pkey PRIMARY KEY (office, day),
  constraint calendar_days_customs_closes CHECK (((office = 'bank'::text) OR (NOT works))),
  constraint calendar_days_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint calendar_days_office_check CHECK ((office = ANY (ARRAY['bank'::text, 'customs'::text]))),
  constraint calendar_days_status_check CHECK ((status = ANY (ARRAY['check'::text, 'confirmed'::text])))
);

create table calendar_versions (
  only_one boolean not null default true,
  version uuid not null,
  constraint calendar_versions_pkey PRIMARY KEY (only_one),
  constraint calendar_versions_only_one_check CHECK (only_one)
);

create table commission_rates (
  desk_id text not null,
  environment text not null,
  bps integer not null,
  version integer not null,
  updated_at timestamp with time zone not null,
  constraint commission_rates_pkey PRIMARY KEY (desk_id),
  constraint commission_rates_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint commission_rates_bps_check CHECK (((bps >= 0) AND (bps <= 100))),
  constraint commission_rates_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint commission_rates_version_check CHECK ((version > 0))
);

create table confirmed_accounts (
  account_id text not null,
  firm_id text not null,
  ifsc text not null,
  last4 text not null,
  confirmed_at timestamp with time zone not null,
  constraint confirmed_accounts_of_firm UNIQUE (account_id, firm_id, ifsc, last4),
  constraint confirmed_accounts_pkey PRIMARY KEY (account_id),
  constraint confirmed_accounts_firm_id_fkey FOREIGN KEY (firm_id) REFERENCES firms(firm_id),
  constraint confirmed_accounts_account_id_check CHECK ((starts_with(account_id, 'acc_'::text) AND (length(account_id) = 30)))
);

create table credit_owners (
  environment text not null,
  scrip_no text not null,
  account text not null,
  pending_entry_no bigint,
  constraint credit_owners_pkey PRIMARY KEY (environment, scrip_no),
  constraint credit_owners_account_check CHECK ((starts_with(account, 'firm_credits:'::text) OR (account = ANY (ARRAY['house_credits'::text, 'external_customs'::text])))),
  constraint credit_owners_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text])))
);

create table credit_uses (
  firm_id text not null,
  scrip_no text not null,
  ordinal integer not null,
  environment text not null,
  desk_id text not null,
  credit_id text not null,
  bill_of_entry text,
  used_on date,
  port_code text,
  amount_paise bigint not null,
  balance_paise bigint not null,
  told_at timestamp with time zone not null,
  constraint credit_uses_one_of_a_bill UNIQUE (firm_id, scrip_no, bill_of_entry),
  constraint credit_uses_pkey PRIMARY KEY (firm_id, scrip_no, ordinal),
  constraint credit_uses_credit_id_fkey FOREIGN KEY (credit_id) REFERENCES credits(credit_id),
  constraint credit_uses_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint credit_uses_amount_check CHECK (((amount_paise >= 1) AND (amount_paise <= '9007199254740991'::bigint))),
  constraint credit_uses_balance_check CHECK (((balance_paise >= 0) AND (balance_paise <= '9007199254740991'::bigint))),
  constraint credit_uses_bill_check CHECK ((bill_of_entry ~ '^[A-Z0-9][A-Z0-9/-]{0,29}$'::text)),
  constraint credit_uses_bill_is_whole CHECK ((((bill_of_entry IS NULL) = (used_on IS NULL)) AND ((used_on IS NULL) = (port_code IS NULL)))),
  constraint credit_uses_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint credit_uses_ordinal_check CHECK ((ordinal > 0)),
  constraint credit_uses_port_check CHECK ((port_code ~ '^IN[A-Z0-9]{3}[0-9A-Z]$'::text)),
  constraint credit_uses_unnamed_takes_all CHECK (((bill_of_entry IS NOT NULL) OR (balance_paise = 0)))
);
CREATE INDEX credit_uses_of_credit ON public.credit_uses USING btree (credit_id, ordinal);

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
  changed_in xid8 not null default pg_current_xact_id(),
  standing text default 
CASE
    WHEN (state = ANY (ARRAY['listed'::text, 'reserved'::text, 'in_settlement'::text, 'suspended'::text])) THEN 'live'::text
    WHEN (state = 'declared'::text) THEN 'claim'::text
    ELSE NULL::text
END,
  house_changed_in xid8 default 
CASE
    WHEN (firm_id = ANY (ARRAY['frm_00000000000000000000000001'::text, 'frm_00000000000000000000000002'::text])) THEN changed_in
    ELSE NULL::xid8
END,
  house_offers boolean not null default ((state = 'listed'::text) AND (firm_id = ANY (ARRAY['frm_00000000000000000000000001'::text, 'frm_00000000000000000000000002'::text]))),
  balance_shown_on date,
  constraint credits_pkey PRIMARY KEY (credit_id),
  constraint credits_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint credits_balance_within_issue CHECK ((face_paise <= issued_paise)),
  constraint credits_credit_id_check CHECK ((starts_with(credit_id, 'crd_'::text) AND (length(credit_id) = 30))),
  constraint credits_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint credits_expire_after_issue CHECK ((expires_on >= issued_on)),
  constraint credits_face_paise_check CHECK (((face_paise >= 0) AND (face_paise <= '9007199254740991'::bigint))),
  constraint credits_issued_paise_check CHECK (((issued_paise >= 1) AND (issued_paise <= '9007199254740991'::bigint))),
  constraint credits_port_code_check CHECK ((port_code ~ '^IN[A-Z0-9]{3}[0-9A-Z]$'::text)),
  constraint credits_reserved_for_something CHECK (((COALESCE(state_before_suspension, state) = ANY (ARRAY['reserved'::text, 'in_settlement'::text])) = (reserved_for IS NOT NULL))),
  constraint credits_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint credits_scrip_no_check CHECK ((((length(scrip_no) >= 6) AND (length(scrip_no) <= 25)) AND (scrip_no !~ '^[/-]|[^A-Z0-9/-]'::text))),
  constraint credits_state_check CHECK ((state = ANY (ARRAY['declared'::text, 'rejected'::text, 'listed'::text, 'reserved'::text, 'in_settlement'::text, 'transferred'::text, 'suspended'::text, 'cancelled'::text, 'expired'::text, 'used'::text, 'withdrawn'::text]))),
  constraint credits_suspended_from CHECK (((state = 'suspended'::text) = (state_before_suspension IS NOT NULL))),
  constraint credits_used_up CHECK (((face_paise = 0) = (state = 'used'::text))),
  constraint credits_version_check CHECK ((version > 0))
);
CREATE INDEX credits_by_desk_scrip ON public.credits USING btree (desk_id, scrip_no);
CREATE INDEX credits_by_firm ON public.credits USING btree (firm_id, created_at, credit_id);
CREATE INDEX credits_ended ON public.credits USING btree (environment, scrip_no) WHERE (standing IS NULL);
CREATE INDEX credits_expiry ON public.credits USING btree (expiry_due_on) WHERE (standing IS NOT NULL);
CREATE INDEX credits_house_offers ON public.credits USING btree (environment, scheme, face_paise, scrip_no) INCLUDE (expires_on) WHERE house_offers;
CREATE INDEX credits_live_newest ON public.credits USING btree (credit_id) WHERE (environment = 'live'::text);
CREATE INDEX credits_of_house ON public.credits USING btree (environment, house_changed_in) WHERE (house_changed_in IS NOT NULL);
CREATE INDEX credits_unconfirmed ON public.credits USING btree (environment, scrip_no) WHERE (standing = 'claim'::text);
CREATE UNIQUE INDEX credits_claim ON public.credits USING btree (firm_id, scrip_no) WHERE (standing IS NOT NULL);
CREATE UNIQUE INDEX credits_live_scrip ON public.credits USING btree (environment, scrip_no) WHERE (standing = 'live'::text);

create table cross_quotes (
  cross_quote_ref text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  key_id text not null,
  side text not null,
  kind text not null,
  counterparty_firm_id text,
  seller_iec text not null,
  buyer_iec text not null,
  scheme text not null,
  scrip_nos text[],
  face_paise bigint not null,
  price_bps integer not null,
  fee_bps integer not null,
  terms_hash text not null,
  created_at timestamp with time zone not null,
  valid_until timestamp with time zone not null,
  cross_id text,
  gst_bps integer not null default 1800,
  constraint cross_quotes_pkey PRIMARY KEY (cross_quote_ref),
  constraint cross_quotes_cross_quote_ref_check CHECK ((starts_with(cross_quote_ref, 'cqt_'::text) AND (length(cross_quote_ref) = 30))),
  constraint cross_quotes_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint cross_quotes_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint cross_quotes_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 10000))),
  constraint cross_quotes_gst_bps_check CHECK (((gst_bps >= 0) AND (gst_bps <= 5000))),
  constraint cross_quotes_kind_check CHECK ((kind = ANY (ARRAY['block'::text, 'intra_group'::text]))),
  constraint cross_quotes_price_bps_check CHECK (((price_bps >= 1) AND (price_bps <= 10000))),
  constraint cross_quotes_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint cross_quotes_scrip_nos_check CHECK ((cardinality(scrip_nos) > 0)),
  constraint cross_quotes_side_check CHECK ((side = ANY (ARRAY['sell'::text, 'buy'::text]))),
  constraint cross_quotes_terms_hash_check CHECK ((length(terms_hash) = 64))
);

create table crosses (
  cross_id text not null,
  environment text not null,
  kind text not null,
  scheme text not null,
  face_paise bigint not null,
  price_bps integer not null,
  fee_bps integer not null,
  seller_paise bigint not null,
  buyer_paise bigint not null,
  proposed_by text not null,
  seller_iec text not null,
  seller_desk_id text,
  seller_firm_id text,
  buyer_iec text not null,
  buyer_desk_id text,
  buyer_firm_id text,
  awaited_iec text,
  names_credits boolean not null,
  scrip_nos text[] not null,
  terms_hash text not null,
  state text not null,
  reason text,
  payment_ref text,
  settlement_id text,
  netting_ref text,
  due_at timestamp with time zone,
  history jsonb not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  proposing_key_id text,
  gst_bps integer not null default 1800,
  constraint crosses_pkey PRIMARY KEY (cross_id),
  constraint crosses_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id),
  constraint crosses_agreed_by_both CHECK (((state <> ALL (ARRAY['agreed'::text, 'funded'::text, 'released'::text, 'settled'::text, 'refunded'::text, 'failed'::text])) OR ((awaited_iec IS NULL) AND (cardinality(scrip_nos) > 0)))),
  constraint crosses_awaited CHECK ((((awaited_iec IS NOT NULL) = (num_nulls(seller_firm_id, buyer_firm_id) > 0)) AND (num_nulls(seller_firm_id, buyer_firm_id) <= 1))),
  constraint crosses_buyer_paise_check CHECK (((buyer_paise >= 1) AND (buyer_paise <= '9007199254740991'::bigint))),
  constraint crosses_buyer_whole CHECK (((buyer_desk_id IS NULL) = (buyer_firm_id IS NULL))),
  constraint crosses_cross_id_check CHECK ((starts_with(cross_id, 'crs_'::text) AND (length(cross_id) = 30))),
  constraint crosses_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint crosses_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint crosses_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 10000))),
  constraint crosses_funded_by_payment CHECK (((state <> ALL (ARRAY['funded'::text, 'released'::text, 'settled'::text, 'failed'::text])) OR (payment_ref IS NOT NULL))),
  constraint crosses_gst_bps_check CHECK (((gst_bps >= 0) AND (gst_bps <= 5000))),
  constraint crosses_kind_check CHECK ((kind = ANY (ARRAY['block'::text, 'intra_group'::text]))),
  constraint crosses_open_have_deadline CHECK (((state = ANY (ARRAY['proposed'::text, 'agreed'::text, 'funded'::text])) = (due_at IS NOT NULL))),
  constraint crosses_payment_ref_check CHECK (((length(payment_ref) >= 1) AND (length(payment_ref) <= 64))),
  constraint crosses_price_bps_check CHECK (((price_bps >= 1) AND (price_bps <= 10000))),
  constraint crosses_proposed_by_check CHECK ((proposed_by = ANY (ARRAY['sell'::text, 'buy'::text]))),
  constraint crosses_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint crosses_seller_paise_check CHECK (((seller_paise >= 1) AND (seller_paise <= '9007199254740991'::bigint))),
  constraint crosses_seller_whole CHECK (((seller_desk_id IS NULL) = (seller_firm_id IS NULL))),
  constraint crosses_settle_once CHECK (((state = ANY (ARRAY['released'::text, 'settled'::text, 'failed'::text])) = (settlement_id IS NOT NULL))),
  constraint crosses_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'agreed'::text, 'funded'::text, 'released'::text, 'settled'::text, 'declined'::text, 'cancelled'::text, 'expired'::text, 'refunded'::text, 'failed'::text]))),
  constraint crosses_terms_hash_check CHECK ((length(terms_hash) = 64)),
  constraint crosses_two_firms CHECK ((seller_iec <> buyer_iec)),
  constraint crosses_version_check CHECK ((version > 0))
);
CREATE INDEX crosses_by_awaited ON public.crosses USING btree (environment, awaited_iec) WHERE (awaited_iec IS NOT NULL);
CREATE INDEX crosses_by_buyer ON public.crosses USING btree (buyer_desk_id, created_at DESC, cross_id DESC) WHERE (buyer_desk_id IS NOT NULL);
CREATE INDEX crosses_by_netting ON public.crosses USING btree (netting_ref) WHERE (netting_ref IS NOT NULL);
CREATE INDEX crosses_by_payment ON public.crosses USING btree (upper(payment_ref)) WHERE (payment_ref IS NOT NULL);
CREATE INDEX crosses_by_seller ON public.crosses USING btree (seller_desk_id, created_at DESC, cross_id DESC) WHERE (seller_desk_id IS NOT NULL);
CREATE INDEX crosses_coming ON public.crosses USING btree (buyer_firm_id) WHERE (state = ANY (ARRAY['agreed'::text, 'funded'::text]));
CREATE INDEX crosses_due ON public.crosses USING btree (environment, state, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX crosses_live ON public.crosses USING btree (cross_id) WHERE (environment = 'live'::text);
CREATE INDEX crosses_reserved ON public.crosses USING gin (scrip_nos) WHERE (state = ANY (ARRAY['agreed'::text, 'funded'::text]));
CREATE UNIQUE INDEX crosses_by_settlement ON public.crosses USING btree (settlement_id) WHERE (settlement_id IS NOT NULL);
CREATE UNIQUE INDEX crosses_payment_names ON public.crosses USING btree (environment, buyer_firm_id, payment_name(payment_ref)) WHERE ((state = 'agreed'::text) AND (length(payment_name(payment_ref)) >= 8));

create table deal_minutes (
  environment text not null,
  scheme text not null,
  minute timestamp with time zone not null,
  deals bigint not null,
  shown_paise numeric not null,
  constraint deal_minutes_pkey PRIMARY KEY (environment, scheme, minute),
  constraint deal_minutes_deals_check CHECK ((deals > 0)),
  constraint deal_minutes_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint deal_minutes_minute_check CHECK ((minute = date_trunc('minute'::text, minute, 'UTC'::text))),
  constraint deal_minutes_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint deal_minutes_shown_paise_check CHECK ((shown_paise > (0)::numeric))
);

create table delivered_blocks (
  webhook_id text not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  environment text not null,
  desk_id text not null,
  deliveries smallint not null,
  lease integer not null,
  ids bytea not null,
  packed bytea not null,
  created_at timestamp with time zone not null,
  delivered_at timestamp with time zone not null,
  constraint delivered_blocks_pkey PRIMARY KEY (webhook_id, first_sequence, delivered_at),
  constraint delivered_blocks_deliveries_check CHECK (((deliveries >= 1) AND (deliveries <= 16))),
  constraint delivered_blocks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint delivered_blocks_ids CHECK ((length(ids) = (13 * deliveries))),
  constraint delivered_blocks_lease_check CHECK ((lease > 0)),
  constraint delivered_blocks_span CHECK ((first_sequence <= last_sequence))
) partition by range (delivered_at);

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
  constraint deliveries_once UNIQUE (webhook_id, sequence, created_at),
  constraint deliveries_pkey PRIMARY KEY (delivery_id, created_at),
  constraint deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook_queues(webhook_id),
  constraint deliveries_attempts_check CHECK ((attempts >= 0)),
  constraint deliveries_delivery_id_check CHECK ((starts_with(delivery_id, 'dlv_'::text) AND (length(delivery_id) = 30))),
  constraint deliveries_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text]))),
  constraint deliveries_tries_check CHECK ((tries >= 0)),
  constraint deliveries_version_check CHECK ((version > 0))
) partition by range (created_at);
CREATE INDEX deliveries_dead ON ONLY public.deliveries USING btree (desk_id, updated_at DESC, delivery_id DESC) WHERE (state = 'dead'::text);
CREATE INDEX deliveries_dead_newest ON ONLY public.deliveries USING btree (updated_at DESC, delivery_id DESC) WHERE (state = 'dead'::text);
CREATE INDEX deliveries_pending ON ONLY public.deliveries USING btree (webhook_id, due_at) WHERE (state = 'pending'::text);

create table delivery_attempts (
  delivery_id text not null,
  lease integer not null,
  at timestamp with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  reason text,
  answer text not null,
  constraint delivery_attempts_pkey PRIMARY KEY (delivery_id, lease, at),
  constraint delivery_attempts_duration_ms_check CHECK ((duration_ms >= 0)),
  constraint delivery_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'transient'::text, 'permanent'::text])))
) partition by range (at);

create table delivery_blocks (
  webhook_id text not null,
  first_sequence bigint not null,
  environment text not null,
  desk_id text not null,
  sequences bigint[] not null,
  due_at timestamp with time zone not null,
  lease integer not null,
  created_at timestamp with time zone not null,
  constraint delivery_blocks_pkey PRIMARY KEY (webhook_id, first_sequence),
  constraint delivery_blocks_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook_queues(webhook_id),
  constraint delivery_blocks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint delivery_blocks_first CHECK ((sequences[1] = first_sequence)),
  constraint delivery_blocks_lease_check CHECK ((lease >= 0)),
  constraint delivery_blocks_size CHECK (((cardinality(sequences) >= 1) AND (cardinality(sequences) <= 16)))
);
CREATE INDEX delivery_blocks_due ON public.delivery_blocks USING btree (webhook_id, due_at);

create table deposit_reversals (
  environment text not null,
  reference text not null,
  reason text not null,
  reversed_by text not null,
  at timestamp with time zone not null,
  constraint deposit_reversals_pkey PRIMARY KEY (environment, reference),
  constraint deposit_reversals_environment_reference_fkey FOREIGN KEY (environment, reference) REFERENCES deposits(environment, reference)
);

create table deposits (
  environment text not null,
  reference text not null,
  desk_id text not null,
  firm_id text not null,
  paise bigint not null,
  settlement_id text,
  at timestamp with time zone not null,
  constraint deposits_pkey PRIMARY KEY (environment, reference),
  constraint deposits_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint deposits_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id),
  constraint deposits_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint deposits_paise_check CHECK (((paise >= 1) AND (paise <= '9007199254740991'::bigint))),
  constraint deposits_reference_check CHECK ((((length(reference) >= 12) AND (length(reference) <= 22)) AND (reference !~ '[^A-Z0-9]'::text)))
);
CREATE INDEX deposits_by_settlement ON public.deposits USING btree (settlement_id) WHERE (settlement_id IS NOT NULL);
CREATE INDEX deposits_of_desk ON public.deposits USING btree (desk_id, at, reference);
CREATE INDEX deposits_of_firm ON public.deposits USING btree (firm_id, at, reference);

create table desk_approvals (
  approval_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  kind text not null,
  state text not null,
  terms_sealed bytea,
  shown jsonb not null,
  fact text not null,
  proposed_by text not null,
  proposed_name text not null,
  decided_by text,
  decided_name text,
  reason text,
  payout_id text,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint desk_approvals_pkey PRIMARY KEY (approval_id),
  constraint desk_approvals_check CHECK ((expires_at > created_at)),
  constraint desk_approvals_decided_whole CHECK ((((state = ANY (ARRAY['approved'::text, 'rejected'::text])) = (decided_by IS NOT NULL)) AND ((decided_by IS NULL) = (decided_name IS NULL)))),
  constraint desk_approvals_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint desk_approvals_kind_check CHECK ((kind = ANY (ARRAY['bank_change'::text, 'withdrawal'::text, 'offboarding'::text, 'rules'::text]))),
  constraint desk_approvals_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'approved'::text, 'rejected'::text, 'voided'::text]))),
  constraint desk_approvals_two_keys CHECK (((state <> 'approved'::text) OR ((decided_by <> proposed_by) AND (lower(regexp_replace(decided_name, '\s'::text, ''::text, 'g'::text)) <> lower(regexp_replace(proposed_name, '\s'::text, ''::text, 'g'::text)))))),
  constraint desk_approvals_version_check CHECK ((version > 0))
);
CREATE INDEX desk_approvals_newest ON public.desk_approvals USING btree (desk_id, created_at DESC, approval_id DESC);
CREATE INDEX desk_approvals_open ON public.desk_approvals USING btree (desk_id) WHERE (state = 'proposed'::text);

create table desk_clocks (
  desk_id text not null,
  ahead_s bigint not null,
  move jsonb,
  constraint desk_clocks_pkey PRIMARY KEY (desk_id),
  constraint desk_clocks_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint desk_clocks_ahead_s_check CHECK (((ahead_s >= 0) AND (ahead_s <= 315576000)))
);

create table desk_sequences (
  desk_id text not null,
  last_sequence bigint not null,
  constraint desk_sequences_pkey PRIMARY KEY (desk_id),
  constraint desk_sequences_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint desk_sequences_last_sequence_check CHECK ((last_sequence >= 0))
);

create table dropped_files (
  file_id text not null,
  folder text not null,
  name text not null,
  sha256 bytea,
  outcome text not null,
  said text not null,
  machine text not null,
  at timestamp with time zone not null,
  constraint dropped_files_pkey PRIMARY KEY (file_id),
  constraint dropped_files_folder_check CHECK ((folder = ANY (ARRAY['statements'::text, 'credits'::text]))),
  constraint dropped_files_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'proposed'::text, 'known'::text, 'failed'::text]))),
  constraint dropped_files_sha256_check CHECK ((octet_length(sha256) = 32))
);
CREATE UNIQUE INDEX dropped_files_once ON public.dropped_files USING btree (folder, sha256) WHERE (outcome = 'done'::text);

create table enquiries (
  enquiry_ref text not null,
  kind text not null,
  scheme text,
  amount_paise bigint,
  status text not null,
  person_sealed bytea not null,
  digest bytea not null,
  outcome text,
  forget_at timestamp with time zone not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint enquiries_pkey PRIMARY KEY (enquiry_ref),
  constraint enquiries_about CHECK ((((kind = 'contact'::text) = (scheme IS NULL)) AND ((kind = 'contact'::text) = (amount_paise IS NULL)))),
  constraint enquiries_amount_paise_check CHECK (((amount_paise >= 1) AND (amount_paise <= '9007199254740991'::bigint))),
  constraint enquiries_closed_whole CHECK (((status = 'closed'::text) = (outcome IS NOT NULL))),
  constraint enquiries_enquiry_ref_check CHECK ((enquiry_ref ~ '^enq_[0-9a-z]{26}$'::text)),
  constraint enquiries_kind_check CHECK ((kind = ANY (ARRAY['sell'::text, 'buy'::text, 'contact'::text]))),
  constraint enquiries_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint enquiries_status_check CHECK ((status = ANY (ARRAY['received'::text, 'closed'::text]))),
  constraint enquiries_version_check CHECK ((version > 0))
);
CREATE INDEX enquiries_to_forget ON public.enquiries USING btree (forget_at);
CREATE UNIQUE INDEX enquiries_open_digest ON public.enquiries USING btree (digest) WHERE (status = 'received'::text);

create table fee_invoices (
  environment text not null,
  financial_year text not null,
  kind text not null,
  number bigint not null,
  invoice_no text not null,
  firm_id text not null,
  settlement_id text not null,
  side text not null,
  place_of_supply text not null,
  fee_paise bigint not null,
  cgst_paise bigint not null,
  sgst_paise bigint not null,
  igst_paise bigint not null,
  issued_at timestamp with time zone not null,
  sac text,
  recipient_name text,
  recipient_gstin text,
  constraint fee_invoices_environment_invoice_no_key UNIQUE (environment, invoice_no),
  constraint fee_invoices_pkey PRIMARY KEY (environment, financial_year, kind, number),
  constraint fee_invoices_environment_financial_year_kind_fkey FOREIGN KEY (environment, financial_year, kind) REFERENCES invoice_series(environment, financial_year, kind),
  constraint fee_invoices_environment_firm_id_fkey FOREIGN KEY (environment, firm_id) REFERENCES firms(environment, firm_id),
  constraint fee_invoices_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id),
  constraint fee_invoices_cgst_paise_check CHECK ((cgst_paise >= 0)),
  constraint fee_invoices_fee_paise_check CHECK ((fee_paise > 0)),
  constraint fee_invoices_igst_paise_check CHECK ((igst_paise >= 0)),
  constraint fee_invoices_invoice_no_check CHECK (((length(invoice_no) >= 1) AND (length(invoice_no) <= 16))),
  constraint fee_invoices_number_check CHECK ((number > 0)),
  constraint fee_invoices_one_place CHECK (((igst_paise = 0) OR ((cgst_paise + sgst_paise) = 0))),
  constraint fee_invoices_place_of_supply_check CHECK ((place_of_supply ~ '^[0-9]{2}$'::text)),
  constraint fee_invoices_sac_check CHECK ((sac ~ '^[0-9]{4,8}$'::text)),
  constraint fee_invoices_sgst_paise_check CHECK ((sgst_paise >= 0)),
  constraint fee_invoices_side_check CHECK ((side = ANY (ARRAY['sell'::text, 'buy'::text])))
);
CREATE INDEX fee_invoices_by_settlement ON public.fee_invoices USING btree (settlement_id);
CREATE INDEX fee_invoices_newest ON public.fee_invoices USING btree (environment, issued_at, invoice_no);
CREATE INDEX fee_invoices_of_firm ON public.fee_invoices USING btree (environment, firm_id, issued_at, invoice_no);

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
  authorized_at timestamp with time zone,
  mandate_due_on date,
  account_id text,
  account_confirmed_at timestamp with time zone,
  firm_no bigint not null,
  constraint firms_environment_desk_id_firm_id_key UNIQUE (environment, desk_id, firm_id),
  constraint firms_in_environment UNIQUE (environment, firm_id),
  constraint firms_pkey PRIMARY KEY (firm_id),
  constraint firms_environment_desk_id_desk_id_fkey FOREIGN KEY (environment, desk_id, desk_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint firms_group_of_desk FOREIGN KEY (desk_id, group_id) REFERENCES groups(desk_id, group_id),
  constraint firms_account CHECK (((account_id IS NOT NULL) = (bank_sealed IS NOT NULL))),
  constraint firms_account_confirmed CHECK (((account_confirmed_at IS NULL) OR (account_id IS NOT NULL))),
  constraint firms_account_id_check CHECK ((starts_with(account_id, 'acc_'::text) AND (length(account_id) = 30))),
  constraint firms_authorized_at_a_time CHECK (((connection_state <> 'authorized'::text) OR (authorized_at IS NOT NULL))),
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
  constraint firms_mandate_due CHECK (((mandate_due_on IS NULL) OR (mandate IS NOT NULL))),
  constraint firms_pan_check CHECK ((pan ~ '^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$'::text)),
  constraint firms_role_check CHECK ((role = ANY (ARRAY['exporter'::text, 'importer'::text, 'both'::text]))),
  constraint firms_suspended_by CHECK ((((connection_state = 'suspended'::text) = (suspended_by IS NOT NULL)) AND ((suspended_by IS NULL) = (suspension_reason IS NULL)))),
  constraint firms_suspended_by_check CHECK ((suspended_by = ANY (ARRAY['desk'::text, 'operator'::text]))),
  constraint firms_version_check CHECK ((version > 0))
);
CREATE INDEX firms_authorized_by_iec ON public.firms USING btree (environment, iec) WHERE (connection_state = 'authorized'::text);
CREATE INDEX firms_by_desk ON public.firms USING btree (desk_id, created_at DESC, firm_id DESC);
CREATE INDEX firms_by_group ON public.firms USING btree (group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX firms_by_iec ON public.firms USING btree (iec) WHERE (iec IS NOT NULL);
CREATE INDEX firms_by_mandate ON public.firms USING btree (upper((mandate ->> 'reference'::text))) WHERE (mandate IS NOT NULL);
CREATE INDEX firms_by_mandate_due ON public.firms USING btree (mandate_due_on) WHERE (mandate_due_on IS NOT NULL);
CREATE INDEX firms_by_name ON public.firms USING btree (lower(legal_name) text_pattern_ops);
CREATE INDEX firms_by_pan ON public.firms USING btree (pan) WHERE (pan IS NOT NULL);
CREATE INDEX firms_by_words ON public.firms USING gin (to_tsvector('simple'::regconfig, translate(legal_name, './-&,()_@:''"'::text, '            '::text))) WITH (fastupdate=off);
CREATE INDEX firms_desks_newest ON public.firms USING btree (created_at DESC, firm_id DESC) WHERE (desk_id = firm_id);
CREATE INDEX firms_live_newest ON public.firms USING btree (created_at DESC, firm_id DESC) WHERE (environment = 'live'::text);
CREATE INDEX firms_newest ON public.firms USING btree (created_at DESC, firm_id DESC);
CREATE INDEX firms_offboarding ON public.firms USING btree (firm_id) WHERE (connection_state = 'offboarding'::text);
CREATE INDEX firms_to_look_at ON public.firms USING btree (connection_state, created_at DESC, firm_id DESC) WHERE (connection_state <> 'authorized'::text);
CREATE UNIQUE INDEX firms_by_no ON public.firms USING btree (firm_no);
CREATE UNIQUE INDEX firms_desk_name ON public.firms USING btree (environment, legal_name) WHERE (desk_id = firm_id);
CREATE UNIQUE INDEX firms_external_id ON public.firms USING btree (desk_id, external_id) WHERE ((external_id IS NOT NULL) AND (connection_state <> 'offboarded'::text));
CREATE UNIQUE INDEX firms_iec ON public.firms USING btree (desk_id, iec) WHERE ((iec IS NOT NULL) AND (connection_state <> 'offboarded'::text));
CREATE TRIGGER firms_account_has_own_id BEFORE UPDATE ON public.firms FOR EACH ROW EXECUTE FUNCTION keep_account_id();

create table former_audit_records (
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
  seq bigint not null,
  form smallint not null,
  hash bytea not null,
  constraint former_audit_records_pkey PRIMARY KEY (environment, desk_id, seq),
  constraint former_audit_records_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'operator'::text, 'worker'::text, 'visitor'::text, 'counterparty'::text]))),
  constraint former_audit_records_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint former_audit_records_hash_check CHECK ((length(hash) = 32)),
  constraint former_audit_records_record_id_check CHECK ((starts_with(record_id, 'aud_'::text) AND (length(record_id) = 30))),
  constraint former_audit_records_seq_check CHECK ((seq > 0))
);
CREATE INDEX former_audit_records_by_entity ON public.former_audit_records USING btree (entity_id, desk_id, seq);

create table former_events (
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
  constraint former_events_pkey PRIMARY KEY (desk_id, sequence),
  constraint former_events_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint former_events_event_id_check CHECK ((starts_with(event_id, 'evt_'::text) AND (length(event_id) = 30))),
  constraint former_events_sequence_check CHECK ((sequence > 0))
);
CREATE INDEX former_events_by_client ON public.former_events USING btree (desk_id, firm_id, sequence) WHERE (firm_id <> desk_id);

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

create table house_days (
  environment text not null,
  scheme text not null,
  day date not null,
  taken_paise numeric not null,
  constraint house_days_pkey PRIMARY KEY (environment, scheme, day),
  constraint house_days_taken_paise_check CHECK ((taken_paise >= (0)::numeric))
);

create table house_desk_days (
  scheme text not null,
  day date not null,
  desk_id text not null,
  taken_paise numeric not null,
  shelf_credits integer not null,
  constraint house_desk_days_pkey PRIMARY KEY (scheme, day, desk_id),
  constraint house_desk_days_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint house_desk_days_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint house_desk_days_shelf_credits_check CHECK ((shelf_credits >= 0)),
  constraint house_desk_days_taken_paise_check CHECK ((taken_paise >= (0)::numeric))
);

create table house_quoted (
  environment text not null,
  scheme text not null,
  desk_id text not null,
  node_id uuid not null,
  face_paise bigint not null,
  until timestamp with time zone not null,
  sequence bigint not null,
  constraint house_quoted_pkey PRIMARY KEY (environment, scheme, desk_id, node_id),
  constraint house_quoted_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint house_quoted_face_paise_check CHECK ((face_paise >= 0)),
  constraint house_quoted_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text])))
);

create table houses (
  environment text not null,
  version integer not null,
  effective_from date not null,
  legal_name text not null,
  iec text,
  pan text,
  tan text,
  gstin text,
  cin text,
  address text[] not null,
  state_code text,
  signatory text,
  bank_beneficiary text,
  bank_account_no text,
  bank_ifsc text,
  bank_name text,
  set_at timestamp with time zone not null,
  set_by text not null,
  approved_by text,
  constraint houses_pkey PRIMARY KEY (environment, version),
  constraint houses_address_check CHECK ((cardinality(address) <= 6)),
  constraint houses_bank_account_no_check CHECK ((bank_account_no ~ '^[0-9]{9,18}$'::text)),
  constraint houses_bank_ifsc_check CHECK ((bank_ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'::text)),
  constraint houses_cin_check CHECK ((cin ~ '^[LU][0-9]{5}[A-Z]{2}[0-9]{4}[A-Z]{3}[0-9]{6}$'::text)),
  constraint houses_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint houses_gstin_check CHECK ((gstin ~ '^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$'::text)),
  constraint houses_iec_check CHECK ((iec ~ '^([A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]|[0-9]{10})$'::text)),
  constraint houses_legal_name_check CHECK (((char_length(legal_name) >= 1) AND (char_length(legal_name) <= 200))),
  constraint houses_one_pan CHECK ((((iec IS NULL) OR (pan IS NULL) OR (iec ~ '^[0-9]{10}$'::text) OR (iec = pan)) AND ((gstin IS NULL) OR (pan IS NULL) OR (substr(gstin, 3, 10) = pan)))),
  constraint houses_one_state CHECK (((gstin IS NULL) OR (state_code IS NULL) OR (substr(gstin, 1, 2) = state_code))),
  constraint houses_pan_check CHECK ((pan ~ '^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$'::text)),
  constraint houses_state_code_check CHECK ((state_code ~ '^[0-9]{2}$'::text)),
  constraint houses_tan_check CHECK ((tan ~ '^[A-Z]{4}[0-9]{5}[A-Z]$'::text)),
  constraint houses_two_people CHECK (((approved_by IS NULL) OR (approved_by <> set_by))),
  constraint houses_version_check CHECK ((version > 0)),
  constraint houses_whole_account CHECK ((num_nulls(bank_beneficiary, bank_account_no, bank_ifsc, bank_name) = ANY (ARRAY[0, 4])))
);

create table idempotency_keys (
  scope text not null,
  idempotency_key text not null,
  resource_id text not null,
  fingerprint jsonb not null,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (scope, idempotency_key),
  constraint idempotency_keys_idempotency_key_check CHECK ((((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 255)) AND (idempotency_key !~ '[^!-~]'::text)))
);

create table invoice_series (
  environment text not null,
  financial_year text not null,
  kind text not null,
  last_number bigint not null,
  constraint invoice_series_pkey PRIMARY KEY (environment, financial_year, kind),
  constraint invoice_series_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint invoice_series_financial_year_check CHECK ((financial_year ~ '^[0-9]{4}-[0-9]{2}$'::text)),
  constraint invoice_series_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'credit_note'::text, 'bill_of_supply'::text, 'supply_return'::text]))),
  constraint invoice_series_last_number_check CHECK ((last_number > 0))
);

create table journal_blocks (
  environment text not null,
  desk_id text not null,
  first_seq bigint not null,
  last_seq bigint not null,
  first_sequence bigint,
  last_sequence bigint,
  at timestamp with time zone not null,
  form smallint not null,
  entities bigint[] not null,
  summary jsonb not null,
  packed bytea not null,
  hashes bytea,
  hash bytea,
  traces jsonb,
  constraint journal_blocks_pkey PRIMARY KEY (environment, desk_id, first_seq),
  constraint journal_blocks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint journal_blocks_events CHECK ((((first_sequence IS NULL) = (last_sequence IS NULL)) AND COALESCE((((last_sequence - first_sequence) >= 0) AND ((last_sequence - first_sequence) <= (last_seq - first_seq))), true))),
  constraint journal_blocks_first_seq_check CHECK ((first_seq > 0)),
  constraint journal_blocks_first_sequence_check CHECK ((first_sequence > 0)),
  constraint journal_blocks_hashes CHECK ((
CASE form
    WHEN 2 THEN ((hash IS NULL) AND (length(hashes) = (32 * ((last_seq - first_seq) + 1))))
    WHEN 3 THEN ((hashes IS NULL) AND (length(hash) = 32))
    ELSE false
END IS TRUE)),
  constraint journal_blocks_records CHECK (((last_seq >= first_seq) AND (last_seq <= (first_seq + 255)))),
  constraint journal_blocks_traces CHECK ((((jsonb_typeof(traces) = 'array'::text) AND (last_sequence IS NOT NULL)) OR (traces IS NULL))) NOT VALID
);
CREATE INDEX journal_blocks_by_entity ON public.journal_blocks USING gin (entities) WITH (fastupdate=off);
CREATE INDEX journal_blocks_by_time ON public.journal_blocks USING btree (environment, desk_id, at);
CREATE UNIQUE INDEX journal_blocks_by_event ON public.journal_blocks USING btree (desk_id, last_sequence) WHERE (last_sequence IS NOT NULL);

create table journal_clients (
  desk_id text not null,
  firm_id text not null,
  last_sequence bigint not null,
  events integer not null,
  constraint journal_clients_pkey PRIMARY KEY (desk_id, firm_id, last_sequence),
  constraint journal_clients_events_check CHECK (((events >= 1) AND (events <= 256))),
  constraint journal_clients_firm CHECK ((firm_id <> desk_id))
);

create table journal_form (
  form smallint not null,
  constraint journal_form_known CHECK ((form = ANY (ARRAY[2, 3])))
);
CREATE UNIQUE INDEX journal_form_one ON public.journal_form USING btree ((true));

create table key_days (
  key_id text not null,
  day date not null,
  ordered_paise numeric not null,
  constraint key_days_pkey PRIMARY KEY (key_id, day),
  constraint key_days_ordered_paise_check CHECK ((ordered_paise >= (0)::numeric))
);

create table ledger_balances (
  balance text not null,
  environment text not null,
  account text not null,
  kind text not null,
  firm_id text,
  stripe smallint,
  posted_paise numeric not null default 0,
  escrow_paise numeric not null default 0,
  pending_out_paise numeric not null default 0,
  pending_in_paise numeric not null default 0,
  version bigint not null default 0,
  constraint ledger_balances_pkey PRIMARY KEY (balance),
  constraint ledger_balances_environment_firm_id_fkey FOREIGN KEY (environment, firm_id) REFERENCES firms(environment, firm_id),
  constraint ledger_balances_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint ledger_balances_floor CHECK (((kind <> ALL (ARRAY['firm_cash'::text, 'desk_commission'::text])) OR ((((posted_paise - escrow_paise) - pending_out_paise) >= (0)::numeric) AND (LEAST(posted_paise, escrow_paise, pending_out_paise, pending_in_paise) >= (0)::numeric)))),
  constraint ledger_balances_kind CHECK (
CASE
    WHEN (firm_id IS NULL) THEN ((stripe IS NOT NULL) AND (kind = ANY (ARRAY['house_cash'::text, 'house_fees'::text, 'gst_payable'::text, 'cgst_payable'::text, 'sgst_payable'::text, 'igst_payable'::text, 'tds_payable'::text, 'unmatched_cash'::text, 'external_bank'::text])))
    ELSE ((stripe IS NULL) AND (kind = ANY (ARRAY['firm_cash'::text, 'desk_commission'::text, 'firm_dues'::text])))
END),
  constraint ledger_balances_named CHECK (((account = (kind || COALESCE((':'::text || firm_id), ''::text))) AND (balance = (account || COALESCE((((':'::text || environment) || ':'::text) || stripe), ''::text))))),
  constraint ledger_balances_stripe_check CHECK (((stripe >= 0) AND (stripe <= 15)))
);
CREATE INDEX ledger_balances_dues ON public.ledger_balances USING btree (firm_id) WHERE (kind = 'firm_dues'::text);
CREATE INDEX ledger_balances_money ON public.ledger_balances USING btree (environment, balance) WHERE (kind = ANY (ARRAY['firm_cash'::text, 'desk_commission'::text]));
CREATE TRIGGER no_money_beside_dues AFTER UPDATE ON public.ledger_balances REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION refuse_money_beside_dues();

create table ledger_entries (
  entry_no bigint not null,
  environment text not null,
  kind text not null,
  subject text not null,
  ordinal integer not null,
  phase text not null,
  held_as text,
  resolves bigint,
  at timestamp with time zone not null,
  movements ledger_movement[] not null,
  digest bytea not null,
  constraint ledger_entries_pkey PRIMARY KEY (entry_no),
  constraint ledger_entries_digest_check CHECK ((length(digest) = 8)),
  constraint ledger_entries_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint ledger_entries_held_as_check CHECK ((held_as = ANY (ARRAY['escrow'::text, 'pending_out'::text]))),
  constraint ledger_entries_hold CHECK (((phase = 'pending'::text) = (held_as IS NOT NULL))),
  constraint ledger_entries_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 40))),
  constraint ledger_entries_move_something CHECK (
CASE
    WHEN (resolves IS NULL) THEN (cardinality(movements) > 0)
    WHEN (phase = 'voided'::text) THEN (cardinality(movements) = 0)
    ELSE true
END) NOT VALID,
  constraint ledger_entries_ordinal_check CHECK ((ordinal >= 0)),
  constraint ledger_entries_phase_check CHECK ((phase = ANY (ARRAY['pending'::text, 'posted'::text, 'voided'::text]))),
  constraint ledger_entries_resolve CHECK (
CASE phase
    WHEN 'pending'::text THEN (resolves IS NULL)
    WHEN 'voided'::text THEN (resolves IS NOT NULL)
    ELSE true
END),
  constraint ledger_entries_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 64)))
);
CREATE INDEX ledger_entries_by_time ON public.ledger_entries USING brin (at) WITH (autosummarize='on');
CREATE UNIQUE INDEX ledger_entries_once ON public.ledger_entries USING btree (subject, kind, ordinal, environment) WHERE (resolves IS NULL);
CREATE UNIQUE INDEX ledger_entries_resolved_once ON public.ledger_entries USING btree (resolves) WHERE (resolves IS NOT NULL);

create table ledger_firm_entries (
  firm_id text not null,
  at timestamp with time zone not null,
  entry_no bigint not null,
  constraint ledger_firm_entries_pkey PRIMARY KEY (firm_id, at, entry_no)
);

create table ledger_proof (
  only_one boolean not null default true,
  proved_to bigint not null default 0,
  rounds jsonb not null default '{}'::jsonb,
  constraint ledger_proof_pkey PRIMARY KEY (only_one),
  constraint ledger_proof_only_one_check CHECK (only_one),
  constraint ledger_proof_proved_to_check CHECK ((proved_to >= 0))
);

create table ledger_proof_owners (
  environment text not null,
  scrip_no text not null,
  account text,
  pending bigint[] not null,
  constraint ledger_proof_owners_pkey PRIMARY KEY (environment, scrip_no),
  constraint ledger_proof_owners_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text])))
);

create table ledger_proof_slices (
  from_no bigint not null,
  to_no bigint not null,
  entries integer not null,
  digest bytea not null,
  constraint ledger_proof_slices_pkey PRIMARY KEY (from_no),
  constraint ledger_proof_slices_digest_check CHECK ((length(digest) = 32)),
  constraint ledger_proof_slices_entries_check CHECK ((entries >= 0)),
  constraint ledger_proof_slices_forward CHECK ((from_no < to_no))
);

create table ledger_proof_sums (
  account text not null,
  environment text not null,
  posted_paise numeric not null,
  escrow_paise numeric not null,
  pending_out_paise numeric not null,
  pending_in_paise numeric not null,
  constraint ledger_proof_sums_pkey PRIMARY KEY (account, environment),
  constraint ledger_proof_sums_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text])))
);

create table ledger_reports (
  report_id text not null,
  environment text not null,
  digest text not null,
  as_of timestamp with time zone not null,
  is_whole boolean not null,
  transferred integer not null,
  refused integer not null,
  pending integer not null,
  absent integer not null,
  missing integer not null,
  known integer not null,
  queued jsonb not null,
  imported_at timestamp with time zone not null,
  imported_by text not null,
  constraint ledger_reports_environment_digest_key UNIQUE (environment, digest),
  constraint ledger_reports_pkey PRIMARY KEY (report_id),
  constraint ledger_reports_absent_check CHECK ((absent >= 0)),
  constraint ledger_reports_check CHECK ((as_of <= imported_at)),
  constraint ledger_reports_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint ledger_reports_known_check CHECK ((known >= 0)),
  constraint ledger_reports_missing_check CHECK ((missing >= 0)),
  constraint ledger_reports_pending_check CHECK ((pending >= 0)),
  constraint ledger_reports_refused_check CHECK ((refused >= 0)),
  constraint ledger_reports_transferred_check CHECK ((transferred >= 0))
);
CREATE INDEX ledger_reports_listed ON public.ledger_reports USING btree (environment, report_id);

create table ledger_verdict (
  only_one boolean not null default true,
  claimed_at timestamp with time zone,
  checked_at timestamp with time zone,
  took_ms bigint,
  entries bigint,
  sound boolean,
  first_break jsonb,
  constraint ledger_verdict_pkey PRIMARY KEY (only_one),
  constraint ledger_verdict_break CHECK ((COALESCE(sound, true) = (first_break IS NULL))),
  constraint ledger_verdict_only_one_check CHECK (only_one),
  constraint ledger_verdict_whole CHECK ((num_nulls(checked_at, took_ms, entries, sound) = ANY (ARRAY[0, 4])))
);

create table leg_taxes (
  settlement_id text not null,
  ordinal integer not null,
  side text not null,
  kind text not null,
  environment text not null,
  firm_id text not null,
  taxed_at timestamp with time zone not null,
  fee_paise bigint not null,
  place_of_supply text,
  cgst_bps integer not null,
  sgst_bps integer not null,
  igst_bps integer not null,
  cgst_paise bigint not null,
  sgst_paise bigint not null,
  igst_paise bigint not null,
  tds_section text,
  tds_bps integer not null,
  tds_base_paise bigint not null,
  tds_paise bigint not null,
  invoice_no text,
  tds_act text,
  tds_code text,
  tds_certificate text,
  constraint leg_taxes_pkey PRIMARY KEY (settlement_id, ordinal, side, kind),
  constraint leg_taxes_certified FOREIGN KEY (environment, tds_certificate) REFERENCES tds_certificates(environment, certificate_no),
  constraint leg_taxes_environment_invoice_no_fkey FOREIGN KEY (environment, invoice_no) REFERENCES fee_invoices(environment, invoice_no),
  constraint leg_taxes_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id),
  constraint leg_taxes_cgst_bps_check CHECK ((cgst_bps >= 0)),
  constraint leg_taxes_cgst_paise_check CHECK ((cgst_paise >= 0)),
  constraint leg_taxes_check CHECK (((tds_paise >= 0) AND (tds_paise <= tds_base_paise))),
  constraint leg_taxes_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint leg_taxes_fee_paise_check CHECK ((fee_paise >= 0)),
  constraint leg_taxes_igst_bps_check CHECK ((igst_bps >= 0)),
  constraint leg_taxes_igst_paise_check CHECK ((igst_paise >= 0)),
  constraint leg_taxes_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'credit_note'::text]))),
  constraint leg_taxes_one_place CHECK (((igst_paise = 0) OR ((cgst_paise + sgst_paise) = 0))),
  constraint leg_taxes_ordinal_check CHECK ((ordinal >= 0)),
  constraint leg_taxes_place_of_supply_check CHECK ((place_of_supply ~ '^[0-9]{2}$'::text)),
  constraint leg_taxes_sgst_bps_check CHECK ((sgst_bps >= 0)),
  constraint leg_taxes_sgst_paise_check CHECK ((sgst_paise >= 0)),
  constraint leg_taxes_side_check CHECK ((side = ANY (ARRAY['sell'::text, 'buy'::text]))),
  constraint leg_taxes_supplied CHECK (((fee_paise = 0) OR (place_of_supply IS NOT NULL))),
  constraint leg_taxes_tds_base_paise_check CHECK ((tds_base_paise >= 0)),
  constraint leg_taxes_tds_bps_check CHECK ((tds_bps >= 0)),
  constraint leg_taxes_withheld CHECK ((((tds_paise = 0) OR (tds_section IS NOT NULL)) AND ((tds_paise = 0) OR (side = 'sell'::text))))
);
CREATE INDEX leg_taxes_uninvoiced ON public.leg_taxes USING btree (environment, settlement_id) WHERE ((invoice_no IS NULL) AND (fee_paise > 0));
CREATE INDEX leg_taxes_withheld_at ON public.leg_taxes USING btree (environment, taxed_at) WHERE (tds_base_paise > 0);

create table machines (
  machine_id text not null,
  name text not null,
  permissions text[] not null,
  networks text[] not null,
  day_limit_paise bigint not null,
  token_hash bytea not null,
  held_by text not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  last_used_at timestamp with time zone,
  refused_at timestamp with time zone,
  refused_from text,
  refusal text,
  told_at timestamp with time zone,
  version integer not null,
  constraint machines_name_key UNIQUE (name),
  constraint machines_token_hash_key UNIQUE (token_hash),
  constraint machines_pkey PRIMARY KEY (machine_id),
  constraint machines_check CHECK ((expires_at > created_at)),
  constraint machines_day_limit_paise_check CHECK (((day_limit_paise >= 0) AND (day_limit_paise <= '9007199254740991'::bigint))),
  constraint machines_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'::text)),
  constraint machines_networks_check CHECK ((cardinality(networks) > 0)),
  constraint machines_permissions_check CHECK ((cardinality(permissions) > 0)),
  constraint machines_refused_whole CHECK ((((refused_at IS NULL) = (refused_from IS NULL)) AND ((refused_at IS NULL) = (refusal IS NULL)))),
  constraint machines_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint machines_version_check CHECK ((version > 0))
);

create table market_depths (
  environment text not null,
  scheme text not null,
  bands jsonb not null,
  counted_in xid8 not null,
  counted_on date not null,
  constraint market_depths_pkey PRIMARY KEY (environment, scheme),
  constraint market_depths_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint market_depths_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text])))
);

create table market_logs (
  environment text not null,
  epoch text not null,
  seq bigint not null,
  constraint market_logs_environment_epoch_key UNIQUE (environment, epoch),
  constraint market_logs_pkey PRIMARY KEY (environment),
  constraint market_logs_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint market_logs_epoch_check CHECK ((epoch ~ '^[0-9a-f]{10}$'::text)),
  constraint market_logs_seq_check CHECK ((seq >= 0))
);

create table market_updates (
  environment text not null,
  epoch text not null,
  seq bigint not null,
  scheme text not null,
  kind text not null,
  body text not null,
  buyer_body text not null,
  created_at timestamp with time zone not null,
  constraint market_updates_pkey PRIMARY KEY (environment, epoch, seq),
  constraint market_updates_environment_epoch_fkey FOREIGN KEY (environment, epoch) REFERENCES market_logs(environment, epoch) ON DELETE CASCADE,
  constraint market_updates_kind_check CHECK ((kind = ANY (ARRAY['update'::text, 'status'::text]))),
  constraint market_updates_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint market_updates_seq_check CHECK ((seq > 0))
);
CREATE INDEX market_updates_by_scheme ON public.market_updates USING btree (environment, epoch, scheme, seq);

create table master_key_checks (
  only_one boolean not null default true,
  key_check bytea not null,
  next_key_check bytea,
  retired bytea[] not null default '{}'::bytea[],
  constraint master_key_checks_pkey PRIMARY KEY (only_one),
  constraint master_key_checks_key_check_check CHECK ((length(key_check) = 32)),
  constraint master_key_checks_next_key_check_check CHECK ((length(next_key_check) = 32)),
  constraint master_key_checks_only_one_check CHECK (only_one)
);

create table match_locks (
  environment text not null,
  seen_cards jsonb not null default '{}'::jsonb,
  seen_before xid8 not null default '0'::xid8,
  scheme text not null,
  constraint match_locks_pkey PRIMARY KEY (environment, scheme),
  constraint match_locks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint match_locks_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text])))
);

create table netting_runs (
  netting_ref text not null,
  environment text not null,
  desk_id text not null,
  group_id text not null,
  key_id text not null,
  proposals jsonb not null,
  created_at timestamp with time zone not null,
  valid_until timestamp with time zone not null,
  crossed_at timestamp with time zone,
  constraint netting_runs_pkey PRIMARY KEY (netting_ref),
  constraint netting_runs_check CHECK ((valid_until > created_at)),
  constraint netting_runs_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint netting_runs_netting_ref_check CHECK ((starts_with(netting_ref, 'net_'::text) AND (length(netting_ref) = 30))),
  constraint netting_runs_proposals_check CHECK ((jsonb_typeof(proposals) = 'array'::text))
);

create table notice_addresses (
  address_id text not null,
  environment text not null,
  desk_id text not null,
  operator_id text,
  email text not null,
  opted_out text[] not null default '{}'::text[],
  after_sequence bigint not null,
  removed_at timestamp with time zone,
  created_by text not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  firm_id text,
  constraint notice_addresses_once UNIQUE NULLS NOT DISTINCT (desk_id, operator_id, firm_id, email),
  constraint notice_addresses_pkey PRIMARY KEY (address_id),
  constraint notice_addresses_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint notice_addresses_firm_id_fkey FOREIGN KEY (firm_id) REFERENCES firms(firm_id),
  constraint notice_addresses_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(operator_id),
  constraint notice_addresses_address_id_check CHECK ((starts_with(address_id, 'nad_'::text) AND (length(address_id) = 30))),
  constraint notice_addresses_after_sequence_check CHECK ((after_sequence >= 0)),
  constraint notice_addresses_email_check CHECK (((email ~ '^[!-?A-~]+@[a-z0-9.-]+$'::text) AND (length(email) <= 254))),
  constraint notice_addresses_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint notice_addresses_of_one CHECK (((firm_id IS NULL) OR (operator_id IS NULL))),
  constraint notice_addresses_version_check CHECK ((version > 0))
);
CREATE INDEX notice_addresses_of_firm ON public.notice_addresses USING btree (firm_id) WHERE (firm_id IS NOT NULL);

create table notice_cursors (
  desk_id text not null,
  told_sequence bigint not null,
  constraint notice_cursors_pkey PRIMARY KEY (desk_id),
  constraint notice_cursors_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint notice_cursors_told_sequence_check CHECK ((told_sequence >= 0))
);

create table notices (
  notice_id text not null,
  address_id text not null,
  environment text not null,
  desk_id text not null,
  occasion text not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  events integer not null,
  subject text not null,
  body text not null,
  state text not null,
  reason text,
  answer text,
  attempts integer not null,
  lease integer not null,
  due_at timestamp with time zone not null,
  queued_at timestamp with time zone not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint notices_once UNIQUE (address_id, occasion, first_sequence),
  constraint notices_pkey PRIMARY KEY (notice_id),
  constraint notices_address_id_fkey FOREIGN KEY (address_id) REFERENCES notice_addresses(address_id),
  constraint notices_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint notices_events_check CHECK ((events > 0)),
  constraint notices_notice_id_check CHECK ((starts_with(notice_id, 'ntc_'::text) AND (length(notice_id) = 30))),
  constraint notices_reason CHECK (((state = ANY (ARRAY['dead'::text, 'dropped'::text])) <= (reason IS NOT NULL))),
  constraint notices_span CHECK ((first_sequence <= last_sequence)),
  constraint notices_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'dead'::text, 'dropped'::text]))),
  constraint notices_version_check CHECK ((version > 0))
);
CREATE INDEX notices_dead ON public.notices USING btree (notice_id) WHERE (state = 'dead'::text);
CREATE INDEX notices_done ON public.notices USING btree (updated_at) WHERE (state <> 'waiting'::text);
CREATE INDEX notices_due ON public.notices USING btree (environment, due_at) WHERE (state = 'waiting'::text);
CREATE INDEX notices_of_desk ON public.notices USING btree (desk_id, notice_id);
CREATE INDEX notices_waiting ON public.notices USING btree (environment, desk_id, due_at) WHERE (state = 'waiting'::text);

create table number_forms (
  environment text not null,
  version integer not null,
  prefix text,
  length integer,
  alphabet text,
  ifsc text,
  set_at timestamp with time zone not null,
  set_by text not null,
  approved_by text,
  constraint number_forms_pkey PRIMARY KEY (environment, version),
  constraint number_forms_alphabet_check CHECK ((alphabet = ANY (ARRAY['digits'::text, 'letters'::text]))),
  constraint number_forms_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint number_forms_ifsc_check CHECK ((ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'::text)),
  constraint number_forms_length_check CHECK (((length >= 10) AND (length <= 30))),
  constraint number_forms_prefix_check CHECK ((prefix ~ '^[A-Z0-9]{3,12}$'::text)),
  constraint number_forms_two_people CHECK (((approved_by IS NULL) OR (approved_by <> set_by))),
  constraint number_forms_version_check CHECK ((version > 0)),
  constraint number_forms_whole CHECK ((num_nulls(prefix, length, alphabet, ifsc) = ANY (ARRAY[0, 4])))
);

create table operator_attempts (
  name_key text not null,
  failures integer not null,
  next_at timestamp with time zone not null,
  network text not null,
  constraint operator_attempts_pkey PRIMARY KEY (name_key, network),
  constraint operator_attempts_failures_check CHECK ((failures >= 0))
);
CREATE INDEX operator_attempts_next ON public.operator_attempts USING btree (next_at);

create table operator_sessions (
  token_hash bytea not null,
  operator_id text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  proved_at timestamp with time zone,
  constraint operator_sessions_pkey PRIMARY KEY (token_hash),
  constraint operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(operator_id),
  constraint operator_sessions_check CHECK ((expires_at > created_at)),
  constraint operator_sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX operator_sessions_open ON public.operator_sessions USING btree (operator_id) WHERE (revoked_at IS NULL);

create table operators (
  operator_id text not null,
  name text not null,
  name_key text not null,
  role text not null,
  password_hash text,
  totp_sealed bytea,
  totp_step bigint not null default 0,
  enrol_hashes bytea[],
  enrol_until timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  version integer not null,
  recovery_hashes bytea[] not null default '{}'::bytea[],
  recovered_at timestamp with time zone,
  directory_issuer text,
  directory_subject text,
  constraint operators_directory_key UNIQUE (directory_issuer, directory_subject),
  constraint operators_name_key_key UNIQUE (name_key),
  constraint operators_pkey PRIMARY KEY (operator_id),
  constraint operators_check CHECK ((name_key = lower(replace(name, ' '::text, ''::text)))),
  constraint operators_directory_alone CHECK (((directory_subject IS NULL) OR ((password_hash IS NULL) AND (enrol_hashes IS NULL)))),
  constraint operators_directory_issuer_check CHECK ((directory_issuer <> ''::text)),
  constraint operators_directory_subject_check CHECK ((directory_subject <> ''::text)),
  constraint operators_directory_whole CHECK (((directory_issuer IS NULL) = (directory_subject IS NULL))),
  constraint operators_enrolled_whole CHECK (((password_hash IS NULL) = (totp_sealed IS NULL))),
  constraint operators_enrolling_whole CHECK (((enrol_hashes IS NULL) = (enrol_until IS NULL))),
  constraint operators_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$'::text)),
  constraint operators_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'dealer'::text, 'settlement'::text, 'admin'::text]))),
  constraint operators_version_check CHECK ((version > 0))
);

create table orders (
  order_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  key_id text not null,
  side text not null,
  scheme text not null,
  state text not null,
  scrip_no text,
  face_paise bigint,
  requirement_paise bigint,
  limit_bps integer,
  time_in_force text not null,
  expires_at timestamp with time zone,
  quote_ref text,
  client_ref text,
  metadata jsonb,
  scrip_nos text[] not null,
  resting_scrip_nos text[] not null,
  covered_paise bigint not null,
  dealt_paise bigint not null,
  price_bps integer,
  all_in_paise bigint not null,
  settlement_ids text[] not null,
  history jsonb not null,
  idempotency_key text,
  request jsonb,
  rested boolean not null,
  changed_in xid8 not null default pg_current_xact_id(),
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  bound_firm_id text,
  requirement_id text,
  constraint orders_pkey PRIMARY KEY (order_id),
  constraint orders_all_in_paise_check CHECK ((all_in_paise >= 0)),
  constraint orders_bound_to_its_firm CHECK ((bound_firm_id = firm_id)),
  constraint orders_cover_is_a_buy CHECK (((requirement_id IS NULL) OR (side = 'buy'::text))),
  constraint orders_covered_paise_check CHECK ((covered_paise >= 0)),
  constraint orders_dealt_paise_check CHECK ((dealt_paise >= 0)),
  constraint orders_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint orders_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint orders_good_till_date CHECK (((time_in_force = 'GTD'::text) = (expires_at IS NOT NULL))),
  constraint orders_key_with_request CHECK (((idempotency_key IS NULL) = (request IS NULL))),
  constraint orders_limit_bps_check CHECK (((limit_bps >= 1) AND (limit_bps <= 10000))),
  constraint orders_matched_has_deal CHECK (((state <> 'matched'::text) OR (dealt_paise > 0))),
  constraint orders_order_id_check CHECK ((starts_with(order_id, 'ord_'::text) AND (length(order_id) = 30))),
  constraint orders_price_bps_check CHECK (((price_bps >= 1) AND (price_bps <= 10000))),
  constraint orders_priced_when_dealt CHECK (((dealt_paise > 0) <= (price_bps IS NOT NULL))),
  constraint orders_requirement_id_check CHECK ((requirement_id ~ '^rqm_[0-9a-z]{26}$'::text)),
  constraint orders_requirement_paise_check CHECK (((requirement_paise >= 1) AND (requirement_paise <= '9007199254740991'::bigint))),
  constraint orders_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint orders_side_asks CHECK ((((side = 'sell'::text) = (face_paise IS NOT NULL)) AND ((side = 'buy'::text) = (requirement_paise IS NOT NULL)))),
  constraint orders_side_check CHECK ((side = ANY (ARRAY['sell'::text, 'buy'::text]))),
  constraint orders_state_check CHECK ((state = ANY (ARRAY['open'::text, 'matched'::text, 'cancelled'::text, 'expired'::text, 'failed'::text]))),
  constraint orders_time_in_force_check CHECK ((time_in_force = ANY (ARRAY['IOC'::text, 'GTC'::text, 'GTD'::text]))),
  constraint orders_version_check CHECK ((version > 0)),
  constraint orders_within_asked CHECK (((dealt_paise <= covered_paise) AND (covered_paise <= COALESCE(face_paise, requirement_paise))))
);
CREATE INDEX orders_by_client_ref ON public.orders USING btree (desk_id, client_ref) WHERE (client_ref IS NOT NULL);
CREATE INDEX orders_by_desk ON public.orders USING btree (desk_id, created_at, order_id);
CREATE INDEX orders_expiring ON public.orders USING btree (expires_at) WHERE ((state = 'open'::text) AND (expires_at IS NOT NULL));
CREATE INDEX orders_live ON public.orders USING btree (order_id) WHERE (environment = 'live'::text);
CREATE INDEX orders_of_client ON public.orders USING btree (firm_id, created_at, order_id) WHERE (firm_id <> desk_id);
CREATE INDEX orders_of_requirement ON public.orders USING btree (requirement_id, order_id) WHERE (requirement_id IS NOT NULL);
CREATE INDEX orders_open_of_firm ON public.orders USING btree (firm_id) WHERE (state = 'open'::text);
CREATE INDEX orders_rested ON public.orders USING btree (environment, changed_in) WHERE rested;
CREATE INDEX orders_resting_buys ON public.orders USING btree (environment, scheme, desk_id, price_bps DESC, created_at, order_id) WHERE ((state = 'open'::text) AND (side = 'buy'::text));
CREATE INDEX orders_resting_sells ON public.orders USING btree (environment, scheme, limit_bps, created_at, order_id) WHERE ((state = 'open'::text) AND (side = 'sell'::text));
CREATE INDEX orders_undone ON public.orders USING btree (environment, order_id) WHERE (state = ANY (ARRAY['cancelled'::text, 'expired'::text, 'failed'::text]));
CREATE UNIQUE INDEX orders_idempotency_key ON public.orders USING btree (desk_id, idempotency_key, bound_firm_id) NULLS NOT DISTINCT WHERE (idempotency_key IS NOT NULL);
CREATE UNIQUE INDEX orders_one_rests_for_requirement ON public.orders USING btree (requirement_id) WHERE ((requirement_id IS NOT NULL) AND (state = 'open'::text));

create table paying_accounts (
  firm_id text not null,
  account_sealed bytea not null,
  last4 text not null,
  ifsc text not null,
  name text not null,
  entered_by text not null,
  entered_at timestamp with time zone not null,
  confirmed_by text,
  confirmed_at timestamp with time zone,
  constraint paying_accounts_pkey PRIMARY KEY (firm_id),
  constraint paying_accounts_firm_id_fkey FOREIGN KEY (firm_id) REFERENCES firms(firm_id),
  constraint paying_accounts_confirmed CHECK (((confirmed_by IS NULL) = (confirmed_at IS NULL))),
  constraint paying_accounts_ifsc_check CHECK ((ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'::text)),
  constraint paying_accounts_last4_check CHECK ((last4 ~ '^[0-9]{4}$'::text))
);

create table payment_references (
  environment text not null,
  reference text not null,
  line_id text,
  constraint payment_references_pkey PRIMARY KEY (environment, reference),
  constraint payment_references_line_id_fkey FOREIGN KEY (line_id) REFERENCES bank_lines(line_id),
  constraint payment_references_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint payment_references_reference_check CHECK ((((length(reference) >= 12) AND (length(reference) <= 22)) AND (reference !~ '[^A-Z0-9]'::text)))
);
CREATE INDEX payment_references_of_line ON public.payment_references USING btree (line_id) WHERE (line_id IS NOT NULL);

create table payout_file_items (
  file_id text not null,
  ordinal integer not null,
  payout_id text not null,
  is_void boolean not null default false,
  constraint payout_file_items_pkey PRIMARY KEY (file_id, payout_id),
  constraint payout_file_items_file_id_ordinal_fkey FOREIGN KEY (file_id, ordinal) REFERENCES payout_file_lines(file_id, ordinal),
  constraint payout_file_items_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES payouts(payout_id)
);
CREATE UNIQUE INDEX payout_file_items_once ON public.payout_file_items USING btree (payout_id) WHERE (NOT is_void);

create table payout_file_lines (
  file_id text not null,
  ordinal integer not null,
  lead_id text not null,
  firm_id text not null,
  paise bigint not null,
  reference text not null,
  account_sealed bytea not null,
  ifsc text not null,
  account_name text not null,
  state text not null,
  constraint payout_file_lines_reference_key UNIQUE (reference),
  constraint payout_file_lines_pkey PRIMARY KEY (file_id, ordinal),
  constraint payout_file_lines_file_id_fkey FOREIGN KEY (file_id) REFERENCES payout_files(file_id),
  constraint payout_file_lines_lead_id_fkey FOREIGN KEY (lead_id) REFERENCES payouts(payout_id),
  constraint payout_file_lines_ordinal_check CHECK ((ordinal > 0)),
  constraint payout_file_lines_paise_check CHECK (((paise >= 1) AND (paise <= '9007199254740991'::bigint))),
  constraint payout_file_lines_reference_check CHECK ((((length(reference) >= 12) AND (length(reference) <= 22)) AND (reference !~ '[^A-Z0-9]'::text))),
  constraint payout_file_lines_state_check CHECK ((state = ANY (ARRAY['live'::text, 'paid'::text, 'returned'::text, 'voided'::text])))
);
CREATE UNIQUE INDEX payout_file_lines_once ON public.payout_file_lines USING btree (lead_id) WHERE (state <> 'voided'::text);

create table payout_files (
  file_id text not null,
  environment text not null,
  rail text not null,
  format jsonb not null,
  state text not null,
  line_count integer not null,
  paise bigint not null,
  sha256 bytea,
  made_by text not null,
  made_at timestamp with time zone not null,
  voided_by text,
  voided_at timestamp with time zone,
  void_reason text,
  version integer not null,
  constraint payout_files_pkey PRIMARY KEY (file_id),
  constraint payout_files_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint payout_files_file_id_check CHECK ((starts_with(file_id, 'fil_'::text) AND (length(file_id) = 30))),
  constraint payout_files_line_count_check CHECK ((line_count > 0)),
  constraint payout_files_paise_check CHECK (((paise >= 1) AND (paise <= '9007199254740991'::bigint))),
  constraint payout_files_rail_check CHECK ((rail = ANY (ARRAY['RTGS'::text, 'NEFT'::text, 'IMPS'::text]))),
  constraint payout_files_sha256_check CHECK ((octet_length(sha256) = 32)),
  constraint payout_files_state_check CHECK ((state = ANY (ARRAY['live'::text, 'answered'::text, 'voided'::text]))),
  constraint payout_files_version_check CHECK ((version > 0)),
  constraint payout_files_voided CHECK (((state <> 'voided'::text) OR (voided_by IS NOT NULL))),
  constraint payout_files_voided_whole CHECK ((((voided_by IS NULL) = (voided_at IS NULL)) AND ((voided_by IS NULL) = (void_reason IS NULL))))
);

create table payout_lines (
  payout_id text not null,
  order_id text not null,
  scrip_no text not null,
  paise bigint not null,
  origin_kind text not null default 'order'::text,
  constraint payout_lines_pkey PRIMARY KEY (payout_id, scrip_no),
  constraint payout_lines_order_is_of_its_kind CHECK (((origin_kind = 'cross'::text) = starts_with(order_id, 'crs_'::text))),
  constraint payout_lines_origin_kind_check CHECK ((origin_kind = ANY (ARRAY['order'::text, 'cross'::text]))),
  constraint payout_lines_paise_check CHECK ((paise > 0))
);
CREATE INDEX payout_lines_by_order ON public.payout_lines USING btree (order_id);

create table payouts (
  payout_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  settlement_id text,
  resend_of text,
  paise bigint not null,
  rail text not null,
  ifsc text,
  last4 text,
  state text not null,
  reason text,
  held_until timestamp with time zone,
  utr text,
  look_at timestamp with time zone,
  history jsonb not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  kind text not null default 'settlement'::text,
  remitted_with text,
  remitted_paise bigint,
  queued_as text default 
CASE
    WHEN (state = ANY (ARRAY['scheduled'::text, 'held'::text, 'returned'::text])) THEN state
    WHEN ((state = ANY (ARRAY['instructed'::text, 'sent'::text])) AND (remitted_with = payout_id)) THEN state
    ELSE NULL::text
END,
  lead_utr text default 
CASE
    WHEN (remitted_with = payout_id) THEN utr
    ELSE NULL::text
END,
  set_off_paise bigint not null default 0,
  account_id text,
  former_account text,
  constraint payouts_pkey PRIMARY KEY (payout_id),
  constraint payouts_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint payouts_resend_of_fkey FOREIGN KEY (resend_of) REFERENCES payouts(payout_id),
  constraint payouts_to_confirmed_account FOREIGN KEY (account_id, firm_id, ifsc, last4) REFERENCES confirmed_accounts(account_id, firm_id, ifsc, last4),
  constraint payouts_account_whole CHECK (((ifsc IS NULL) = (last4 IS NULL))),
  constraint payouts_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint payouts_former_account_check CHECK ((former_account = ANY (ARRAY['confirmed'::text, 'unconfirmed'::text]))),
  constraint payouts_from_settlement CHECK (((kind = 'settlement'::text) = (settlement_id IS NOT NULL))),
  constraint payouts_kind_check CHECK ((kind = ANY (ARRAY['settlement'::text, 'withdrawal'::text]))),
  constraint payouts_leave_to_an_account CHECK (((state = ANY (ARRAY['scheduled'::text, 'held'::text, 'returned'::text])) OR (former_account IS NOT NULL) OR (account_id IS NOT NULL) OR ((environment = 'sandbox'::text) AND (ifsc = 'SIMB0000001'::text)))),
  constraint payouts_paise_check CHECK (((paise >= 1) AND (paise <= '9007199254740991'::bigint))),
  constraint payouts_payout_id_check CHECK ((starts_with(payout_id, 'pay_'::text) AND (length(payout_id) = 30))),
  constraint payouts_rail_check CHECK ((rail = ANY (ARRAY['RTGS'::text, 'NEFT'::text, 'IMPS'::text]))),
  constraint payouts_remitted_once CHECK (((state = ANY (ARRAY['instructed'::text, 'sent'::text, 'paid'::text])) <= (remitted_with IS NOT NULL))),
  constraint payouts_remitted_whole CHECK ((((remitted_with IS NULL) = (remitted_paise IS NULL)) AND (remitted_paise >= paise))),
  constraint payouts_sent_somewhere CHECK (((state <> ALL (ARRAY['instructed'::text, 'sent'::text, 'paid'::text])) OR (ifsc IS NOT NULL))),
  constraint payouts_sent_with_utr CHECK (((state <> ALL (ARRAY['sent'::text, 'paid'::text])) OR (utr IS NOT NULL))),
  constraint payouts_set_off_paise_check CHECK ((set_off_paise >= 0)),
  constraint payouts_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'held'::text, 'instructed'::text, 'sent'::text, 'paid'::text, 'returned'::text]))),
  constraint payouts_unsent_looked_at CHECK (((state = ANY (ARRAY['scheduled'::text, 'held'::text])) = (look_at IS NOT NULL))),
  constraint payouts_unsent_not_remitted CHECK (((state <> ALL (ARRAY['scheduled'::text, 'held'::text])) OR (remitted_with IS NULL))),
  constraint payouts_utr_check CHECK ((((length(utr) >= 12) AND (length(utr) <= 22)) AND (utr !~ '[^A-Z0-9]'::text))),
  constraint payouts_version_check CHECK ((version > 0))
);
CREATE INDEX payouts_by_desk ON public.payouts USING btree (desk_id, created_at, payout_id);
CREATE INDEX payouts_by_settlement ON public.payouts USING btree (settlement_id);
CREATE INDEX payouts_live ON public.payouts USING btree (payout_id) WHERE (environment = 'live'::text);
CREATE INDEX payouts_of_firm ON public.payouts USING btree (firm_id, payout_id);
CREATE INDEX payouts_queued ON public.payouts USING btree (environment, queued_as, payout_id) WHERE (queued_as IS NOT NULL);
CREATE INDEX payouts_remitted ON public.payouts USING btree (remitted_with) WHERE (remitted_with <> payout_id);
CREATE INDEX payouts_to_former_account ON public.payouts USING btree (payout_id) WHERE (former_account = 'unconfirmed'::text);
CREATE INDEX payouts_unfinished ON public.payouts USING btree (firm_id) WHERE (queued_as = ANY (ARRAY['scheduled'::text, 'held'::text, 'instructed'::text, 'sent'::text]));
CREATE INDEX payouts_unsent ON public.payouts USING btree (look_at) WHERE (look_at IS NOT NULL);
CREATE UNIQUE INDEX payouts_resent_once ON public.payouts USING btree (resend_of) WHERE (resend_of IS NOT NULL);
CREATE UNIQUE INDEX payouts_utr ON public.payouts USING btree (environment, rail, lead_utr) WHERE (lead_utr IS NOT NULL);

create table plans (
  name text not null,
  per_minute integer not null,
  monthly_quota bigint,
  enforced boolean not null,
  updated_at timestamp with time zone not null default now(),
  child_keys_max integer not null default 25,
  unfunded_max_paise bigint not null default 1000000000,
  unfunded_desk_max_paise bigint not null default 2000000000,
  unpaid_days integer not null default 10,
  constraint plans_pkey PRIMARY KEY (name),
  constraint plans_child_keys_max_check CHECK ((child_keys_max >= 0)),
  constraint plans_enforced_with_quota CHECK ((enforced = (monthly_quota IS NOT NULL))),
  constraint plans_monthly_quota_check CHECK ((monthly_quota > 0)),
  constraint plans_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,31}$'::text)),
  constraint plans_per_minute_check CHECK ((per_minute > 0)),
  constraint plans_unfunded_desk_max_paise_check CHECK (((unfunded_desk_max_paise >= 0) AND (unfunded_desk_max_paise <= '9007199254740991'::bigint))),
  constraint plans_unfunded_max_paise_check CHECK (((unfunded_max_paise >= 0) AND (unfunded_max_paise <= '9007199254740991'::bigint))),
  constraint plans_unpaid_days_check CHECK (((unpaid_days >= 0) AND (unpaid_days <= 250)))
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

create table questions (
  question_id text not null,
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
  constraint questions_pkey PRIMARY KEY (question_id),
  constraint questions_answered_whole CHECK (((state = 'answered'::text) = ((answer IS NOT NULL) AND (as_of IS NOT NULL) AND (answered_by IS NOT NULL)))),
  constraint questions_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint questions_port_check CHECK ((port = ANY (ARRAY['registry'::text, 'bank'::text]))),
  constraint questions_question_id_check CHECK ((starts_with(question_id, 'inq_'::text) AND (length(question_id) = 30))),
  constraint questions_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'dropped'::text])))
);
CREATE INDEX questions_answered_about ON public.questions USING btree (split_part(subject_id, ':'::text, 1)) WHERE (state = 'answered'::text);
CREATE INDEX questions_by_reference ON public.questions USING btree (upper(reference)) WHERE (state = 'answered'::text);
CREATE INDEX questions_due ON public.questions USING btree (environment, kind, due_at) WHERE ((state = 'open'::text) AND (due_at < 'infinity'::timestamp with time zone));
CREATE INDEX questions_transfers_answered ON public.questions USING btree (subject_id) WHERE ((kind = 'credit_transfer'::text) AND (state = 'answered'::text));
CREATE UNIQUE INDEX questions_open_subject ON public.questions USING btree (kind, subject_id) WHERE (state = 'open'::text);

create table quotes (
  quote_ref text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  key_id text not null,
  side text not null,
  scheme text not null,
  scrip_no text,
  face_paise bigint,
  requirement_paise bigint,
  covered_paise bigint,
  scrip_nos text[],
  price_bps integer not null,
  all_in_paise bigint not null,
  card_version integer not null,
  created_at timestamp with time zone not null,
  valid_until timestamp with time zone not null,
  order_id text,
  credit_id text,
  expires_on date,
  face_min_paise bigint,
  days_left_min integer,
  offers jsonb,
  constraint quotes_pkey PRIMARY KEY (quote_ref),
  constraint quotes_all_in_paise_check CHECK ((all_in_paise > 0)),
  constraint quotes_buy CHECK (((side <> 'buy'::text) OR ((requirement_paise >= covered_paise) AND (covered_paise > all_in_paise) AND (cardinality(scrip_nos) > 0) AND (scrip_no IS NULL) AND (face_paise IS NULL) AND (credit_id IS NULL) AND (expires_on IS NULL) AND (face_min_paise IS NULL) AND (days_left_min IS NULL)))),
  constraint quotes_quote_ref_check CHECK ((starts_with(quote_ref, 'qte_'::text) AND (length(quote_ref) = 30))),
  constraint quotes_sell CHECK (((side <> 'sell'::text) OR ((face_paise >= all_in_paise) AND (requirement_paise IS NULL) AND (covered_paise IS NULL) AND (scrip_nos IS NULL) AND (offers IS NULL) AND ((credit_id IS NULL) = (expires_on IS NULL)) AND ((face_min_paise IS NULL) = (days_left_min IS NULL)) AND ((credit_id IS NULL) OR ((scrip_no IS NOT NULL) AND (face_min_paise IS NULL)))))),
  constraint quotes_side CHECK ((side = ANY (ARRAY['sell'::text, 'buy'::text])))
) partition by range (quote_ref);

create table rate_cards (
  environment text not null,
  scheme text not null,
  version integer not null,
  state text not null,
  mid_bps integer not null,
  half_spread_bps integer not null,
  size_bands jsonb not null,
  validity_bands jsonb not null,
  floor_bps integer not null,
  ceiling_bps integer not null,
  ask_ceiling_bps integer not null,
  face_max_paise bigint not null,
  house_limit_paise bigint not null,
  quote_window_s integer not null,
  margin_bps integer not null,
  fee_bps integer not null,
  published_at timestamp with time zone not null,
  published_by text not null,
  note text,
  desk_share_bps integer not null default 1000,
  rest_min_paise bigint not null default 100000,
  approved_by text,
  default_bps integer not null default 50,
  constraint rate_cards_pkey PRIMARY KEY (environment, scheme, version),
  constraint rate_cards_clamps CHECK (((1 <= floor_bps) AND (floor_bps < ceiling_bps) AND (ceiling_bps < ask_ceiling_bps) AND (ask_ceiling_bps < 10000))),
  constraint rate_cards_default_bps_check CHECK (((default_bps >= 0) AND (default_bps <= 1000))),
  constraint rate_cards_desk_share_bps_check CHECK (((desk_share_bps >= 1) AND (desk_share_bps <= 10000))),
  constraint rate_cards_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint rate_cards_face_max_paise_check CHECK (((face_max_paise >= 1) AND (face_max_paise <= '9007199254740991'::bigint))),
  constraint rate_cards_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 1000))),
  constraint rate_cards_half_spread_bps_check CHECK (((half_spread_bps >= 1) AND (half_spread_bps <= 5000))),
  constraint rate_cards_house_limit_paise_check CHECK (((house_limit_paise >= 1) AND (house_limit_paise <= '9007199254740991'::bigint))),
  constraint rate_cards_margin_bps_check CHECK (((margin_bps >= 0) AND (margin_bps <= 5000))),
  constraint rate_cards_mid_bps_check CHECK (((mid_bps >= 1) AND (mid_bps <= 10000))),
  constraint rate_cards_quote_window_s_check CHECK (((quote_window_s >= 1) AND (quote_window_s <= 86400))),
  constraint rate_cards_rest_min_paise_check CHECK (((rest_min_paise >= 1) AND (rest_min_paise <= '9007199254740991'::bigint))),
  constraint rate_cards_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint rate_cards_state_check CHECK ((state = ANY (ARRAY['open'::text, 'halted'::text]))),
  constraint rate_cards_two_people CHECK ((lower(replace(approved_by, ' '::text, ''::text)) <> lower(replace(published_by, ' '::text, ''::text)))),
  constraint rate_cards_version_check CHECK ((version > 0))
);

create table rate_index_days (
  scheme text not null,
  day date not null,
  basis text not null,
  index_bps integer,
  deals_on date,
  deal_count integer,
  seller_count integer,
  face_paise bigint,
  fixed_at timestamp with time zone not null,
  constraint rate_index_days_pkey PRIMARY KEY (scheme, day),
  constraint rate_index_days_basis CHECK (
CASE basis
    WHEN 'deals'::text THEN (deals_on = day)
    WHEN 'carried'::text THEN (deals_on < day)
    ELSE true
END),
  constraint rate_index_days_basis_check CHECK ((basis = ANY (ARRAY['deals'::text, 'carried'::text, 'none'::text]))),
  constraint rate_index_days_counts CHECK ((((basis = 'deals'::text) = (deal_count IS NOT NULL)) AND ((basis = 'deals'::text) = (seller_count IS NOT NULL)) AND ((basis = 'deals'::text) = (face_paise IS NOT NULL)))),
  constraint rate_index_days_deal_count_check CHECK ((deal_count > 0)),
  constraint rate_index_days_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint rate_index_days_figure CHECK ((((basis = 'none'::text) = (index_bps IS NULL)) AND ((basis = 'none'::text) = (deals_on IS NULL)))),
  constraint rate_index_days_index_bps_check CHECK (((index_bps >= 1) AND (index_bps <= 10000))),
  constraint rate_index_days_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint rate_index_days_seller_count_check CHECK ((seller_count >= 3))
);

create table request_blocks (
  environment text not null,
  desk_id text not null,
  second timestamp with time zone not null,
  block_id text not null,
  summary jsonb not null,
  echoed text[],
  packed text not null,
  constraint request_blocks_pkey PRIMARY KEY (desk_id, second, block_id),
  constraint request_blocks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint request_blocks_second_check CHECK ((second = date_trunc('second'::text, second))),
  constraint request_blocks_summary_check CHECK ((jsonb_typeof(summary) = 'array'::text))
) partition by range (second);
CREATE INDEX request_blocks_echoed ON ONLY public.request_blocks USING gin (echoed) WHERE (echoed IS NOT NULL);
CREATE INDEX request_blocks_newest ON ONLY public.request_blocks USING btree (second, block_id);

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
  uncovered_told_for date,
  uncovered_checked_on date,
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
CREATE INDEX requirements_by_desk ON public.requirements USING btree (desk_id, requirement_id);
CREATE INDEX requirements_by_firm ON public.requirements USING btree (firm_id, created_at DESC, requirement_id DESC);
CREATE INDEX requirements_untold ON public.requirements USING btree (due_on) WHERE (uncovered_told_for IS DISTINCT FROM due_on);

create table sandbox_scenarios (
  desk_id text not null,
  scenario text not null,
  set_at timestamp with time zone not null,
  constraint sandbox_scenarios_pkey PRIMARY KEY (desk_id, scenario),
  constraint sandbox_scenarios_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id)
);

create table schedules (
  name text not null,
  times text not null,
  next_at timestamp with time zone,
  last_at timestamp with time zone,
  outcome text,
  said text,
  constraint schedules_pkey PRIMARY KEY (name),
  constraint schedules_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'nothing'::text, 'failed'::text]))),
  constraint schedules_run_whole CHECK ((((last_at IS NULL) = (outcome IS NULL)) AND ((last_at IS NULL) = (said IS NULL))))
);

create table schema_migrations (
  file text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  version text,
  constraint schema_migrations_pkey PRIMARY KEY (file),
  constraint schema_migrations_version_check CHECK ((version <> ''::text))
);

create table second_key_rules (
  desk_id text not null,
  environment text not null,
  bank_changes boolean not null,
  withdrawals_from_paise bigint,
  version integer not null,
  updated_at timestamp with time zone not null,
  constraint second_key_rules_pkey PRIMARY KEY (desk_id),
  constraint second_key_rules_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint second_key_rules_version_check CHECK ((version > 0)),
  constraint second_key_rules_withdrawals_from_paise_check CHECK (((withdrawals_from_paise >= 1) AND (withdrawals_from_paise <= '9007199254740991'::bigint)))
);

create table settlement_legs (
  settlement_id text not null,
  scrip_no text not null,
  environment text not null,
  scheme text not null,
  dealt_at timestamp with time zone not null,
  seller_desk_id text not null,
  seller_firm_id text not null,
  seller_order_id text,
  face_paise bigint not null,
  seller_bps integer not null,
  buyer_bps integer not null,
  seller_paise bigint not null,
  buyer_paise bigint not null,
  ordinal integer not null,
  state text not null,
  reason text,
  buyer_fee_paise bigint not null default 0,
  buyer_gst_paise bigint not null default 0,
  seller_fee_paise bigint not null default 0,
  seller_gst_paise bigint not null default 0,
  private boolean not null default false,
  answered_at timestamp with time zone,
  initiate_by text not null default 'house'::text,
  scenario text,
  initiate_due_at timestamp with time zone,
  initiated_at timestamp with time zone,
  initiate_reference text,
  accept_due_at timestamp with time zone,
  accepted_at timestamp with time zone,
  accept_reference text,
  missing_at timestamp with time zone,
  missing_reference text,
  missing_note text,
  customs_due_at timestamp with time zone,
  late_at timestamp with time zone,
  failed_step text,
  awaited boolean not null default (state = ANY (ARRAY['pending'::text, 'to_initiate'::text, 'to_accept'::text, 'missing'::text, 'transferring'::text])),
  pending_from timestamp with time zone,
  pending_until timestamp with time zone,
  default_by text,
  default_paise bigint not null default 0,
  default_paid_at timestamp with time zone,
  constraint settlement_legs_pkey PRIMARY KEY (settlement_id, scrip_no),
  constraint settlement_legs_answered_once CHECK (((state = ANY (ARRAY['delivered'::text, 'failed'::text])) = (answered_at IS NOT NULL))),
  constraint settlement_legs_buyer_bps_check CHECK (((buyer_bps >= 1) AND (buyer_bps <= 10000))),
  constraint settlement_legs_buyer_fee_paise_check CHECK ((buyer_fee_paise >= 0)),
  constraint settlement_legs_buyer_gst_paise_check CHECK ((buyer_gst_paise >= 0)),
  constraint settlement_legs_buyer_paise_check CHECK ((buyer_paise >= 0)),
  constraint settlement_legs_buyer_pays_seller CHECK ((((buyer_paise >= seller_paise) AND (buyer_bps >= seller_bps)) OR (NOT awaited))) NOT VALID,
  constraint settlement_legs_claims_are_short CHECK ((((length(initiate_reference) >= 1) AND (length(initiate_reference) <= 200)) AND ((length(accept_reference) >= 1) AND (length(accept_reference) <= 200)) AND ((length(missing_reference) >= 1) AND (length(missing_reference) <= 200)) AND ((length(missing_note) >= 1) AND (length(missing_note) <= 500)))),
  constraint settlement_legs_default_by_check CHECK ((default_by = ANY (ARRAY['sell'::text, 'buy'::text]))),
  constraint settlement_legs_default_is_of_a_party CHECK (((default_by IS NULL) OR ((state = ANY (ARRAY['delivered'::text, 'failed'::text])) AND ((default_by = 'buy'::text) OR (initiate_by = 'firm'::text))))),
  constraint settlement_legs_default_is_proved CHECK (((default_by IS DISTINCT FROM 'buy'::text) OR (environment = 'sandbox'::text) OR COALESCE((pending_until > accept_due_at), false))),
  constraint settlement_legs_default_is_whole CHECK ((((default_by IS NULL) = (default_paise = 0)) AND ((default_by IS NOT NULL) OR (default_paid_at IS NULL)))),
  constraint settlement_legs_default_paise_check CHECK (((default_paise >= 0) AND (default_paise <= '9007199254740991'::bigint))),
  constraint settlement_legs_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint settlement_legs_failed_step_check CHECK (((failed_step IS NULL) OR ((state = 'failed'::text) AND (failed_step = ANY (ARRAY['pay'::text, 'initiate'::text, 'accept'::text, 'customs'::text]))))),
  constraint settlement_legs_fees_within CHECK ((((buyer_fee_paise + buyer_gst_paise) <= buyer_paise) AND ((seller_fee_paise + seller_gst_paise) <= face_paise))),
  constraint settlement_legs_initiate_by_check CHECK ((initiate_by = ANY (ARRAY['firm'::text, 'house'::text]))),
  constraint settlement_legs_ordinal_check CHECK ((ordinal >= 0)),
  constraint settlement_legs_seen_in_order CHECK ((((pending_from IS NULL) = (pending_until IS NULL)) AND (pending_until >= pending_from))),
  constraint settlement_legs_seller_bps_check CHECK (((seller_bps >= 1) AND (seller_bps <= 10000))),
  constraint settlement_legs_seller_fee_paise_check CHECK ((seller_fee_paise >= 0)),
  constraint settlement_legs_seller_gst_paise_check CHECK ((seller_gst_paise >= 0)),
  constraint settlement_legs_seller_paise_check CHECK ((seller_paise >= 0)),
  constraint settlement_legs_simulated_in_sandbox CHECK (((scenario IS NULL) OR (environment = 'sandbox'::text))),
  constraint settlement_legs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'to_initiate'::text, 'to_accept'::text, 'missing'::text, 'transferring'::text, 'delivered'::text, 'failed'::text]))),
  constraint settlement_legs_steps_have_deadlines CHECK (
CASE state
    WHEN 'to_initiate'::text THEN (initiate_due_at IS NOT NULL)
    WHEN 'to_accept'::text THEN ((initiated_at IS NOT NULL) AND (accept_due_at IS NOT NULL))
    WHEN 'missing'::text THEN ((missing_at IS NOT NULL) AND (initiate_due_at IS NOT NULL))
    WHEN 'transferring'::text THEN ((accepted_at IS NOT NULL) AND (customs_due_at IS NOT NULL))
    ELSE true
END)
);
CREATE INDEX settlement_legs_by_acceptance ON public.settlement_legs USING btree (upper(accept_reference)) WHERE (accept_reference IS NOT NULL);
CREATE INDEX settlement_legs_by_credit ON public.settlement_legs USING btree (environment, scrip_no);
CREATE INDEX settlement_legs_by_initiation ON public.settlement_legs USING btree (upper(initiate_reference)) WHERE (initiate_reference IS NOT NULL);
CREATE INDEX settlement_legs_by_order ON public.settlement_legs USING btree (seller_order_id) WHERE (seller_order_id IS NOT NULL);
CREATE INDEX settlement_legs_by_seller ON public.settlement_legs USING btree (seller_desk_id, dealt_at, settlement_id, seller_firm_id) WHERE (seller_firm_id <> ALL (ARRAY['frm_00000000000000000000000001'::text, 'frm_00000000000000000000000002'::text]));
CREATE INDEX settlement_legs_missing ON public.settlement_legs USING btree (environment, settlement_id) WHERE (missing_at IS NOT NULL);
CREATE INDEX settlement_legs_of_seller_open ON public.settlement_legs USING btree (seller_desk_id) WHERE awaited;
CREATE INDEX settlement_legs_tape ON public.settlement_legs USING btree (environment, scheme, dealt_at) WHERE (NOT private);
CREATE INDEX settlement_legs_uncollected ON public.settlement_legs USING btree (environment, settlement_id) WHERE ((default_by IS NOT NULL) AND (default_paid_at IS NULL));
CREATE INDEX settlement_legs_underpaid ON public.settlement_legs USING btree (dealt_at, settlement_id, ordinal) WHERE ((buyer_paise < seller_paise) OR (buyer_bps < seller_bps));
CREATE TRIGGER answered_by_customs BEFORE UPDATE OF state ON public.settlement_legs FOR EACH ROW WHEN (((new.environment = 'live'::text) AND (new.state = ANY (ARRAY['delivered'::text, 'failed'::text])) AND (((new.state = 'delivered'::text) AND (old.state <> 'delivered'::text)) OR (old.state = ANY (ARRAY['to_accept'::text, 'missing'::text, 'transferring'::text]))))) EXECUTE FUNCTION refuse_unanswered_transfer();

create table settlements (
  settlement_id text not null,
  environment text not null,
  scheme text not null,
  origin text not null,
  buyer_desk_id text not null,
  buyer_firm_id text not null,
  buyer_order_id text,
  state text not null,
  reason text,
  face_paise bigint not null,
  buyer_paise bigint not null,
  due_at timestamp with time zone,
  money_apart boolean not null default false,
  history jsonb not null default '[]'::jsonb,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  origin_kind text not null default 'order'::text,
  begun boolean not null default false,
  paid_at timestamp with time zone,
  pay_due_at timestamp with time zone,
  pay_reference text,
  pay_late_at timestamp with time zone,
  ends_at timestamp with time zone,
  next_late_at timestamp with time zone,
  default_bps integer not null default 0,
  constraint settlements_pkey PRIMARY KEY (settlement_id),
  constraint settlements_buyer_paise_check CHECK (((buyer_paise >= 0) AND (buyer_paise <= '9007199254740991'::bigint))),
  constraint settlements_default_bps_check CHECK (((default_bps >= 0) AND (default_bps <= 1000))),
  constraint settlements_end_before_they_ended CHECK (((ends_at IS NULL) OR (due_at IS NOT NULL))),
  constraint settlements_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint settlements_face_paise_check CHECK (((face_paise >= 1) AND (face_paise <= '9007199254740991'::bigint))),
  constraint settlements_open_have_deadline CHECK (((state = ANY (ARRAY['pending'::text, 'funded'::text, 'transfer_initiated'::text])) = (due_at IS NOT NULL))),
  constraint settlements_open_transfer_has_no_end CHECK (((environment = 'sandbox'::text) OR (state <> 'transfer_initiated'::text) OR (ends_at IS NULL))),
  constraint settlements_origin_is_of_its_kind CHECK (((origin_kind = 'cross'::text) = starts_with(origin, 'crs_'::text))),
  constraint settlements_origin_kind_check CHECK ((origin_kind = ANY (ARRAY['order'::text, 'cross'::text]))),
  constraint settlements_pay_reference_check CHECK (((length(pay_reference) >= 1) AND (length(pay_reference) <= 200))),
  constraint settlements_scheme_check CHECK ((scheme = ANY (ARRAY['RODTEP'::text, 'ROSCTL'::text]))),
  constraint settlements_settlement_id_check CHECK ((starts_with(settlement_id, 'stl_'::text) AND (length(settlement_id) = 30))),
  constraint settlements_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'funded'::text, 'transfer_initiated'::text, 'transfer_confirmed'::text, 'settled'::text, 'failed'::text, 'reversed'::text]))),
  constraint settlements_version_check CHECK ((version > 0))
);
CREATE INDEX settlements_by_buyer ON public.settlements USING btree (buyer_desk_id, created_at, settlement_id, buyer_firm_id) WHERE (buyer_firm_id <> ALL (ARRAY['frm_00000000000000000000000001'::text, 'frm_00000000000000000000000002'::text]));
CREATE INDEX settlements_by_order ON public.settlements USING btree (buyer_order_id) WHERE (buyer_order_id IS NOT NULL);
CREATE INDEX settlements_by_payment ON public.settlements USING btree (upper(pay_reference)) WHERE (pay_reference IS NOT NULL);
CREATE INDEX settlements_coming ON public.settlements USING btree (buyer_firm_id) WHERE ((due_at IS NOT NULL) AND (buyer_firm_id <> ALL (ARRAY['frm_00000000000000000000000001'::text, 'frm_00000000000000000000000002'::text])));
CREATE INDEX settlements_ending ON public.settlements USING btree (environment, state, ends_at) WHERE (ends_at IS NOT NULL);
CREATE INDEX settlements_late ON public.settlements USING btree (environment, state, next_late_at) WHERE (next_late_at IS NOT NULL);
CREATE INDEX settlements_live ON public.settlements USING btree (settlement_id) WHERE (environment = 'live'::text);
CREATE INDEX settlements_of_buyer_open ON public.settlements USING btree (buyer_desk_id) WHERE (due_at IS NOT NULL);
CREATE INDEX settlements_open ON public.settlements USING btree (environment, state, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX settlements_to_begin ON public.settlements USING btree (environment, due_at) WHERE ((state = 'funded'::text) AND (NOT begun));
CREATE INDEX settlements_undone ON public.settlements USING btree (environment, settlement_id) WHERE (state = ANY (ARRAY['failed'::text, 'reversed'::text]));
CREATE INDEX settlements_unfunded ON public.settlements USING btree (buyer_firm_id) WHERE (state = 'pending'::text);
CREATE INDEX settlements_unfunded_of_desk ON public.settlements USING btree (buyer_desk_id) WHERE (state = 'pending'::text);

create table statement_forms (
  name text not null,
  form jsonb not null,
  saved_by text not null,
  saved_at timestamp with time zone not null,
  version integer not null,
  constraint statement_forms_pkey PRIMARY KEY (name),
  constraint statement_forms_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint statement_forms_version_check CHECK ((version > 0))
);

create table statement_pages (
  firm_id text not null,
  period text not null,
  seen_entry_no bigint not null,
  page_no integer not null,
  body text not null,
  constraint statement_pages_pkey PRIMARY KEY (firm_id, period, seen_entry_no, page_no),
  constraint statement_pages_firm_id_fkey FOREIGN KEY (firm_id) REFERENCES firms(firm_id),
  constraint statement_pages_page_no_check CHECK ((page_no >= 0)),
  constraint statement_pages_period_check CHECK ((period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'::text)),
  constraint statement_pages_seen_entry_no_check CHECK ((seen_entry_no >= 0))
);
CREATE TRIGGER statement_pages_stay BEFORE DELETE ON public.statement_pages FOR EACH ROW EXECUTE FUNCTION keep_statement_pages();

create table statements (
  firm_id text not null,
  period text not null,
  environment text not null,
  opening_paise numeric not null,
  closing_paise numeric not null,
  commission_paise numeric not null,
  dues_paise numeric not null,
  seen_entry_no bigint not null,
  frozen_at timestamp with time zone not null,
  body text not null,
  digest bytea not null,
  constraint statements_pkey PRIMARY KEY (firm_id, period),
  constraint statements_firm_id_fkey FOREIGN KEY (firm_id) REFERENCES firms(firm_id),
  constraint statements_check CHECK (((commission_paise >= (0)::numeric) AND (commission_paise <= closing_paise))),
  constraint statements_closing_paise_check CHECK ((closing_paise >= (0)::numeric)),
  constraint statements_digest_check CHECK ((length(digest) = 32)),
  constraint statements_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint statements_opening_paise_check CHECK ((opening_paise >= (0)::numeric)),
  constraint statements_period_check CHECK ((period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'::text)),
  constraint statements_seen_entry_no_check CHECK ((seen_entry_no >= 0))
);

create table supplies (
  settlement_id text not null,
  ordinal integer not null,
  kind text not null,
  environment text not null,
  financial_year text not null,
  supplied_on date not null,
  firm_id text not null,
  value_paise bigint not null,
  bill_no text,
  constraint supplies_pkey PRIMARY KEY (settlement_id, ordinal, kind),
  constraint supplies_environment_bill_no_fkey FOREIGN KEY (environment, bill_no) REFERENCES bills_of_supply(environment, bill_no),
  constraint supplies_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id),
  constraint supplies_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint supplies_financial_year_check CHECK ((financial_year ~ '^[0-9]{4}-[0-9]{2}$'::text)),
  constraint supplies_kind_check CHECK ((kind = ANY (ARRAY['bill_of_supply'::text, 'supply_return'::text]))),
  constraint supplies_ordinal_check CHECK ((ordinal >= 0)),
  constraint supplies_value_paise_check CHECK ((value_paise >= 0))
);
CREATE INDEX supplies_unbilled ON public.supplies USING btree (environment, settlement_id) WHERE (bill_no IS NULL);

create table tax_rates (
  environment text not null,
  line text not null,
  effective_from date not null,
  is_on boolean not null,
  cgst_bps integer,
  sgst_bps integer,
  igst_bps integer,
  house_state text,
  section text,
  rate_bps integer,
  threshold_paise bigint,
  with_crosses boolean,
  set_at timestamp with time zone not null,
  hsn text,
  exemption text,
  confirmed_by text,
  sac text,
  gst_bps integer,
  act text,
  payment_code text,
  rtgs_from_paise bigint,
  imps_to_paise bigint,
  citation text,
  constraint tax_rates_pkey PRIMARY KEY (environment, line, effective_from),
  constraint tax_rates_act CHECK (((section IS NOT NULL) OR ((act IS NULL) AND (payment_code IS NULL)))),
  constraint tax_rates_act_check CHECK ((act ~ '^[0-9]{4}$'::text)),
  constraint tax_rates_cgst_bps_check CHECK (((cgst_bps >= 0) AND (cgst_bps <= 5000))),
  constraint tax_rates_citation_check CHECK (((length(citation) >= 3) AND (length(citation) <= 300))),
  constraint tax_rates_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint tax_rates_exemption_check CHECK (((length(exemption) >= 1) AND (length(exemption) <= 300))),
  constraint tax_rates_fee CHECK (((((line = 'fee'::text) AND is_on) = (sac IS NOT NULL)) AND ((sac IS NULL) = (gst_bps IS NULL)))),
  constraint tax_rates_gst CHECK (((((line = 'gst'::text) AND is_on) = ((cgst_bps IS NOT NULL) AND (sgst_bps IS NOT NULL) AND (house_state IS NOT NULL))) AND ((igst_bps IS NULL) OR (igst_bps = (cgst_bps + sgst_bps))) AND ((igst_bps IS NULL) = (cgst_bps IS NULL)))),
  constraint tax_rates_gst_bps_check CHECK (((gst_bps >= 0) AND (gst_bps <= 5000))),
  constraint tax_rates_house_state_check CHECK ((house_state ~ '^[0-9]{2}$'::text)),
  constraint tax_rates_hsn_check CHECK ((hsn ~ '^[0-9]{4,8}$'::text)),
  constraint tax_rates_igst_bps_check CHECK (((igst_bps >= 0) AND (igst_bps <= 10000))),
  constraint tax_rates_imps_to_paise_check CHECK (((imps_to_paise >= 1) AND (imps_to_paise <= '9007199254740991'::bigint))),
  constraint tax_rates_line_check CHECK ((line = ANY (ARRAY['gst'::text, 'tds'::text, 'scrip'::text, 'fee'::text, 'rails'::text]))),
  constraint tax_rates_payment_code_check CHECK ((payment_code ~ '^[0-9A-Z]{1,8}$'::text)),
  constraint tax_rates_rails CHECK ((((line = 'rails'::text) = (rtgs_from_paise IS NOT NULL)) AND ((line <> 'rails'::text) OR is_on) AND ((rtgs_from_paise IS NULL) = (imps_to_paise IS NULL)) AND ((imps_to_paise IS NULL) = (citation IS NULL)))),
  constraint tax_rates_rate_bps_check CHECK (((rate_bps >= 1) AND (rate_bps <= 3000))),
  constraint tax_rates_rtgs_from_paise_check CHECK (((rtgs_from_paise >= 1) AND (rtgs_from_paise <= '9007199254740991'::bigint))),
  constraint tax_rates_sac_check CHECK ((sac ~ '^[0-9]{4,8}$'::text)),
  constraint tax_rates_scrip CHECK (((((line = 'scrip'::text) AND is_on) = (hsn IS NOT NULL)) AND ((hsn IS NULL) = (exemption IS NULL)))),
  constraint tax_rates_section_check CHECK (((length(section) >= 3) AND (length(section) <= 60))),
  constraint tax_rates_sgst_bps_check CHECK (((sgst_bps >= 0) AND (sgst_bps <= 5000))),
  constraint tax_rates_tds CHECK (((((line = 'tds'::text) AND is_on) = (rate_bps IS NOT NULL)) AND ((rate_bps IS NULL) = (section IS NULL)) AND ((rate_bps IS NULL) = (threshold_paise IS NULL)) AND ((rate_bps IS NULL) = (with_crosses IS NULL)))),
  constraint tax_rates_threshold_paise_check CHECK (((threshold_paise >= 0) AND (threshold_paise <= '9007199254740991'::bigint)))
);

create table tds_certificates (
  environment text not null,
  certificate_no text not null,
  pan text not null,
  rate_bps integer not null,
  limit_paise bigint not null,
  used_paise bigint not null default 0,
  effective_from date not null,
  effective_until date not null,
  set_by text not null,
  set_at timestamp with time zone not null,
  constraint tds_certificates_pkey PRIMARY KEY (environment, certificate_no),
  constraint tds_certificates_certificate_no_check CHECK ((certificate_no ~ '^[0-9A-Z/-]{4,20}$'::text)),
  constraint tds_certificates_check CHECK (((used_paise >= 0) AND (used_paise <= limit_paise))),
  constraint tds_certificates_end CHECK ((effective_until >= effective_from)),
  constraint tds_certificates_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint tds_certificates_limit_paise_check CHECK (((limit_paise >= 1) AND (limit_paise <= '9007199254740991'::bigint))),
  constraint tds_certificates_pan_check CHECK ((length(pan) = 10)),
  constraint tds_certificates_rate_bps_check CHECK (((rate_bps >= 0) AND (rate_bps <= 3000)))
);
CREATE INDEX tds_certificates_of_payee ON public.tds_certificates USING btree (environment, pan);

create table tds_sums (
  environment text not null,
  financial_year text not null,
  payee bytea not null,
  sold_paise numeric not null,
  taxed_paise numeric not null,
  withheld_paise numeric not null,
  constraint tds_sums_pkey PRIMARY KEY (environment, financial_year, payee),
  constraint tds_sums_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint tds_sums_financial_year_check CHECK ((financial_year ~ '^[0-9]{4}-[0-9]{2}$'::text)),
  constraint tds_sums_payee_check CHECK ((length(payee) = 32)),
  constraint tds_sums_sold_paise_check CHECK ((sold_paise >= (0)::numeric)),
  constraint tds_sums_taxed_paise_check CHECK ((taxed_paise >= (0)::numeric)),
  constraint tds_sums_withheld_paise_check CHECK ((withheld_paise >= (0)::numeric))
);

create table unpaid_deals (
  settlement_id text not null,
  environment text not null,
  desk_id text not null,
  firm_id text not null,
  pan text,
  buyer_paise bigint not null,
  failed_at timestamp with time zone not null,
  until timestamp with time zone not null,
  lifted_at timestamp with time zone,
  lifted_by text,
  lift_reason text,
  failed_step text not null default 'pay'::text,
  constraint unpaid_deals_pkey PRIMARY KEY (settlement_id, firm_id),
  constraint unpaid_deals_buyer_paise_check CHECK ((buyer_paise > 0)),
  constraint unpaid_deals_check CHECK ((until > failed_at)),
  constraint unpaid_deals_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint unpaid_deals_failed_step_check CHECK ((failed_step = ANY (ARRAY['pay'::text, 'initiate'::text, 'accept'::text]))),
  constraint unpaid_deals_lifted CHECK ((((lifted_at IS NULL) = (lifted_by IS NULL)) AND ((lifted_at IS NULL) = (lift_reason IS NULL))))
);
CREATE INDEX unpaid_deals_listed ON public.unpaid_deals USING btree (environment, settlement_id);
CREATE INDEX unpaid_deals_of_firm ON public.unpaid_deals USING btree (firm_id) WHERE (lifted_at IS NULL);
CREATE INDEX unpaid_deals_of_pan ON public.unpaid_deals USING btree (pan) WHERE (lifted_at IS NULL);

create table usage_days (
  key_id text not null,
  day date not null,
  route text not null,
  calls bigint not null,
  constraint usage_days_pkey PRIMARY KEY (key_id, day, route),
  constraint usage_days_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(key_id),
  constraint usage_days_calls_check CHECK ((calls > 0))
) partition by range (day);

create table usage_months (
  key_id text not null,
  month text not null,
  calls bigint not null,
  used_at timestamp with time zone,
  constraint usage_months_pkey PRIMARY KEY (key_id, month),
  constraint usage_months_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(key_id),
  constraint usage_months_calls_check CHECK ((calls >= 0)),
  constraint usage_months_month_check CHECK ((month ~ '^[0-9]{4}-[0-9]{2}$'::text))
);

create table usage_notices (
  key_id text not null,
  month text not null,
  percent integer not null,
  told_at timestamp with time zone not null,
  constraint usage_notices_pkey PRIMARY KEY (key_id, month, percent),
  constraint usage_notices_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(key_id),
  constraint usage_notices_month_check CHECK ((month ~ '^[0-9]{4}-[0-9]{2}$'::text)),
  constraint usage_notices_percent_check CHECK (((percent >= 1) AND (percent <= 100)))
);

create table webhook_queues (
  webhook_id text not null,
  fanned_sequence bigint not null,
  ready_at timestamp with time zone,
  served_at timestamp with time zone,
  failing_since timestamp with time zone,
  constraint webhook_queues_pkey PRIMARY KEY (webhook_id),
  constraint webhook_queues_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(webhook_id)
);
CREATE INDEX webhook_queues_due ON public.webhook_queues USING btree (ready_at) WHERE (ready_at IS NOT NULL);

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
  events text[],
  description text,
  key_id text,
  constraint webhooks_pkey PRIMARY KEY (webhook_id),
  constraint webhooks_desk_id_fkey FOREIGN KEY (desk_id) REFERENCES firms(firm_id),
  constraint webhooks_environment_desk_id_firm_id_fkey FOREIGN KEY (environment, desk_id, firm_id) REFERENCES firms(environment, desk_id, firm_id),
  constraint webhooks_after_sequence_check CHECK ((after_sequence >= 0)),
  constraint webhooks_description_check CHECK ((length(description) <= 200)),
  constraint webhooks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint webhooks_events_check CHECK ((cardinality(events) > 0)),
  constraint webhooks_previous_secret CHECK (((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))),
  constraint webhooks_state_check CHECK ((state = ANY (ARRAY['active'::text, 'failing'::text, 'disabled'::text, 'paused'::text]))),
  constraint webhooks_url_check CHECK ((length(url) <= 2048)),
  constraint webhooks_version_check CHECK ((version > 0)),
  constraint webhooks_warnings_check CHECK ((warnings >= 0)),
  constraint webhooks_webhook_id_check CHECK ((starts_with(webhook_id, 'whk_'::text) AND (length(webhook_id) = 30)))
);
CREATE INDEX webhooks_by_desk ON public.webhooks USING btree (desk_id, created_at DESC, webhook_id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX webhooks_listening ON public.webhooks USING btree (webhook_id) WHERE (deleted_at IS NULL);

grant delete, insert, select, update on acts_alone to scripdesk_app;
grant delete, insert, select, update on api_keys to scripdesk_app;
grant insert, select, update on approvals to scripdesk_app;
grant delete, insert, select, update on audit_checkpoints to scripdesk_app;
grant insert, select, update on audit_heads to scripdesk_app;
grant delete, insert, select, update on audit_key_successions to scripdesk_app;
grant insert, select on bank_line_entries to scripdesk_app;
grant insert, select, update on bank_lines to scripdesk_app;
grant insert, select, update on bank_statements to scripdesk_app;
grant insert, select on bills_of_supply to scripdesk_app;
grant delete, insert, select, update on calendar_days to scripdesk_app;
grant delete, insert, select, update on calendar_versions to scripdesk_app;
grant delete, insert, select, update on commission_rates to scripdesk_app;
grant delete, insert, select, update on confirmed_accounts to scripdesk_app;
grant insert, select, update on credit_owners to scripdesk_app;
grant insert, select on credit_uses to scripdesk_app;
grant delete, insert, select, update on credits to scripdesk_app;
grant insert, select, update on cross_quotes to scripdesk_app;
grant insert, select, update on crosses to scripdesk_app;
grant insert, select, update on deal_minutes to scripdesk_app;
grant insert, select on delivered_blocks to scripdesk_app;
grant delete, insert, select, update on deliveries to scripdesk_app;
grant insert, select on delivery_attempts to scripdesk_app;
grant delete, insert, select, update on delivery_blocks to scripdesk_app;
grant insert, select on deposit_reversals to scripdesk_app;
grant insert, select on deposits to scripdesk_app;
grant delete, insert, select, update on desk_approvals to scripdesk_app;
grant delete, insert, select, update on desk_clocks to scripdesk_app;
grant delete, insert, select, update on desk_sequences to scripdesk_app;
grant insert, select on dropped_files to scripdesk_app;
grant delete, insert, select, update on enquiries to scripdesk_app;
grant insert, select on fee_invoices to scripdesk_app;
grant delete, insert, select, update on firms to scripdesk_app;
grant select on former_audit_records to scripdesk_app;
grant select on former_events to scripdesk_app;
grant delete, insert, select, update on groups to scripdesk_app;
grant delete, insert, select, update on house_days to scripdesk_app;
grant delete, insert, select, update on house_desk_days to scripdesk_app;
grant delete, insert, select, update on house_quoted to scripdesk_app;
grant insert, select on houses to scripdesk_app;
grant delete, insert, select, update on idempotency_keys to scripdesk_app;
grant insert, select, update on invoice_series to scripdesk_app;
grant insert, select on journal_blocks to scripdesk_app;
grant insert, select on journal_clients to scripdesk_app;
grant select, update on journal_form to scripdesk_app;
grant delete, insert, select, update on key_days to scripdesk_app;
grant insert, select, update on ledger_balances to scripdesk_app;
grant insert, select on ledger_entries to scripdesk_app;
grant insert, select on ledger_firm_entries to scripdesk_app;
grant delete, insert, select, update on ledger_proof to scripdesk_app;
grant delete, insert, select, update on ledger_proof_owners to scripdesk_app;
grant delete, insert, select, update on ledger_proof_slices to scripdesk_app;
grant delete, insert, select, update on ledger_proof_sums to scripdesk_app;
grant delete, insert, select, update on ledger_reports to scripdesk_app;
grant insert, select, update on ledger_verdict to scripdesk_app;
grant insert, select, update on leg_taxes to scripdesk_app;
grant insert, select, update on machines to scripdesk_app;
grant delete, insert, select, update on market_depths to scripdesk_app;
grant delete, insert, select, update on market_logs to scripdesk_app;
grant delete, insert, select on market_updates to scripdesk_app;
grant delete, insert, select, update on master_key_checks to scripdesk_app;
grant delete, insert, select, update on match_locks to scripdesk_app;
grant insert, select, update on netting_runs to scripdesk_app;
grant insert, select, update on notice_addresses to scripdesk_app;
grant delete, insert, select, update on notice_cursors to scripdesk_app;
grant delete, insert, select, update on notices to scripdesk_app;
grant insert, select on number_forms to scripdesk_app;
grant delete, insert, select, update on operator_attempts to scripdesk_app;
grant insert, select, update on operator_sessions to scripdesk_app;
grant insert, select, update on operators to scripdesk_app;
grant delete, insert, select, update on orders to scripdesk_app;
grant delete, insert, select, update on paying_accounts to scripdesk_app;
grant insert, select on payment_references to scripdesk_app;
grant insert, select, update on payout_file_items to scripdesk_app;
grant insert, select, update on payout_file_lines to scripdesk_app;
grant insert, select, update on payout_files to scripdesk_app;
grant insert, select on payout_lines to scripdesk_app;
grant insert, select, update on payouts to scripdesk_app;
grant delete, insert, select, update on plans to scripdesk_app;
grant delete, insert, select, update on port_outages to scripdesk_app;
grant delete, insert, select, update on questions to scripdesk_app;
grant delete, insert, select, update on quotes to scripdesk_app;
grant insert, select on rate_cards to scripdesk_app;
grant insert, select on rate_index_days to scripdesk_app;
grant insert, select on request_blocks to scripdesk_app;
grant delete, insert, select, update on requirements to scripdesk_app;
grant delete, insert, select, update on sandbox_scenarios to scripdesk_app;
grant delete, insert, select, update on schedules to scripdesk_app;
grant select on schema_migrations to scripdesk_app;
grant delete, insert, select, update on second_key_rules to scripdesk_app;
grant insert, select, update on settlement_legs to scripdesk_app;
grant insert, select, update on settlements to scripdesk_app;
grant delete, insert, select, update on statement_forms to scripdesk_app;
grant delete, insert, select on statement_pages to scripdesk_app;
grant insert, select on statements to scripdesk_app;
grant insert, select, update on supplies to scripdesk_app;
grant insert, select, update on tax_rates to scripdesk_app;
grant delete, insert, select, update on tds_certificates to scripdesk_app;
grant insert, select, update on tds_sums to scripdesk_app;
grant delete, insert, select, update on unpaid_deals to scripdesk_app;
grant delete, insert, select, update on usage_days to scripdesk_app;
grant delete, insert, select, update on usage_months to scripdesk_app;
grant insert, select on usage_notices to scripdesk_app;
grant delete, insert, select, update on webhook_queues to scripdesk_app;
grant delete, insert, select, update on webhooks to scripdesk_app;
