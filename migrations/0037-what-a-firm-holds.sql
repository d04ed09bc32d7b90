-- What a firm holds is asked for all the time, and what it once held only grows. The firm comes first
-- now in the index that keeps claims apart: looking a number up has had indexes of its own since 0031.
drop index credits_claim;
create unique index credits_claim on credits (firm_id, scrip_no) where standing is not null;
