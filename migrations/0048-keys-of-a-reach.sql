-- An idempotency key belongs to the caller's reach: the firm of a sub_account key, otherwise the desk.
-- Keys were the desk's, so that one sibling could run into what another had made.

-- The one firm of the key that placed an order; null where that key acts for the desk. It is null for
-- most, and then takes no place in the row.
alter table orders
  add column bound_firm_id text,
  add constraint orders_bound_to_its_firm check (bound_firm_id = firm_id);

update orders as o
set bound_firm_id = o.firm_id
from api_keys as k
where k.key_id = o.key_id and k.kind = 'sub_account' and k.firm_id = o.firm_id;

drop index orders_idempotency_key;
create unique index orders_idempotency_key on orders (desk_id, idempotency_key, bound_firm_id)
  nulls not distinct
  where idempotency_key is not null;

-- Other things: what a sub_account key created, by the first record of it, moves to its firm.
update idempotency_keys as i
set scope = concat_ws(':', k.environment, k.firm_id, split_part(i.scope, ':', 3))
from audit_records as r
join api_keys as k on k.key_id = r.actor_id and k.kind = 'sub_account'
where r.entity_id = i.resource_id and r.actor_kind = 'key' and r.entity_version = 1
  and i.scope = concat_ws(':', k.environment, k.desk_id, split_part(i.scope, ':', 3));

-- Credits were declared under the firm they are of, by its own key or the desk's: nobody noted which.
-- Either may try again, and both may read that firm.
insert into idempotency_keys (scope, idempotency_key, resource_id, fingerprint, created_at)
select distinct concat_ws(':', k.environment, k.firm_id, 'declareCredits'), i.idempotency_key,
  i.resource_id, i.fingerprint, i.created_at
from idempotency_keys as i
join api_keys as k on k.firm_id = i.resource_id and k.kind = 'sub_account'
where i.scope = concat_ws(':', k.environment, k.desk_id, 'declareCredits')
on conflict do nothing;
