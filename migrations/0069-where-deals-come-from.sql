-- Whether a deal was made by an order or by a cross decides its commission and its tax. It was read
-- from the prefix of the id in `origin`; now it is a column. The default serves processes of the
-- version before, which write no kind: their orders are right, and their crosses break the check and
-- are refused, so that no commission is paid on them.
alter table settlements add column origin_kind text not null default 'order';

update settlements
set origin_kind = 'cross'
where starts_with(origin, 'crs_');

alter table settlements
  add constraint settlements_origin_kind_check check (origin_kind in ('order', 'cross')),
  add constraint settlements_origin_is_of_its_kind
    check ((origin_kind = 'cross') = starts_with(origin, 'crs_'));
