-- What one person did alone, so that many small acts are not a way around the limit of one.
create table acts_alone (
  person_key text not null,
  kind text not null,
  at timestamptz not null,
  subject_id text not null,
  value_paise bigint not null check (value_paise between 0 and 9007199254740991)
);

create index acts_alone_of_person on acts_alone (person_key, kind, at);

-- Who approved a card, where it took two people.
alter table rate_cards
  add column approved_by text,
  add constraint rate_cards_two_people check (
    lower(replace(approved_by, ' ', '')) <> lower(replace(published_by, ' ', ''))
  );
