-- Each side of a settlement reads its own truth, and so when its own legs were answered: a seller's
-- side can be over while the legs of others are awaited.

alter table settlement_legs add column answered_at timestamptz;

update settlement_legs as l
set answered_at = s.updated_at
from settlements as s
where s.settlement_id = l.settlement_id and l.state in ('delivered', 'failed');

alter table settlement_legs add constraint settlement_legs_answered_once
  check ((state in ('delivered', 'failed')) = (answered_at is not null));
