-- Whom the house's directory signs in has no credentials here. When they proved who they are there is
-- kept with each session: approving takes it to be lately.

alter table operators
  add column directory_issuer text check (directory_issuer <> ''),
  add column directory_subject text check (directory_subject <> ''),
  add constraint operators_directory_whole
    check ((directory_issuer is null) = (directory_subject is null)),
  add constraint operators_directory_alone
    check (directory_subject is null or (password_hash is null and enrol_hashes is null)),
  add constraint operators_directory_key unique (directory_issuer, directory_subject);

alter table operator_sessions add column proved_at timestamptz;
