-- Who the house is in law: name, codes, address, signatory and the account that buyers pay into. A
-- version is only added, and holds from a day on, so that a paper of an earlier day keeps its head.
-- The rows of `firms` name the house's desks; what they say of its codes moves here.
create table houses (
  environment text not null check (environment in ('live', 'sandbox')),
  version integer not null check (version > 0),
  effective_from date not null,
  legal_name text not null check (char_length(legal_name) between 1 and 200),
  iec text check (iec ~ '^([A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]|[0-9]{10})$'),
  pan text check (pan ~ '^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$'),
  tan text check (tan ~ '^[A-Z]{4}[0-9]{5}[A-Z]$'),
  gstin text check (gstin ~ '^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$'),
  cin text check (cin ~ '^[LU][0-9]{5}[A-Z]{2}[0-9]{4}[A-Z]{3}[0-9]{6}$'),
  address text[] not null check (cardinality(address) <= 6),
  state_code text check (state_code ~ '^[0-9]{2}$'),
  signatory text,
  bank_beneficiary text,
  bank_account_no text check (bank_account_no ~ '^[0-9]{9,18}$'),
  bank_ifsc text check (bank_ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  bank_name text,
  set_at timestamptz not null,
  set_by text not null,
  approved_by text,
  primary key (environment, version),
  constraint houses_one_pan check (
    (iec is null or pan is null or iec ~ '^[0-9]{10}$' or iec = pan)
    and (gstin is null or pan is null or substr(gstin, 3, 10) = pan)
  ),
  constraint houses_one_state check (gstin is null or state_code is null or substr(gstin, 1, 2) = state_code),
  constraint houses_whole_account check (
    num_nulls(bank_beneficiary, bank_account_no, bank_ifsc, bank_name) in (0, 4)
  ),
  constraint houses_two_people check (approved_by is null or approved_by <> set_by)
);

-- The sandbox's house is made up: no register has these codes.
insert into houses (
  environment, version, effective_from, legal_name, iec, pan, tan, gstin, cin, address, state_code,
  signatory, bank_beneficiary, bank_account_no, bank_ifsc, bank_name, set_at, set_by
)
values (
  'sandbox', 1, '2020-01-01', 'Scripdesk House (sandbox)', 'AAACH0000H', 'AAACH0000H',
  'MUMS00000A', '27AAACH0000H1ZD', 'U51909MH2020PTC000000',
  array['1 Sandbox Street', 'Mumbai 400001'], '27', 'A. Nobody, Director',
  'Scripdesk House (sandbox)', '000000000001', 'SAND0000001', 'Sandbox Bank', now(), 'migration'
);

update firms
set iec = null, pan = null
where firm_id = 'frm_00000000000000000000000002';
