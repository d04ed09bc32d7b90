-- Operators page through dead letters of every desk, the newest first.
create index deliveries_dead_newest on deliveries (updated_at desc, delivery_id desc)
  where state = 'dead';

-- Their other lists are by id, which is made in the order of time: the primary key serves them.
drop index approvals_newest;
drop index enquiries_newest;
drop index payout_files_newest;
