// One checker for what orders promise, made from the rows alone: it knows the published tables and
// the arithmetic of the contract, and asks nothing of the code that wrote the rows.

import assert from "node:assert/strict";

import { creditLifecycle } from "../../src/credits/rules.ts";
import type { Lifecycle } from "../../src/kernel/lifecycle.ts";
import { orderLifecycle } from "../../src/trading/order-rules.ts";
import { settlementLifecycle } from "../../src/settlement/rules.ts";
import { assertChainWhole } from "./audit.ts";
import { assertLedgerSound } from "./ledger.ts";
import type { Service } from "./service.ts";
import { readEvents } from "./journal.ts";

/** Anything that answers a query; numbers of eight bytes may come as text. */
export type Queryable = {
  query(text: string): Promise<{ readonly rows: unknown[] }>;
};

/** What callers were told, by the idempotency keys they used. */
export type Told = {
  /** The order that was answered with success, by its key. */
  readonly acked?: ReadonlyMap<string, string>;
  /** Keys under which every answer was a refusal. */
  readonly refused?: Iterable<string>;
};

/** To be called at the end of every test that places orders. */
export async function assertOrdersSound(
  service: Pick<Service, "ctx">,
  told: Told = {},
): Promise<void> {
  await assertLedgerSound(service);
  await assertChainWhole(service.ctx);
  assert.deepEqual(await orderBreaches(service.ctx.db.pool, told), []);
}

/** Everything that does not hold, in words; empty when all does. */
export async function orderBreaches(db: Queryable, told: Told = {}): Promise<string[]> {
  const facts = await readFacts(db);
  return [
    ...keyBreaches(facts, told),
    ...saleBreaches(facts),
    ...reservationBreaches(facts),
    ...moneyBreaches(facts),
    ...eventBreaches(facts),
  ];
}

type OrderFacts = {
  readonly order_id: string;
  readonly desk_id: string;
  readonly side: "sell" | "buy";
  readonly state: string;
  readonly asked: string;
  readonly covered: string;
  readonly dealt: string;
  readonly price_bps: number | null;
  readonly limit_bps: number | null;
  readonly all_in: string;
  readonly scrip_nos: readonly string[];
  readonly resting_scrip_nos: readonly string[];
  readonly settlement_ids: readonly string[];
  readonly history: readonly { readonly status: string }[];
  readonly idempotency_key: string | null;
  readonly version: number;
};

type LegFacts = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly place: string;
  readonly origin: string;
  readonly settlement_state: string;
  readonly state: string;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly seller_order_id: string | null;
  readonly buyer_order_id: string | null;
  readonly face: string;
  readonly seller_paise: string;
  readonly buyer_paise: string;
  readonly same_pan: boolean;
  /** Whether the buyer's holding has ended since, other than by a deal. */
  readonly buyer_left: boolean;
};

type CreditFacts = {
  readonly scrip_no: string;
  readonly state: string;
  readonly reserved_for: string | null;
  readonly face: string;
};

type EventFacts = {
  readonly desk_id: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly version: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string | null;
};

type Facts = {
  readonly orders: ReadonlyMap<string, OrderFacts>;
  readonly legs: readonly LegFacts[];
  readonly credits: readonly CreditFacts[];
  readonly events: readonly EventFacts[];
};

async function readFacts(db: Queryable): Promise<Facts> {
  const queryRows = async <Row>(text: string) => (await db.query(text)).rows as Row[];
  const orders = await queryRows<OrderFacts>(`
    select order_id, desk_id, side, state, coalesce(face_paise, requirement_paise)::text as asked,
      covered_paise::text as covered, dealt_paise::text as dealt, price_bps, limit_bps,
      all_in_paise::text as all_in, scrip_nos, resting_scrip_nos, settlement_ids, history,
      idempotency_key, version
    from orders`);
  const legs = await queryRows<LegFacts>(`
    select l.settlement_id, l.scrip_no, l.environment || ' ' || l.scrip_no as place, s.origin,
      s.state as settlement_state, l.state, l.seller_firm_id, s.buyer_firm_id, l.seller_order_id,
      s.buyer_order_id, l.face_paise::text as face, l.seller_paise::text as seller_paise,
      l.buyer_paise::text as buyer_paise, seller.pan is not distinct from buyer.pan as same_pan,
      exists (
        select
        from credits as c
        where c.environment = l.environment and c.scrip_no = l.scrip_no
          and c.firm_id = s.buyer_firm_id
          and c.state in ('withdrawn', 'used', 'expired', 'cancelled')
      ) as buyer_left
    from settlement_legs as l
    join settlements as s on s.settlement_id = l.settlement_id
    join firms as seller on seller.firm_id = l.seller_firm_id
    join firms as buyer on buyer.firm_id = s.buyer_firm_id
    order by l.dealt_at, l.settlement_id`);
  const credits = await queryRows<CreditFacts>(`
    select scrip_no, state, reserved_for, face_paise::text as face
    from credits
    where state in ('listed', 'reserved', 'in_settlement', 'suspended')`);
  const events = (await readEvents(queryRows))
    .filter(({ entity_type }) => ["order", "settlement", "credit"].includes(entity_type))
    .map(({ body, entity_version: version, ...event }): EventFacts => {
      const { from, to } = JSON.parse(body);
      return { ...event, version, from, to };
    });
  return { orders: new Map(orders.map((row) => [row.order_id, row])), legs, credits, events };
}

/** Acknowledged orders are there, once; what was refused is not. */
function keyBreaches({ orders }: Facts, { acked = new Map(), refused = [] }: Told): string[] {
  const byKey = Map.groupBy(
    [...orders.values()].filter((order) => order.idempotency_key !== null),
    (order) => order.idempotency_key ?? "",
  );
  const breaches = [...byKey].flatMap(([key, made]) =>
    new Set(made.map((order) => order.desk_id)).size < made.length
      ? [`key ${key} made ${made.length} orders`]
      : [],
  );
  for (const [key, orderId] of acked) {
    const made = byKey.get(key) ?? [];
    if (!made.some((order) => order.order_id === orderId)) {
      breaches.push(`key ${key} was answered with ${orderId}, which is lost`);
    }
  }
  for (const key of refused) {
    if (byKey.has(key)) breaches.push(`key ${key} was refused and made an order`);
  }
  return breaches;
}

const endedSettlements = ["failed", "reversed"];

/** One live sale per credit; whoever sells a credit again got it, or declared it when it had left. */
function saleBreaches({ legs }: Facts): string[] {
  const standing = legs.filter(
    (leg) => leg.state !== "failed" && !endedSettlements.includes(leg.settlement_state),
  );
  const breaches = legs.flatMap((leg) =>
    leg.same_pan ? [`${leg.scrip_no} was dealt between firms of one PAN`] : [],
  );
  for (const [place, sales] of Map.groupBy(standing, (leg) => leg.place)) {
    const under = sales.filter((leg) => leg.state !== "delivered");
    if (under.length > 1) breaches.push(`${place} is sold ${under.length} times`);
    sales.slice(1).forEach((leg, at) => {
      const last = sales[at];
      if (last?.buyer_firm_id !== leg.seller_firm_id && !last?.buyer_left) {
        breaches.push(`${place} was sold by a firm that did not have it`);
      }
    });
  }
  return breaches;
}

/** A credit is reserved for an order that rests with it or that is delivering it, and the reverse. */
function reservationBreaches({ orders, legs, credits }: Facts): string[] {
  const delivering = new Set(legs.map((leg) => `${leg.scrip_no} ${leg.origin}`));
  for (const leg of legs) delivering.add(`${leg.scrip_no} ${leg.seller_order_id}`);
  const breaches: string[] = [];
  const held = new Set<string>();
  for (const { scrip_no, reserved_for } of credits) {
    if (!reserved_for?.startsWith("ord_0")) continue;
    held.add(`${scrip_no} ${reserved_for}`);
    const order = orders.get(reserved_for);
    const rests = order?.state === "open" && order.resting_scrip_nos.includes(scrip_no);
    if (!rests && !delivering.has(`${scrip_no} ${reserved_for}`)) {
      breaches.push(`${scrip_no} is reserved for ${reserved_for}, which does not sell it`);
    }
  }
  for (const order of orders.values()) {
    if (order.state !== "open" && order.resting_scrip_nos.length > 0) {
      breaches.push(`${order.order_id} is ${order.state} and something of it rests`);
    }
    for (const scripNo of order.resting_scrip_nos) {
      if (!held.has(`${scripNo} ${order.order_id}`)) {
        breaches.push(`${order.order_id} rests with ${scripNo}, which is not reserved for it`);
      }
    }
  }
  return breaches;
}

/** What an order shows is what its legs add up to, and its all-in one rounding of the whole. */
function moneyBreaches({ orders, legs, credits }: Facts): string[] {
  const faces = new Map(credits.map(({ scrip_no, face }) => [scrip_no, BigInt(face)]));
  const sold = Map.groupBy(legs, (leg) => leg.seller_order_id ?? "");
  const bought = Map.groupBy(legs, (leg) => leg.buyer_order_id ?? "");
  return [...orders.values()].flatMap((order) => {
    const own = (order.side === "sell" ? sold : bought).get(order.order_id) ?? [];
    const say = (what: string) => [`${order.order_id}: ${what}`];
    const dealt = sumAmounts(own.map((leg) => leg.face));
    const paid = sumAmounts(
      own.map((leg) => (order.side === "sell" ? leg.seller_paise : leg.buyer_paise)),
    );
    const [whole, bps] = [BigInt(order.dealt), BigInt(order.price_bps ?? 0)];
    const rounded =
      order.side === "sell" ? (whole * bps) / 10_000n : (whole * bps + 9_999n) / 10_000n;
    const covered = BigInt(order.covered);
    const resting = order.resting_scrip_nos.reduce((sum, no) => sum + (faces.get(no) ?? 0n), 0n);
    const settlements = new Set(own.map((leg) => leg.settlement_id));
    const isWorse =
      order.limit_bps !== null &&
      order.price_bps !== null &&
      (order.side === "sell"
        ? order.price_bps < order.limit_bps
        : order.price_bps > order.limit_bps);
    return [
      ...(dealt === whole ? [] : say(`dealt ${whole}, its legs ${dealt}`)),
      ...(paid === BigInt(order.all_in) ? [] : say(`all-in ${order.all_in}, its legs ${paid}`)),
      ...(whole === 0n || rounded === paid ? [] : say(`all-in ${paid} is not ${rounded}`)),
      ...(covered <= BigInt(order.asked) ? [] : say("covers more than was asked for")),
      ...(order.side === "buy" && covered !== dealt ? say(`covered ${covered}, ${dealt}`) : []),
      ...(order.side === "sell" && order.state === "open" && covered !== dealt + resting
        ? say(`covered ${covered}, dealt ${dealt}, resting ${resting}`)
        : []),
      ...(sameSet(settlements, order.settlement_ids) ? [] : say("names other settlements")),
      ...(isWorse ? say("dealt worse than its limit") : []),
    ];
  });
}

function sumAmounts(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
}

function sameSet(known: ReadonlySet<string>, listed: readonly string[]): boolean {
  return known.size === listed.length && listed.every((id) => known.has(id));
}

const lifecycles: Readonly<Record<string, Lifecycle>> = {
  order: orderLifecycle,
  settlement: settlementLifecycle,
  credit: creditLifecycle,
};

/** Every change told is an edge of the published table, and of an order every change is told once. */
function eventBreaches({ orders, events }: Facts): string[] {
  const breaches = events.flatMap((event) =>
    isEdge(event) ? [] : [`${event.entity_id}: ${event.from} to ${event.to} (${event.event})`],
  );
  const ofOrders = events.filter((event) => event.entity_type === "order");
  const byOrder = Map.groupBy(ofOrders, (event) => event.entity_id);
  for (const [orderId, order] of orders) {
    const told = byOrder.get(orderId) ?? [];
    const inOrder = told.every(
      (event, at) =>
        event.version === at + 1 &&
        event.from === (told[at - 1]?.to ?? null) &&
        event.desk_id === order.desk_id,
    );
    if (!inOrder || told.length !== order.version || told.at(-1)?.to !== order.state) {
      const shown = told.map(({ version, from, to }) => `${version} ${from} to ${to}`);
      breaches.push(`${orderId} is ${order.state} ${order.version}, told: ${shown.join(", ")}`);
    }
    if (order.history.at(-1)?.status !== order.state) {
      breaches.push(`${orderId} is ${order.state} and its history ends otherwise`);
    }
  }
  for (const orderId of byOrder.keys()) {
    if (!orders.has(orderId)) breaches.push(`${orderId} was told of and is not there`);
  }
  return breaches;
}

function isEdge({ entity_type, from, to }: EventFacts): boolean {
  const lifecycle = lifecycles[entity_type];
  if (!lifecycle || to === null) return false;
  // A claim that the registry confirms within the call is told once, as what it became.
  if (from === null) return lifecycle.initial.includes(to) || entity_type === "credit";
  if (from === to) return true;
  return Object.values(lifecycle.moves).some((move) => move.to === to && move.from.includes(from));
}
