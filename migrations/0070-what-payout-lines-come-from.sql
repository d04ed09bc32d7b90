-- A line of a payout comes from an order or from a cross. Which of them was read from the prefix of
-- the id in `order_id`; now it is a column, as for settlements. The default serves processes of the
-- version before, which write no kind: their orders are right, and their crosses break the check and
-- are tried again, so that no line has the wrong kind.
alter table payout_lines add column origin_kind text not null default 'order';

update payout_lines
set origin_kind = 'cross'
where starts_with(order_id, 'crs_');

alter table payout_lines
  add constraint payout_lines_origin_kind_check check (origin_kind in ('order', 'cross')),
  add constraint payout_lines_order_is_of_its_kind
    check ((origin_kind = 'cross') = starts_with(order_id, 'crs_'));
