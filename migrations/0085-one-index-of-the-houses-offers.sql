-- One index serves the count of what the house offers, which it covers, and the pages by which a node
-- reads all of it at its start.
create index credits_house_offers on credits (environment, scheme, face_paise, scrip_no)
  include (expires_on) where house_offers;
drop index credits_house_listed, credits_house_depth;
