-- Records of a few minutes, by action or actor: without this, every block of the desk was read.
create index journal_blocks_by_time on journal_blocks (environment, desk_id, at);
