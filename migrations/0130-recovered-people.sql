-- When somebody was let in on the machine, without a second person: every admin sees it.

alter table operators add column recovered_at timestamptz;
