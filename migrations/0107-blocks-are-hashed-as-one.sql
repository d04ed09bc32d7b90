-- A block of form 3 has one hash, over a header that has the hash of its records, where a block of
-- form 2 has a hash for each record.
alter table journal_blocks
  add column hash bytea,
  alter column hashes drop not null,
  drop constraint journal_blocks_form_check,
  drop constraint journal_blocks_hashes,
  add constraint journal_blocks_hashes check (
    case form
      when 2 then hash is null and length(hashes) = 32 * (last_seq - first_seq + 1)
      when 3 then hashes is null and length(hash) = 32
      else false
    end is true
  );
