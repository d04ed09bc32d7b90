-- What a firm holds is asked for all the time, and what it once held only grows. So the firm comes
-- first in the index that keeps claims apart; looking a number up has indexes of its own.
drop index credits_claim;
create unique index credits_claim on credits (firm_id, scrip_no) where standing is not null;
