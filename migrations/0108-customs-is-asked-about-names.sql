-- Customs is asked whether the name belongs to the importer-exporter code too: the bank is asked whether
-- an account bears the name, and what it confirms proves whose money comes and who is paid.
update inquiries as i
set facts = i.facts || jsonb_build_object('legal_name', f.legal_name)
from firms as f
where i.kind = 'firm_identity' and i.state = 'open' and f.firm_id = i.subject_id;
