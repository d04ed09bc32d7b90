// Colluding desks against the house. They do whatever the API lets them, in random order and in the
// sequences that paid once: quote, rest, cancel, withdraw, declare again with other facts, order one
// by one and in batches, buy, sell by amount, cross, while cards stand still or move. Afterwards every
// deal is valued by the card that priced it, from the stored rows alone: together the clients never
// have more than before, and the house has what its spreads and fees explain, to the paisa.

import { addDays, istDay } from "../../src/kernel/time.ts";
import { addCard } from "../support/cards.ts";
import { addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { payIn } from "../support/ledger.ts";
import { type Random, seededRandom } from "../support/random.ts";
import type { Answer, Service } from "../support/service.ts";
import { type Balance, valueDeals } from "./economy-value.ts";

export type EconomySettings = {
  readonly steps: number;
  readonly seed: number;
  /** Whether the house publishes cards while the desks deal. */
  readonly cardsMove: boolean;
  /** Lets a quote bind its numbers and price only, whatever became of its credits. */
  readonly bindsNumbersOnly?: boolean;
  readonly onProgress?: (steps: number) => void;
};

export type EconomyReport = Balance & {
  /** How often each status answered each action. */
  readonly answers: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
};

const scheme = "RODTEP";
const desksCount = 3;
const firmsOfDesk = 2;
const workEvery = 25;
/** Its cost grows with every entry; the books are checked when the run is over. */
const readsWholeLedger = ["ledger-check"];
const restockEvery = 100;
const kept = 40;
const lives = [31, 34, 45, 61, 100, 200, 364, 365, 400, 700] as const;
/** Around the bounds of the size bands, and away from them. */
const faces = [
  100_001, 4_999_999, 5_000_000, 9_900_000, 24_000_000, 49_999_999, 120_000_000, 250_000_000,
  700_000_000, 1_000_000_000, 1_234_567_890,
] as const;
const limits = [9_300, 9_600, 9_700, 9_790, 9_830, 9_860, 9_900, 9_950, 10_000] as const;

type Trader = {
  readonly key: string;
  readonly firmId: string;
  readonly iec: string;
  readonly groupId: string;
};
type Facts = { readonly scripNo: string; readonly facePaise: number; readonly daysLeft: number };
type Held = { readonly trader: Trader; readonly scripNo: string };
type Ref = { readonly trader: Trader; readonly ref: string };
type Deal = Ref & { readonly termsHash: string; readonly other: Trader };

/** Everything the desks remember of what they did. */
class Gang {
  readonly answers: Record<string, number> = {};
  readonly faults: string[] = [];
  readonly quotes: Ref[] = [];
  readonly orders: Ref[] = [];
  readonly crosses: Deal[] = [];
  readonly withdrawn: Held[] = [];
  held: Held[] = [];
  steps = 0;
  #numbers = 0;

  readonly service: Service;
  readonly random: Random;
  readonly traders: readonly Trader[];
  readonly bindsNumbersOnly: boolean;

  constructor(service: Service, how: Pick<Gang, "random" | "traders" | "bindsNumbersOnly">) {
    this.service = service;
    this.random = how.random;
    this.traders = how.traders;
    this.bindsNumbersOnly = how.bindsNumbersOnly;
  }

  async call(action: string, trader: Trader, path: string, body: object): Promise<Answer> {
    this.steps++;
    const answer = await this.service.send("POST", path, { key: trader.key, body });
    const why = answer.body?.detail?.reason ?? answer.body?.reason ?? "";
    const name = `${action} ${answer.status} ${why}`.trim();
    this.answers[name] = (this.answers[name] ?? 0) + 1;
    if (answer.status >= 500) this.faults.push(`${action}: ${answer.text}`);
    return answer;
  }

  async declare(trader: Trader, known: Partial<Facts> = {}): Promise<void> {
    const facts: Facts = {
      scripNo: `ECO-${String(++this.#numbers).padStart(7, "0")}X`,
      facePaise: this.random.pick(faces),
      daysLeft: this.random.pick(lives),
      ...known,
    };
    const today = istDay(this.service.clock.now());
    const credit = {
      scrip_no: facts.scripNo,
      scheme,
      face_paise: facts.facePaise,
      issued_on: addDays(today, -30),
      expires_on: addDays(today, facts.daysLeft),
    };
    const path = `/v1/firms/${trader.firmId}/credits`;
    const { body } = await this.call("declare", trader, path, { credits: [credit] });
    if (body?.results?.[0]?.ok) this.held.push({ trader, scripNo: facts.scripNo });
  }

  async withdraw(held: Held): Promise<void> {
    const path = `/v1/credits/${held.scripNo}/withdraw`;
    const { status } = await this.call("withdraw", held.trader, path, {});
    if (status !== 200) return;
    this.held = this.held.filter(({ scripNo }) => scripNo !== held.scripNo);
    remember(this.withdrawn, held);
  }

  async quote(trader: Trader, wanted: object) {
    const { body } = await this.call("quote", trader, "/v1/quote", wanted);
    if (!body?.quote_ref) return undefined;
    const ref: string = body.quote_ref;
    remember(this.quotes, { trader, ref });
    return { ref, facePaise: Number(body.face_paise) };
  }

  async order(trader: Trader, fields: object): Promise<string | undefined> {
    if ("quote_ref" in fields) await this.rebind(String(fields.quote_ref));
    const body = { ...fields, firm_id: trader.firmId };
    const answer = await this.call("order", trader, "/v1/orders", body);
    const ref = answer.body?.order_id as string | undefined;
    if (ref !== undefined && answer.body.status === "open") remember(this.orders, { trader, ref });
    return ref;
  }

  async cancel({ trader, ref }: Ref): Promise<void> {
    await this.call("cancel", trader, `/v1/orders/${ref}/cancel`, {});
  }

  /** The defect: what the quote was priced on is replaced by what there is now. */
  async rebind(quoteRef: string): Promise<void> {
    if (!this.bindsNumbersOnly) return;
    await this.service.ctx.db.pool.query(
      `update quotes as q
      set credit_id = c.credit_id, expires_on = c.expires_on
      from credits as c
      where q.quote_ref = $1 and c.scrip_no = q.scrip_no and c.firm_id = q.firm_id
        and c.state = 'listed' and c.face_paise = q.face_paise`,
      [quoteRef],
    );
  }
}

function remember<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > kept) items.shift();
}

type Act = (gang: Gang) => Promise<void>;

/** Single moves, and the sequences of them that once paid. */
const acts: readonly (readonly [weight: number, act: Act])[] = [
  [6, async (gang) => await gang.declare(gang.random.pick(gang.traders))],
  [4, async (gang) => await actOnHeld(gang, (held) => gang.withdraw(held))],
  [3, declareAgain],
  [8, quoteSomething],
  [10, orderOnQuote],
  [6, orderAtMarket],
  [6, restSomething],
  [5, async (gang) => await actOnAny(gang, gang.orders, (ref) => gang.cancel(ref))],
  [3, orderBatch],
  [4, swapOffer],
  [4, swapFacts],
  [3, buySmallSellLarge],
  [3, proposeCross],
  [6, actOnCross],
  [2, netGroup],
  [
    2,
    async ({ service, random, traders }) =>
      await payIn(service, random.pick(traders).firmId, 50_000_000),
  ],
];

async function actOnAny<Item>(
  { random }: Gang,
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  if (items.length > 0) await act(random.pick(items));
}

async function actOnHeld(gang: Gang, act: (held: Held) => Promise<unknown>): Promise<void> {
  await actOnAny(gang, gang.held, act);
}

async function declareAgain(gang: Gang): Promise<void> {
  await actOnAny(gang, gang.withdrawn, async ({ trader, scripNo }) => {
    // Sometimes another firm says that it holds the number now.
    const by = gang.random.below(4) === 0 ? gang.random.pick(gang.traders) : trader;
    await gang.declare(by, { scripNo });
  });
}

function buyWanted({ random }: Gang) {
  return { side: "buy", scheme, requirement_paise: random.pick(faces) + random.below(2) };
}

function sellAmount({ random }: Gang) {
  return { side: "sell", scheme, face_paise: random.pick(faces) };
}

async function quoteSomething(gang: Gang): Promise<void> {
  const trader = gang.random.pick(gang.traders);
  const kind = gang.random.below(3);
  if (kind === 0) await gang.quote(trader, buyWanted(gang));
  else if (kind === 1) await gang.quote(trader, sellAmount(gang));
  else
    await actOnHeld(gang, (held) =>
      gang.quote(held.trader, { side: "sell", scrip_no: held.scripNo }),
    );
}

async function orderOnQuote(gang: Gang): Promise<void> {
  await actOnAny(gang, gang.quotes, ({ trader, ref }) => gang.order(trader, { quote_ref: ref }));
}

async function orderAtMarket(gang: Gang): Promise<void> {
  const trader = gang.random.pick(gang.traders);
  const kind = gang.random.below(3);
  if (kind === 0) await gang.order(trader, buyWanted(gang));
  else if (kind === 1) await gang.order(trader, sellAmount(gang));
  else
    await actOnHeld(gang, (held) =>
      gang.order(held.trader, { side: "sell", scrip_no: held.scripNo }),
    );
}

async function restSomething(gang: Gang): Promise<void> {
  const terms = { limit_bps: gang.random.pick(limits), time_in_force: "GTC" };
  const trader = gang.random.pick(gang.traders);
  const kind = gang.random.below(3);
  if (kind === 0) await gang.order(trader, { ...buyWanted(gang), ...terms });
  else if (kind === 1) await gang.order(trader, { ...sellAmount(gang), ...terms });
  else {
    await actOnHeld(gang, (held) =>
      gang.order(held.trader, { side: "sell", scrip_no: held.scripNo, ...terms }),
    );
  }
}

/** Orders of one desk together, among them what cannot be had any more. */
async function orderBatch(gang: Gang): Promise<void> {
  const trader = gang.random.pick(gang.traders);
  const own = gang.quotes.filter((quote) => quote.trader.key === trader.key).slice(-4);
  for (const { ref } of own) await gang.rebind(ref);
  const orders = [
    ...own.map(({ ref }) => ({ quote_ref: ref })),
    buyWanted(gang),
    { ...sellAmount(gang), firm_id: trader.firmId },
  ];
  const { body } = await gang.call("batch", trader, "/v1/orders:batch", { orders });
  for (const { status, error } of body?.results ?? []) {
    if (status >= 500) gang.faults.push(`batch item: ${JSON.stringify(error)}`);
  }
}

/** A cheap offer is quoted and replaced by a dear one. */
async function swapOffer(gang: Gang): Promise<void> {
  await actOnHeld(gang, async ({ trader, scripNo }) => {
    const sale = { side: "sell", scrip_no: scripNo };
    const cheap = await gang.order(trader, { ...sale, limit_bps: gang.random.pick(limits) });
    const buyer = gang.random.pick(gang.traders);
    const quoted = await gang.quote(buyer, buyWanted(gang));
    if (cheap !== undefined) await gang.cancel({ trader, ref: cheap });
    await gang.order(trader, { ...sale, limit_bps: gang.random.pick(limits) });
    if (quoted) await gang.order(buyer, { quote_ref: quoted.ref });
  });
}

/** A credit is quoted, taken out and put in again as another one. */
async function swapFacts(gang: Gang): Promise<void> {
  await actOnHeld(gang, async (held) => {
    const { trader, scripNo } = held;
    const quoted = await gang.quote(trader, { side: "sell", scrip_no: scripNo });
    if (!quoted) return;
    await gang.withdraw(held);
    const kept = gang.random.below(2) === 0 && { facePaise: quoted.facePaise, daysLeft: 34 };
    await gang.declare(trader, { scripNo, ...kept });
    await gang.order(trader, { quote_ref: quoted.ref });
  });
}

async function buySmallSellLarge(gang: Gang): Promise<void> {
  const trader = gang.random.pick(gang.traders);
  for (let bought = 0; bought < 3; bought++) {
    const requirement_paise = 4_000_000 + gang.random.below(900_000);
    await gang.order(trader, { side: "buy", scheme, requirement_paise });
  }
  gang.service.clock.advance({ seconds: 5 });
  await gang.service.work(readsWholeLedger);
  await gang.order(trader, { side: "sell", scheme, face_paise: 1_200_000_000 });
}

async function proposeCross(gang: Gang): Promise<void> {
  await actOnHeld(gang, async ({ trader, scripNo }) => {
    const other = gang.random.pick(gang.traders);
    const terms = {
      kind: "block",
      side: "sell",
      firm_id: trader.firmId,
      counterparty_iec: other.iec,
      scrip_nos: [scripNo],
      price_bps: gang.random.pick(limits),
    };
    const { body } = await gang.call("cross quote", trader, "/v1/cross/quote", terms);
    const cross_quote_ref = body?.cross_quote_ref;
    if (cross_quote_ref === undefined) return;
    const proposed = await gang.call("propose", trader, "/v1/cross", { cross_quote_ref });
    const { cross_id: ref, terms_hash: termsHash } = proposed.body ?? {};
    if (ref !== undefined) remember(gang.crosses, { trader, other, ref, termsHash });
  });
}

async function actOnCross(gang: Gang): Promise<void> {
  await actOnAny(gang, gang.crosses, async ({ trader, other, ref, termsHash }) => {
    const path = `/v1/cross/${ref}`;
    const move = gang.random.below(4);
    if (move === 0) await gang.call("accept", other, `${path}/accept`, { terms_hash: termsHash });
    else if (move === 1) await gang.call("fund", other, `${path}/fund`, { payment_ref: "PAY-1" });
    else if (move === 2) await gang.call("release", trader, `${path}/release`, {});
    else await gang.call("cancel cross", gang.random.pick([trader, other]), `${path}/cancel`, {});
  });
}

/** One firm of a group owes duty, and takes what another one holds. */
async function netGroup(gang: Gang): Promise<void> {
  const { random, traders, service } = gang;
  const trader = random.pick(traders);
  const due_on = addDays(istDay(service.clock.now()), 20);
  const reference = `Duty ${gang.steps}`;
  const duty = { scheme, amount_paise: random.pick(faces), due_on, reference };
  await gang.call("require", trader, `/v1/firms/${trader.firmId}/requirements`, duty);
  const path = `/v1/groups/${trader.groupId}/netting`;
  const { body } = await service.send("GET", path, { key: trader.key });
  const named = { netting_ref: body?.netting_ref };
  if (random.below(3) === 0) await actOnHeld(gang, (held) => gang.withdraw(held));
  const crossed = await gang.call("net", trader, `${path}/crosses`, named);
  for (const { cross_id: ref, from_firm_id, to_firm_id } of crossed.body?.crosses ?? []) {
    const seller = traders.find(({ firmId }) => firmId === from_firm_id);
    const buyer = traders.find(({ firmId }) => firmId === to_firm_id);
    if (!seller || !buyer) continue;
    remember(gang.crosses, { trader: seller, other: buyer, ref, termsHash: "" });
    await gang.call("fund", buyer, `/v1/cross/${ref}/fund`, { payment_ref: "PAY-2" });
    await gang.call("release", seller, `/v1/cross/${ref}/release`, {});
  }
}

async function assemble(service: Service): Promise<Trader[]> {
  const traders: Trader[] = [];
  for (let desk = 0; desk < desksCount; desk++) {
    const { api_key: key, firm_id: deskId } = await service.issue();
    const group = { key, body: { name: `Group ${desk}` }, expect: 201 };
    const groupId: string = (await service.send("POST", "/v1/groups", group)).body.group_id;
    for (let firm = 0; firm < firmsOfDesk; firm++) {
      const firmId = await addFirm(service, { deskId });
      const member = `/v1/groups/${groupId}/members/${firmId}`;
      await service.send("PUT", member, { key, body: {}, expect: 200 });
      const { body } = await service.send("GET", `/v1/firms/${firmId}`, { key, expect: 200 });
      traders.push({ key, firmId, iec: body.iec, groupId });
    }
  }
  return traders;
}

/** What each client holds freely, also what it bought. */
async function lookAtHoldings({ service, traders }: Gang): Promise<Held[]> {
  const { rows } = await service.ctx.db.pool.query<{ scrip_no: string; firm_id: string }>(
    "select scrip_no, firm_id from credits where state = 'listed' order by scrip_no",
  );
  return rows.flatMap(({ scrip_no, firm_id }) => {
    const trader = traders.find(({ firmId }) => firmId === firm_id);
    return trader ? [{ trader, scripNo: scrip_no }] : [];
  });
}

/** Crosses of any size, so that most of what the desks hold can be crossed. */
export const economyOptions = { blockMinPaise: 1 } as const;

export async function runEconomy(
  service: Service,
  { steps, seed, cardsMove, bindsNumbersOnly = false, onProgress }: EconomySettings,
): Promise<EconomyReport> {
  const random = seededRandom(seed);
  const gang = new Gang(service, { random, traders: await assemble(service), bindsNumbersOnly });
  const total = acts.reduce((sum, [weight]) => sum + weight, 0);
  const pick = (): Act => {
    let at = random.below(total);
    return (acts.find(([weight]) => (at -= weight) < 0) ?? acts[0])?.[1] ?? quoteSomething;
  };
  for (let turn = 0; gang.steps < steps; turn++) {
    if (turn % restockEvery === 0) {
      await stockHouse(
        service.ctx,
        faces.slice(0, 8).map((face_paise) => ({ face_paise })),
      );
    }
    service.clock.advance({ ms: 50 + random.below(2_000) });
    if (cardsMove && random.below(40) === 0) {
      await addCard(service, { midBps: 9_700 + random.below(200) });
      service.clock.advance({ ms: 1 });
    }
    if (turn % workEvery === 0) {
      await service.work(readsWholeLedger);
      gang.held = await lookAtHoldings(gang);
      onProgress?.(gang.steps);
    }
    await pick()(gang);
  }
  service.clock.advance({ seconds: 60 });
  await service.work();
  const { answers, faults } = gang;
  return { answers, faults, ...(await valueAll(service)) };
}

/** All deals of a long run take longer to read than a statement of the service may. */
async function valueAll({ ctx }: Service): Promise<Balance> {
  const client = await ctx.db.pool.connect();
  try {
    await client.query("set statement_timeout = 0");
    return await valueDeals(client);
  } finally {
    client.release(true);
  }
}
