-- A cross counts once against the limits of a key. One that waits for an answer is counted as it is
-- proposed, so whoever accepts must know whether it was by the same key.
alter table crosses add column proposing_key_id text;
