// The steps of the model test of settlement: each is taken in the world and in the model, and whether
// it was done must be the same in both.

import assert from "node:assert/strict";

import fc from "fast-check";

import { Failure } from "../../src/kernel/failure.ts";
import { advance } from "../../src/kernel/lifecycle.ts";
import { movePayout } from "../../src/payouts/move-payout.ts";
import { payoutLifecycle } from "../../src/payouts/rules.ts";
import { moveSettlement } from "../../src/settlement/move-settlement.ts";
import type { NewDeal } from "../../src/settlement/open-settlements.ts";
import { legLifecycle, settlementLifecycle } from "../../src/settlement/rules.ts";
import type { SettlementRow } from "../../src/settlement/store.ts";
import {
  type Edges,
  legEdges,
  type ModelLeg,
  payoutEdges,
  settlementEdges,
  type SettlementModel,
} from "./settlement-model.ts";
import { clients, environment, house, type SettlementWorld, toDesk } from "./settlement-world.ts";

export const settlementActions = toKeys(settlementLifecycle.moves);
export const legActions = toKeys(legLifecycle.moves);
export const payoutActions = toKeys(payoutLifecycle.moves);

/** From a paisa, whose price is nothing, to what goes by RTGS. */
const faces = [1, 7, 99_999, 5_000_001, 30_000_007] as const;
/** What clients begin with and pay in: nothing that reaches, something, or enough for large deals. */
const purses = [5, 200_000, 8_000_000, 60_000_000] as const;
const dealKinds = ["sale", "purchase", "between clients", "bundle", "cross"] as const;
const weights = {
  deal: 2,
  "pay in": 1,
  "look for money": 1,
  "miss money": 1,
  wait: 1,
  "go on": 7,
  settlement: 4,
  leg: 5,
  "pay out": 3,
  payout: 6,
  resend: 1,
  "lose credit": 1,
  hold: 3,
} as const;

type Step = {
  readonly kind: keyof typeof weights;
  readonly deal: (typeof dealKinds)[number];
  readonly client: number;
  readonly faces: readonly number[];
  readonly pick: number;
  readonly action: number;
};

export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...toKeys(weights).flatMap((kind) => Array(weights[kind]).fill(kind))),
  deal: fc.constantFrom(...dealKinds),
  client: fc.nat({ max: clients.length - 1 }),
  faces: fc.array(fc.constantFrom(...faces), { minLength: 1, maxLength: 4 }),
  pick: fc.nat({ max: 1_000 }),
  action: fc.nat({ max: 8 }),
});

export type Worlds = { readonly world: SettlementWorld; readonly model: SettlementModel };

/** What the sequences have come by, so that none of it is left untested by chance. */
export const seen = {
  born: new Set<string>(),
  moves: new Set<string>(),
  illegal: new Set<string>(),
  outcomes: new Map<string, number>(),
};
export const note = (outcome: string) => {
  seen.outcomes.set(outcome, (seen.outcomes.get(outcome) ?? 0) + 1);
};

function toKeys<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[];
}

/** Whether it was done; only a refusal that a caller would be told is a no. */
function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") return false;
    throw error;
  }
}

/** Notes that an action is tried where the table has no edge for it, and that it is refused. */
function tryIllegal(edges: Edges, noun: string, state: string, action: string, move: () => void) {
  if (edges[state]?.[action] !== undefined) return;
  seen.illegal.add(`${noun} ${state} ${action}`);
  assert.equal(attempt(move), false, `a ${noun} that is ${state} allows ${action}`);
}

function sellersFor(kind: Step["deal"], buyer: string, at: number): string {
  const others = clients.filter((firm) => firm !== buyer);
  if (kind === "purchase" || (kind === "bundle" && at % 2 === 0)) return house;
  return others[kind === "cross" ? 0 : at % others.length] ?? house;
}

/** The sums of a leg; a sale is to the house, which has one price. */
function computeLegSums(kind: Step["deal"], face: number) {
  const bid = Math.floor((face * 9_600) / 10_000);
  const ask = Math.ceil((face * 9_850) / 10_000);
  const fee = kind === "cross" ? Math.floor(face / 1_000) : 0;
  const tax = Math.floor((fee * 18) / 100);
  const each = { feePaise: fee, gstPaise: tax };
  const pays = kind === "sale" ? bid : ask + fee + tax;
  const gets = kind === "cross" ? ask - fee - tax : bid;
  return { pays, gets, fee: 2 * fee, tax: 2 * tax, fees: { buyer: each, seller: each } };
}

function agree({ world, model }: Worlds, { deal: kind, client, faces: wanted, pick }: Step): void {
  const firm = clients[client] ?? house;
  const buyer = kind === "sale" ? house : firm;
  const n = model.deals.length;
  const party = (firmId: string) => {
    const hasOrder = firmId !== house && kind !== "cross";
    return { deskId: toDesk(firmId), firmId, orderId: hasOrder ? `ord_${firmId}_${n}` : null };
  };
  const chosen = new Set<string>();
  const legs = wanted.map((face, at) => {
    const seller = kind === "sale" ? firm : sellersFor(kind, buyer, at);
    const scripNo = chooseCredit(
      { world, model },
      { seller, face, isFresh: pick % 2 === 0, chosen },
    );
    chosen.add(scripNo);
    const { facePaise } = world.shelf.findCredit(scripNo);
    return { scripNo, seller, face: facePaise, ...computeLegSums(kind, facePaise) };
  });
  const origin = kind === "cross" ? `crs_${world.books.journal.length}` : `ord_${buyer}_${n}`;
  const newDeal: NewDeal = {
    settlementId: `stl_${String(n).padStart(5, "0")}`,
    environment,
    scheme: "RODTEP",
    origin,
    originKind: kind === "cross" ? "cross" : "order",
    buyer: party(buyer),
    buyerBps: 9_850,
    ...(kind === "cross" && { escrow: { environment, kind: "cross_escrow", subject: origin } }),
    legs: legs.map(({ scripNo, seller, face, pays, gets, fees }) => ({
      scripNo,
      creditId: `crd_${scripNo}`,
      seller: party(seller),
      facePaise: face,
      sellerBps: 9_600,
      sellerPaise: gets,
      buyerPaise: pays,
      fees,
    })),
  };
  const modelLegs = legs.map((leg): ModelLeg => ({ ...leg, state: "pending" }));
  const made = model.agree({ buyer, isCross: kind === "cross", legs: modelLegs });
  assert.equal(
    attempt(() => world.agree(newDeal)),
    made,
  );
  note(`${kind} ${made ? model.deals.at(-1)?.state : "refused"}`);
}

/** A credit of the seller's: one that came to it before if there is one, or a new one. */
function chooseCredit(
  { world, model }: Worlds,
  of: { seller: string; face: number; isFresh: boolean; chosen: ReadonlySet<string> },
): string {
  const own = [...world.shelf.credits].find(
    ([scripNo, { firmId, state }]) =>
      firmId === of.seller && state === "listed" && !of.chosen.has(scripNo),
  );
  if (own && !of.isFresh) return own[0];
  const scripNo = world.shelf.add(of.seller, of.face);
  model.addCredit(scripNo, of.seller);
  return scripNo;
}

/** Any action on any settlement, as whoever makes that move does it. */
function actOnSettlement({ world, model }: Worlds, at: number, action: string): void {
  const deal = model.deals[at];
  const row = [...world.settlements.values()][at];
  if (!deal || !row) return;
  const { settlement_id: id } = row;
  tryMoves(row, action);
  const doings: Record<string, [() => void, () => boolean | void]> = {
    fund: [() => world.fund(id), () => model.fund(deal)],
    initiate: [() => world.initiate(id), () => model.initiate(deal)],
    fail: [() => world.fail(id), () => model.fail(deal)],
    reverse: [() => world.reverse(id), () => model.reverse(deal)],
  };
  const [act, expect] = doings[action] ?? [
    () => deal.legs.forEach((leg) => world.answer(id, leg.scripNo, "transferred")),
    () => deal.legs.forEach((leg) => model.answer(deal, leg, "transferred")),
  ];
  const before = { state: deal.state, dues: model.dues };
  const done = attempt(act);
  assert.equal(done, expect() ?? true);
  if (before.state !== "settled" || action !== "reverse") return;
  if (model.dues < before.dues) note("reversed, and a seller owes");
  else note(done ? "reversed" : "not reversible");
}

export function tryMoves(row: SettlementRow, action: string): void {
  tryIllegal(settlementEdges, "settlement", row.state, action, () =>
    moveSettlement(row, action as "settle", { now: row.updated_at }),
  );
}

export function payIn({ world, model }: Worlds, firm: string, pick: number): void {
  const paise = purses[pick % purses.length] ?? 0;
  world.payIn(firm, paise);
  model.payIn(firm, paise);
}

const nextOf: Readonly<Record<string, string>> = {
  pending: "fund",
  funded: "initiate",
  transfer_initiated: "confirm",
  settled: "reverse",
};

/** A settlement that is open takes the step that it waits for; when none is, one may be undone. */
function goOn(worlds: Worlds, pick: number): void {
  const { deals } = worlds.model;
  const settled = deals.filter(({ state }) => state === "settled");
  const open = deals.filter((deal) => nextOf[deal.state] !== undefined && !settled.includes(deal));
  const going = open.length === 0 && pick % 4 === 0 ? settled : open;
  const deal = going[pick % Math.max(1, going.length)];
  if (!deal) return;
  actOnSettlement(worlds, deals.indexOf(deal), nextOf[deal.state] ?? "");
}

/** A payout that is not over goes to the bank, whatever holds it having ended, or has arrived there. */
function payOut({ world, model }: Worlds, pick: number): void {
  const unfinished = model.payouts.filter(({ state }) => state !== "paid" && state !== "returned");
  const payout = unfinished[pick % Math.max(1, unfinished.length)];
  if (!payout) return;
  const id = [...world.payouts.keys()][model.payouts.indexOf(payout)] ?? "";
  if (payout.state === "held") {
    world.ledgerSound = model.booksHold = true;
    for (const firms of [world.heldFirms, model.stoppedFirms]) firms.delete(payout.firm);
  }
  if (model.bankSays(payout, "paid")) world.bankSays(id, "paid");
  else if (model.look(payout)) world.look(id);
}

/** What the parties do with a leg, which in the sandbox they do at once. */
function isStep(doing: (typeof legActions)[number]): boolean {
  return ["fund", "initiate", "accept", "miss"].includes(doing);
}

/** Any action on any leg: customs, or the loss of its credit, speaks about this one only. */
function actOnLeg({ world, model }: Worlds, { pick, action }: Step): void {
  const legs = model.deals.flatMap((deal, at) => deal.legs.map((leg) => ({ at, deal, leg })));
  const chosen = legs[pick % Math.max(1, legs.length)];
  const doing = legActions[action % legActions.length];
  const id = [...world.settlements.keys()][chosen?.at ?? 0];
  if (!chosen || !doing || id === undefined) return;
  const { deal, leg, at } = chosen;
  tryIllegal(legEdges, "leg", leg.state, doing, () =>
    advance(legLifecycle, leg.state as "pending", doing),
  );
  if (isStep(doing)) return actOnSettlement({ world, model }, at, "initiate");
  if (doing === "fail" && leg.state === "pending") {
    if (model.credits.get(leg.scripNo)?.isStopped) return;
    world.takeAway(id, leg.scripNo);
    return model.takeAway(deal, leg);
  }
  const refusal = action > 2 ? "suspended" : "refused";
  const outcome = doing === "deliver" ? "transferred" : refusal;
  world.answer(id, leg.scripNo, outcome);
  model.answer(deal, leg, outcome);
}

/** Any action on any payout; a look holds, releases or sends it, as things are. */
function actOnPayout({ world, model }: Worlds, { pick, action }: Step): void {
  const at = pick % Math.max(1, model.payouts.length);
  const payout = model.payouts[at];
  const row = [...world.payouts.values()][at];
  const doing = payoutActions[action % payoutActions.length];
  if (!payout || !row || !doing) return;
  const id = row.payout_id;
  tryIllegal(payoutEdges, "payout", row.state, doing, () =>
    movePayout(row, doing, { now: world.now }),
  );
  const says = { confirm: "paid", return: "returned" } as const;
  if (doing === "confirm" || doing === "return") {
    const done = attempt(() => world.bankSays(id, says[doing]));
    return assert.equal(done, model.bankSays(payout, says[doing]));
  }
  const byFile = { instruct: "instruct", void: "voidFile", bounce: "bounce" } as const;
  if (doing === "instruct" || doing === "void" || doing === "bounce") {
    const done = attempt(() => world[byFile[doing]](id));
    return assert.equal(done, model[byFile[doing]](payout));
  }
  if (doing === "recall") {
    return assert.equal(
      attempt(() => world.recall(id)),
      model.recall(payout),
    );
  }
  // No look finds what is no longer here.
  if (model.look(payout)) world.look(id);
}

function resend({ world, model }: Worlds, { pick }: Step): void {
  const at = pick % Math.max(1, model.payouts.length);
  const payout = model.payouts[at];
  const id = [...world.payouts.keys()][at];
  if (!payout || id === undefined) return;
  const done = model.resend(payout);
  assert.equal(
    attempt(() => world.resend(id)),
    done,
  );
  note(done ? "sent again" : `not sent again: ${payout.state}`);
}

/** A credit is lost to a deal that nobody tells, while it waits for its money or its transfer. */
function loseCredit({ world, model }: Worlds, { pick }: Step): void {
  const waiting = model.deals
    .filter(({ state }) => state === "pending" || state === "funded")
    .flatMap(({ legs }) => legs.filter((leg) => leg.state === "pending"))
    .filter(({ scripNo }) => !model.credits.get(scripNo)?.isStopped);
  const leg = waiting[pick % Math.max(1, waiting.length)];
  if (!leg) return;
  world.loseCredit(leg.scripNo);
  model.stopCredit(leg.scripNo);
}

/** Something that keeps payouts here begins or ends. */
function hold({ world, model }: Worlds, { client, pick }: Step): void {
  const firm = clients[client] ?? "";
  if (pick % 5 === 0) world.bankUp = model.bankUp = !model.bankUp;
  else if (pick % 5 === 1) world.ledgerSound = model.booksHold = !model.booksHold;
  else {
    for (const firms of [world.heldFirms, model.stoppedFirms]) {
      if (!firms.delete(firm)) firms.add(firm);
    }
  }
}

export function take(worlds: Worlds, taken: Step): void {
  const { world, model } = worlds;
  const { kind, client, pick, action } = taken;
  const at = pick % Math.max(1, model.deals.length);
  switch (kind) {
    case "deal":
      return agree(worlds, taken);
    case "pay in": {
      return payIn(worlds, clients[client] ?? "", pick);
    }
    case "look for money":
      world.fundFromBalances();
      return model.fundFromBalances();
    case "miss money": {
      const id = [...world.settlements.keys()][at];
      const deal = model.deals[at];
      if (id === undefined || !deal) return;
      world.missMoney(id);
      return model.missMoney(deal);
    }
    case "wait":
      world.passTime(10 + (pick % 4) * 10);
      model.second += 10 + (pick % 4) * 10;
      world.failOverdue();
      return model.failOverdue();
    case "settlement":
      return actOnSettlement(worlds, at, settlementActions[action % 6] ?? "");
    case "go on":
      return goOn(worlds, pick);
    case "pay out":
      return payOut(worlds, pick);
    case "leg":
      return actOnLeg(worlds, taken);
    case "payout":
      return actOnPayout(worlds, taken);
    case "resend":
      return resend(worlds, taken);
    case "lose credit":
      return loseCredit(worlds, taken);
    case "hold":
      return hold(worlds, taken);
  }
}
