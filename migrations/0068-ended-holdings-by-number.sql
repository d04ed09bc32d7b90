-- Whether anybody ever held a credit that nobody holds now is asked by its number.
create index credits_ended on credits (environment, scrip_no) where standing is null;
