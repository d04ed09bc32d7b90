-- A dropped file whose proposal was rejected or never decided may be put back, and is proposed anew.

drop index dropped_files_once;
create unique index dropped_files_once on dropped_files (folder, sha256)
where outcome = 'done';
