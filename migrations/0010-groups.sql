-- Firms under common ownership use each other's credits first. A group belongs to one desk, and so
-- do all of its members; a firm is in one group at a time.
create table groups (
  group_id text primary key check (group_id ~ '^grp_[0-9a-z]{26}$'),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null references firms (firm_id),
  name text not null check (length(name) between 1 and 200),
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (desk_id, group_id),
  unique (desk_id, name)
);

create index groups_by_desk on groups (desk_id, created_at desc, group_id desc);

alter table firms
  add constraint firms_group_of_desk foreign key (desk_id, group_id) references groups (desk_id, group_id);

-- Duty that a firm will have to pay: what netting and cover are for.
create table requirements (
  requirement_id text primary key check (requirement_id ~ '^rqm_[0-9a-z]{26}$'),
  environment text not null check (environment in ('live', 'sandbox')),
  desk_id text not null,
  firm_id text not null,
  scheme text check (scheme in ('RODTEP', 'ROSCTL')),
  amount_paise bigint not null check (amount_paise between 1 and 9007199254740991),
  due_on date not null,
  reference text not null check (length(reference) between 1 and 100),
  version integer not null check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (environment, desk_id, firm_id) references firms (environment, desk_id, firm_id),
  unique (firm_id, reference)
);

create index requirements_by_firm on requirements (firm_id, created_at desc, requirement_id desc);
