-- The market shows what was dealt in the last 24 hours and looks twice a second. Adding up the tape
-- each time would cost more with every deal, so the legs of each minute are added up as they are
-- written, by the statement that writes them.

-- A face as the market shows it: two digits and zeros.
create function shown_face(face_paise bigint) returns numeric
  language sql immutable parallel safe
  return round(face_paise::numeric, 2 - length(face_paise::text));

create table deal_minutes (
  environment text not null check (environment in ('live', 'sandbox')),
  scheme text not null check (scheme in ('RODTEP', 'ROSCTL')),
  minute timestamptz not null check (minute = date_trunc('minute', minute, 'UTC')),
  deals bigint not null check (deals > 0),
  shown_paise numeric not null check (shown_paise > 0),
  primary key (environment, scheme, minute)
) with (fillfactor = 50); -- The last minute is updated in its page with every set.

insert into deal_minutes (environment, scheme, minute, deals, shown_paise)
select environment, scheme, date_trunc('minute', dealt_at, 'UTC'), count(*), sum(shown_face(face_paise))
from settlement_legs
where not private
group by 1, 2, 3;
