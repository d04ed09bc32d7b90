-- Attempts to sign in count per name and network, so that whoever hammers a name makes their own network
-- wait and not the person. What was counted until now belongs to no network and is forgotten.
delete from operator_attempts;
alter table operator_attempts
  drop constraint operator_attempts_pkey,
  -- An address, the /64, /48 or /24 around it, or a word where there is none.
  add column network text not null,
  add primary key (name_key, network);

-- The oldest counts are forgotten when there are many.
create index operator_attempts_next on operator_attempts (next_at);
