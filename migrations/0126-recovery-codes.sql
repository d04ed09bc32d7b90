-- Each takes the place of a code of the authenticator once. Whoever is enrolled already makes theirs
-- under My sign-in.

alter table operators add column recovery_hashes bytea[] not null default '{}';
