-- Events and audit records are written with every change, by the thousand a second. What is checked
-- of each row is what can be wrong with it: ids are made by one function, so their form is told by
-- prefix and length, and a desk that has a number to give has been checked by the row it came from.
alter table events
  drop constraint events_desk_id_fkey,
  drop constraint events_event_id_check,
  add constraint events_event_id_check
    check (starts_with(event_id, 'evt_') and length(event_id) = 30);

alter table audit_records
  drop constraint audit_records_record_id_check,
  add constraint audit_records_record_id_check
    check (starts_with(record_id, 'aud_') and length(record_id) = 30);
