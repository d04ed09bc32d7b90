-- Quotes, the calls of keys by day, deliveries that have rows of their own and their attempts are
-- divided by the month in IST, as delivered blocks are, so that a month can be dropped as a whole. What
-- a table held becomes its first partition, up to the end of the month of its last row.

-- The lowest ref of quotes that are made from this time on.
create function first_quote_ref(from_time timestamptz) returns text language sql as $$
  select 'qte_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (5 * place)) & 31)::int + 1, 1), ''
      order by place desc
    ) || repeat('0', 16)
  from (select (extract(epoch from from_time) * 1000)::bigint as ms) as t, generate_series(0, 9) as place
$$;

-- Makes `divided_former` a partition of `divided`; an empty one is dropped. `bound` makes the value of
-- the key at the beginning of a month, $1.
create function attach_former(divided text, key text, bound text) returns void language plpgsql as $$
declare
  month_end timestamp := date_trunc('month', now() at time zone 'Asia/Kolkata');
  upper text;
  has_more boolean;
  partition text;
begin
  execute format('select exists (select from %I)', divided || '_former') into has_more;
  if not has_more then
    execute format('drop table %I', divided || '_former');
    return;
  end if;
  while has_more loop
    month_end := month_end + interval '1 month';
    execute 'select (' || bound || ')::text' using month_end at time zone 'Asia/Kolkata' into upper;
    execute format('select exists (select from %I where %I >= %L)', divided || '_former', key, upper)
      into has_more;
  end loop;
  partition := divided || to_char(month_end, '"_to_"YYYY_MM');
  execute format('alter table %I rename to %I', divided || '_former', partition);
  execute format(
    'alter table %I attach partition %I for values from (minvalue) to (%L)', divided, partition, upper
  );
end
$$;

alter table quotes rename to quotes_former;
alter table quotes_former rename constraint quotes_pkey to quotes_former_pkey;
create table quotes (
  like quotes_former including constraints,
  primary key (quote_ref)
) partition by range (quote_ref);
select attach_former('quotes', 'quote_ref', 'first_quote_ref($1)');
create table quotes_rest partition of quotes default;

alter table usage_days rename to usage_days_former;
alter table usage_days_former rename constraint usage_days_pkey to usage_days_former_pkey;
create table usage_days (
  like usage_days_former including constraints,
  primary key (key_id, day, route),
  constraint usage_days_key_id_fkey foreign key (key_id) references api_keys (key_id)
) partition by range (day);
select attach_former('usage_days', 'day', '($1 at time zone ''Asia/Kolkata'')::date');
create table usage_days_rest partition of usage_days default;

-- Unique keys of a divided table contain what divides it. That a delivery has one row is held by its
-- block, which is deleted by the statement that inserts the row, and by the cursor of its queue.
alter table deliveries rename to deliveries_former;
alter table deliveries_former drop constraint deliveries_pkey, drop constraint deliveries_once;
alter index deliveries_pending rename to deliveries_former_pending;
alter index deliveries_dead rename to deliveries_former_dead;
alter index deliveries_dead_newest rename to deliveries_former_dead_newest;
create table deliveries (
  like deliveries_former including constraints,
  primary key (delivery_id, created_at),
  -- The order in which they are listed.
  constraint deliveries_once unique (webhook_id, sequence, created_at),
  constraint deliveries_webhook_id_fkey foreign key (webhook_id) references webhook_queues (webhook_id)
) partition by range (created_at);
create index deliveries_pending on deliveries (webhook_id, due_at) where state = 'pending';
create index deliveries_dead on deliveries (desk_id, updated_at desc, delivery_id desc)
  where state = 'dead';
create index deliveries_dead_newest on deliveries (updated_at desc, delivery_id desc)
  where state = 'dead';
select attach_former('deliveries', 'created_at', '$1');
create table deliveries_rest partition of deliveries default with (fillfactor = 80);

-- The time of an attempt is told by whoever made it, so an attempt that is recorded twice has one row.
alter table delivery_attempts rename to delivery_attempts_former;
alter table delivery_attempts_former drop constraint delivery_attempts_pkey;
create table delivery_attempts (
  like delivery_attempts_former including constraints,
  primary key (delivery_id, lease, at)
) partition by range (at);
select attach_former('delivery_attempts', 'at', '$1');
create table delivery_attempts_rest partition of delivery_attempts default;

drop function attach_former, first_quote_ref;

-- A sender of the version before would look for rows of deliveries by their place in one table. It no
-- longer finds this column, so it leaves the queues alone.
alter table webhook_queues rename column due_at to ready_at;
