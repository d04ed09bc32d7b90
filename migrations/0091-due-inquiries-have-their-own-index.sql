-- An index that only statements about deadlines may use. While there were few inquiries, the planner
-- chose it for the look-up of a subject too, and then read every open inquiry for each subject.
drop index inquiries_due;
create index inquiries_due on inquiries (environment, kind, due_at)
  where state = 'open' and due_at < 'infinity';
