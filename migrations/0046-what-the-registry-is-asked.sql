-- Scheme and expiry set a credit's price, so the registry is asked about them as well as about the face.
-- Questions that are open already get them from the claim they are about.

update inquiries as i
set facts = i.facts || jsonb_build_object('scheme', c.scheme, 'expires_on', c.expires_on)
from credits as c
where i.kind = 'credit_holding' and i.state = 'open' and c.credit_id = i.subject_id;
