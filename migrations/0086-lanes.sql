-- Matching is locked per environment and scheme. A set of orders of one scheme does not wait for a set
-- of the other; one that deals in both locks both rows, in the order of their schemes. Processes of the
-- version before lock all rows of their environment, so both versions can run beside each other.

alter table match_locks
  add column scheme text not null default 'RODTEP' check (scheme in ('RODTEP', 'ROSCTL'));

alter table match_locks
  alter column scheme drop default,
  drop constraint match_locks_pkey,
  add primary key (environment, scheme);

insert into match_locks (environment, scheme, seen_cards, seen_before)
select environment, 'ROSCTL', seen_cards, seen_before
from match_locks;
