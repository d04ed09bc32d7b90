// Orders against a model. Sequences of orders, cancels, expiries, failures, cards and looks of the
// matcher run through the deciding functions of the service; beside them a model that shares nothing
// with them but the prices of a card says what must come of each step.
//
//   a sell    meets the best resting buy that can take it whole, then the bid; or it rests
//   a buy     covers the most that can be covered with what its price allows; the rest of it rests
//   a look    serves resting buys by price and time, then what is left to the house
//   always    one price per order within its limit, the margin between clients, never one company
//             with itself, no credit in two deals, nothing lost

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../src/kernel/failure.ts";
import { advance } from "../src/kernel/lifecycle.ts";
import {
  orderLifecycle,
  type OrderFields,
  orderStates,
  findRemainingPaise,
} from "../src/trading/order-rules.ts";
import type { OrderRow } from "../src/trading/order-store.ts";
import { priceAsk, priceBid } from "../src/rates/rules.ts";
import { clients, findPan, house, OrderWorld } from "./support/order-world.ts";

const sequences = 2_000;
const stepsMax = 24;
const margin = 20;
const lakh = 10_000_000;

/** The published table, written a second time: what each action makes of each state. */
const edges: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  open: { match: "matched", cancel: "cancelled", expire: "expired" },
  matched: { fail: "failed" },
  cancelled: {},
  expired: {},
  failed: {},
};
const actions = ["match", "cancel", "expire", "fail"] as const;

type Step = {
  readonly kind: (typeof kinds)[number];
  readonly client: number;
  readonly size: number;
  readonly price: number;
  readonly pick: number;
};

const kinds = [
  "stock client",
  "stock house",
  "sell credit",
  "sell credit",
  "sell amount",
  "buy",
  "buy",
  "try out",
  "act",
  "act",
  "card",
  "match",
] as const;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...kinds),
  client: fc.nat({ max: clients.length - 1 }),
  size: fc.integer({ min: 1, max: 9 }),
  price: fc.integer({ min: -12, max: 12 }),
  pick: fc.nat({ max: 1_000 }),
});

/** What the sequences have come by, so that none of it is left untested by chance. */
const seen = {
  born: new Set<string>(),
  moves: new Set<string>(),
  illegal: new Set<string>(),
  outcomes: new Map<string, number>(),
};
const note = (outcome: string) => {
  seen.outcomes.set(outcome, (seen.outcomes.get(outcome) ?? 0) + 1);
};

/** What a resting sell, or the house, has to sell to this company at this price. */
function poolFor(world: OrderWorld, buyerPan: string, of: { house: boolean; limitMax: number }) {
  const resting = world
    .resting("sell")
    .filter((sell) => findPan(sell.firm_id) !== buyerPan && (sell.limit_bps ?? 0) <= of.limitMax)
    .flatMap((sell) =>
      sell.resting_scrip_nos.map((no) => ({ no, limit: sell.limit_bps ?? 0, sell })),
    );
  const stock = [...world.credits.values()]
    .filter((credit) => of.house && credit.firm_id === house && credit.state === "listed")
    .map((credit) => ({ no: credit.scrip_no, limit: 0, sell: undefined }));
  return [...resting, ...stock].map((offer) => ({
    ...offer,
    face: world.findCredit(offer.no).face_paise,
  }));
}

/** All sums within a bound. */
function listSums(faces: readonly number[], bound: number): readonly number[] {
  let sums = new Set([0]);
  for (const face of faces) {
    const more = [...sums].map((sum) => sum + face).filter((sum) => sum <= bound);
    sums = new Set([...sums, ...more]);
  }
  return [...sums];
}

function bestSum(faces: readonly number[], bound: number): number {
  return Math.max(...listSums(faces, bound));
}

type Of = { readonly house: boolean; readonly limitMax: number };

/**
 * The largest sum that a buy may be dealt, with what its own price lets it take. A resting buy pays
 * its own price for whatever it takes.
 */
function bestBuy(
  { card }: OrderWorld,
  { wanted, limit, restsAt }: { wanted: number; limit?: number | undefined; restsAt?: number },
  findPool: (of: Of) => ReturnType<typeof poolFor>,
) {
  if (card.state !== "open") return undefined;
  const found = card.size_bands.flatMap(({ below_paise }, at) => {
    const least = card.size_bands[at - 1]?.below_paise ?? 1;
    const most = Math.min(wanted, (below_paise ?? Infinity) - 1);
    const ask = priceAsk(card, least);
    const fromHouse = ask <= (restsAt ?? limit ?? ask);
    const pays = restsAt ?? (fromHouse ? ask : (limit ?? ask));
    const pool = findPool({ house: fromHouse, limitMax: pays - margin });
    const sums = listSums(
      pool.map(({ face }) => face),
      most,
    );
    return sums.filter((sum) => sum >= least).map((sum) => ({ sum, ask, fromHouse, pool }));
  });
  return found.toSorted((a, b) => b.sum - a.sum)[0];
}

function bidFor(world: OrderWorld, face: number): number | undefined {
  const { card } = world;
  const left = card.house_limit_paise - card.taken_paise;
  if (card.state !== "open" || face > card.face_max_paise || face > left) return undefined;
  return priceBid(card, face, 700);
}

type Expected = { readonly with: string; readonly price: number } | undefined;

/** Who must buy a sell that arrives now, and what the seller must get. */
function expectedSale(
  world: OrderWorld,
  sell: { readonly pan: string; readonly face: number; readonly limit: number | undefined },
): Expected {
  if (world.card.state !== "open") return undefined;
  const bid = bidFor(world, sell.face);
  const floor = Math.max(sell.limit ?? 0, bid ?? 0);
  if (floor === 0) return undefined;
  let best: OrderRow | undefined;
  for (const buy of world.orders.values()) {
    const price = buy.price_bps ?? 0;
    const fits = buy.side === "buy" && buy.state === "open" && findRemainingPaise(buy) >= sell.face;
    if (!fits || findPan(buy.firm_id) === sell.pan || price - margin < floor) continue;
    const isBetter =
      !best ||
      price > (best.price_bps ?? 0) ||
      (price === best.price_bps && buy.created_at < best.created_at);
    if (isBetter) best = buy;
  }
  if (best) return { with: best.order_id, price: (best.price_bps ?? 0) - margin };
  return bid !== undefined && bid >= (sell.limit ?? 0) ? { with: "house", price: bid } : undefined;
}

async function sell(world: OrderWorld, firmId: string, fields: OrderFields): Promise<void> {
  const pan = findPan(firmId);
  const named = fields.scrip_no === undefined ? undefined : world.findCredit(fields.scrip_no);
  const own = [...world.credits.values()].filter(
    (credit) => credit.firm_id === firmId && credit.state === "listed",
  );
  const sum = bestSum(
    own.map((credit) => credit.face_paise),
    fields.face_paise ?? 0,
  );
  const face = named?.face_paise ?? sum;
  const isFree = named ? named.state === "listed" : face > 0;
  const expected = isFree ? expectedSale(world, { pan, face, limit: fields.limit_bps }) : undefined;
  const dealsBefore = world.deals.length;
  const verdict = await world.place(firmId, fields);
  if (!isFree || (!expected && fields.limit_bps === undefined)) {
    assert.equal(verdict.kind, "refused");
    assert.equal(world.deals.length, dealsBefore);
    return note(isFree ? "sell without a price" : "sell of nothing");
  }
  assert.ok(verdict.kind === "placed");
  const order = world.orders.get(verdict.orderId);
  assert.equal(order?.covered_paise, face);
  if (!expected) {
    assert.equal(world.deals.length, dealsBefore);
    assert.equal(order?.state, fields.time_in_force === "IOC" ? "cancelled" : "open");
    return note(`sell ${order?.state}`);
  }
  assert.equal(order?.state, "matched");
  assert.equal(order?.price_bps, expected.price);
  const deal = world.deals.at(-1);
  assert.equal(world.deals.length, dealsBefore + 1);
  assert.equal(deal?.buyer.orderId ?? "house", expected.with);
  note(expected.with === "house" ? "sell to the house" : "sell to a client");
}

async function buy(world: OrderWorld, firmId: string, fields: OrderFields): Promise<void> {
  const wanted = fields.requirement_paise ?? 0;
  const limit = fields.limit_bps;
  const pan = findPan(firmId);
  const expected = bestBuy(world, { wanted, limit }, (of) => poolFor(world, pan, of));
  const best = expected?.sum ?? 0;
  const verdict = await world.place(firmId, fields);
  if (best === 0 && limit === undefined) {
    assert.equal(verdict.kind, "refused");
    return note("buy without a price");
  }
  assert.ok(verdict.kind === "placed");
  const order = world.orders.get(verdict.orderId);
  assert.equal(order?.covered_paise, best);
  const rests = fields.time_in_force !== "IOC" && limit !== undefined && best < wanted;
  const ended = best > 0 ? "matched" : "cancelled";
  assert.equal(order?.state, rests ? "open" : ended);
  note(`buy ${order?.state}${best > 0 && rests ? " in part" : ""}`);
  if (!expected) return;
  const { fromHouse, ask, pool } = expected;
  const taken = world.deals.at(-1)?.legs ?? [];
  const dearest = Math.max(...taken.map((leg) => (fromHouse ? 0 : leg.sellerBps)));
  assert.equal(order?.price_bps, fromHouse ? ask : dearest + margin);
  assert.ok(taken.every((leg) => pool.some(({ no }) => no === leg.scripNo)));
}

async function match(world: OrderWorld): Promise<void> {
  const buys = world.resting("buy");
  const rests = new Map(buys.map((order) => [order.order_id, findRemainingPaise(order)]));
  const pools = buys.map((order) => {
    const restsAt = order.price_bps ?? 0;
    const pan = findPan(order.firm_id);
    const limitMax = restsAt - margin;
    const all = poolFor(world, pan, { house: true, limitMax });
    return { order, restsAt, all };
  });
  const isOpen = world.card.state === "open";
  const dealsBefore = world.deals.length;
  await world.match();
  const deals = world.deals.slice(dealsBefore);
  if (!isOpen) return assert.equal(deals.length, 0);
  const gone = new Set<string>();
  for (const { order, restsAt, all } of pools) {
    const left = all.filter(({ no }) => !gone.has(no));
    const wanted = rests.get(order.order_id) ?? 0;
    const best =
      bestBuy(world, { wanted, restsAt }, ({ house: fromHouse }) =>
        left.filter(({ sell }) => fromHouse || sell !== undefined),
      )?.sum ?? 0;
    const deal = deals.find((each) => each.buyer.orderId === order.order_id);
    const got = deal?.legs.reduce((sum, leg) => sum + leg.facePaise, 0) ?? 0;
    assert.equal(got, best, "the best of equals is served first, with the most that covers it");
    for (const leg of deal?.legs ?? []) gone.add(leg.scripNo);
    if (deal) note("a look serves a buy");
  }
  if (deals.some((deal) => deal.buyer.orderId === null)) note("a look serves a sell");
  assertUncrossed(world);
}

/** After a look nothing that rests could still be dealt. */
function assertUncrossed(world: OrderWorld): void {
  for (const order of world.resting("sell")) {
    const faces = order.resting_scrip_nos.map((no) => world.findCredit(no).face_paise);
    for (const other of world.resting("buy")) {
      if (findPan(other.firm_id) === findPan(order.firm_id)) continue;
      if ((order.limit_bps ?? 0) + margin > (other.price_bps ?? 0)) continue;
      assert.ok(Math.min(...faces) > findRemainingPaise(other), "two that rest could be dealt");
    }
    const whole = faces.reduce((sum, face) => sum + face, 0);
    assert.ok((bidFor(world, whole) ?? 0) < (order.limit_bps ?? 0), "the house would take it");
  }
}

/** Any action on any order: done where the table allows it, refused where not. */
function act(world: OrderWorld, order: OrderRow, action: (typeof actions)[number]): void {
  const to = edges[order.state]?.[action];
  if (to === undefined) {
    seen.illegal.add(`${order.state} ${action}`);
    assert.throws(
      () => advance(orderLifecycle, order.state, action),
      (error) => error instanceof Failure && error.code === "conflict",
    );
    return;
  }
  if (action === "match") return; // Only a deal does that; others wait for one.
  if (action === "fail") world.fail(order);
  else world.end(order, action === "cancel" ? "cancelled" : "expired");
  const after = world.orders.get(order.order_id);
  assert.equal(after?.state, order.dealt_paise > 0 && action !== "fail" ? "matched" : to);
}

async function take(world: OrderWorld, { kind, client, size, price, pick }: Step): Promise<void> {
  const firmId = clients[client] ?? "";
  const ofFirm = [...world.credits.values()].filter((credit) => credit.firm_id === firmId);
  const credit = ofFirm[pick % Math.max(1, ofFirm.length)];
  const near = world.card.mid_bps - 45 + price * 8;
  const limited = pick % 3 > 0 ? { limit_bps: near } : {};
  const force = pick % 7 === 0 && pick % 3 > 0 ? ({ time_in_force: "IOC" } as const) : {};
  const terms = { ...limited, ...force };
  switch (kind) {
    case "stock client":
      return void world.addCredit(firmId, size * lakh);
    case "stock house":
      return void world.addCredit(house, size * lakh);
    case "sell credit":
      if (!credit) return;
      return await sell(world, firmId, { side: "sell", scrip_no: credit.scrip_no, ...terms });
    case "sell amount":
      return await sell(world, firmId, {
        side: "sell",
        scheme: "RODTEP",
        face_paise: size * 2 * lakh,
        ...terms,
      });
    case "buy":
      return await buy(world, firmId, {
        side: "buy",
        scheme: "RODTEP",
        requirement_paise: size * 2 * lakh,
        ...terms,
      });
    case "try out":
      return await world.tryOut(firmId, {
        side: "buy",
        scheme: "RODTEP",
        requirement_paise: size * lakh,
      });
    case "act": {
      const orders = [...world.orders.values()];
      const order = orders[pick % Math.max(1, orders.length)];
      const action = actions[size % actions.length];
      if (order && action) act(world, order, action);
      return;
    }
    case "card":
      if (pick % 4 === 0) {
        const state = world.card.state === "open" ? "halted" : "open";
        world.card = { ...world.card, state };
      } else world.card = { ...world.card, mid_bps: 9_850 + price * 5 };
      return;
    case "match":
      return await match(world);
  }
}

/** How every order changed in a step, and whether the table knows it. */
function assertMoves(before: ReadonlyMap<string, OrderRow>, world: OrderWorld): void {
  for (const [orderId, { state }] of world.orders) {
    const from = before.get(orderId)?.state;
    if (from === undefined) {
      seen.born.add(state);
      assert.ok((orderLifecycle.initial as readonly string[]).includes(state));
    } else if (from !== state) {
      seen.moves.add(`${from} ${state}`);
      assert.ok(Object.values(edges[from] ?? {}).includes(state), `${from} became ${state}`);
    }
  }
}

function assertSound(world: OrderWorld): void {
  const legs = world.deals.flatMap((deal) =>
    deal.legs.map((leg) => ({ ...leg, buyer: deal.buyer, buyerBps: deal.buyerBps })),
  );
  assert.equal(new Set(legs.map((leg) => leg.scripNo)).size, legs.length, "sold once");
  for (const { seller, buyer: other, sellerBps, buyerBps } of legs) {
    assert.notEqual(findPan(seller.firmId), findPan(other.firmId));
    const ofClients = seller.orderId !== null && other.orderId !== null;
    if (ofClients) assert.ok(buyerBps - sellerBps >= margin, "the house keeps its margin");
  }
  const sold = new Set(legs.map((leg) => leg.scripNo));
  const resting = new Set(world.resting("sell").flatMap((order) => order.resting_scrip_nos));
  for (const { scrip_no, state } of world.credits.values()) {
    const places = [state === "listed", sold.has(scrip_no), resting.has(scrip_no)];
    assert.equal(places.filter(Boolean).length, 1, `${scrip_no} is in one place`);
  }
  const offered = world.offered().filter((no) => world.findCredit(no).firm_id !== house);
  assert.deepEqual(new Set(offered), resting, "the book offers what rests");
  for (const order of world.orders.values()) {
    const own = legs.filter((leg) =>
      order.side === "sell"
        ? leg.seller.orderId === order.order_id
        : leg.buyer.orderId === order.order_id,
    );
    const bps = own.map((leg) => (order.side === "sell" ? leg.sellerBps : leg.buyerBps));
    assert.ok(
      bps.every((each) => each === order.price_bps),
      "one price",
    );
    const paid = own.reduce(
      (sum, leg) => sum + (order.side === "sell" ? leg.sellerPaise : leg.buyerPaise),
      0,
    );
    const exact = (order.dealt_paise * (order.price_bps ?? 0)) / 10_000;
    assert.equal(paid, order.side === "sell" ? Math.floor(exact) : Math.ceil(exact));
    assert.equal(order.all_in_paise, paid);
    assert.equal(new Set(order.settlement_ids).size, order.settlement_ids.length);
    if (order.limit_bps === null || order.price_bps === null) continue;
    const isWithin =
      order.side === "sell"
        ? order.price_bps >= order.limit_bps
        : order.price_bps <= order.limit_bps;
    assert.ok(isWithin, "no worse than its limit");
  }
}

/** Sequences of steps in new worlds, each step held to the model. */
function sequencesIn(newWorld: () => OrderWorld) {
  const steps = fc.array(step, { minLength: 6, maxLength: stepsMax });
  return fc.asyncProperty(steps, async (taken) => {
    const world = newWorld();
    clients.forEach((firmId, n) => world.addCredit(firmId, (n + 1) * lakh));
    world.addCredit(house, 2 * lakh);
    for (const each of taken) {
      const before = new Map(world.orders);
      await take(world, each);
      assertMoves(before, world);
      assertSound(world);
    }
    await match(world);
    assertSound(world);
  });
}

test("orders deal as the model says, for any sequence of acts", async (t) => {
  await fc.assert(
    sequencesIn(() => new OrderWorld()),
    { numRuns: sequences },
  );
  t.diagnostic(JSON.stringify(Object.fromEntries(seen.outcomes)));
  assert.deepEqual(seen.born, new Set(orderLifecycle.initial));
  const legal = Object.entries(edges).flatMap(([from, moves]) =>
    Object.values(moves).map((to) => `${from} ${to}`),
  );
  assert.deepEqual(seen.moves, new Set(legal), "every edge was hit");
  const illegal = orderStates.flatMap((state) =>
    actions.filter((action) => !edges[state]?.[action]).map((action) => `${state} ${action}`),
  );
  assert.deepEqual(seen.illegal, new Set(illegal), "every illegal edge was hit");
  assert.ok(seen.outcomes.size >= 12, "every kind of outcome came up");
});

/** Worlds in which one rule does not hold. */
const defects: Readonly<Record<string, () => OrderWorld>> = {
  "the worst buy is served first": () =>
    new (class extends OrderWorld {
      override resting(side: "sell" | "buy"): OrderRow[] {
        return super.resting(side).toReversed();
      }
    })(),
  "the house keeps no margin": () => {
    const world = new OrderWorld();
    world.card = { ...world.card, margin_bps: 0 };
    return world;
  },
  "what is sold stays in the book": () =>
    new (class extends OrderWorld {
      override leaveBook(): void {}
    })(),
};

for (const [defect, newWorld] of Object.entries(defects)) {
  test(`control: the model sees that ${defect}`, async () => {
    const { failed } = await fc.check(sequencesIn(newWorld), {
      numRuns: sequences,
      endOnFailure: true,
    });
    assert.ok(failed);
  });
}
