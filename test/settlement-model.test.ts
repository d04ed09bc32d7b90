// Settlement against a model. Sequences of deals, money, answers, deadlines, failures, reversals and
// payouts run through the deciding functions of the service and of its books; beside them a model that
// shares nothing with them says, in plain numbers, what must come of each step.
//
//   an action   is tried in every state: done where the table allows it, and nothing where not
//   the books   sum to zero, take nothing that is not there, and end each pending entry once
//   a deal      that ended has moved what was delivered to the paisa, and holds nothing back
//   a credit    has one owner

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { readSteps } from "../src/kernel/lifecycle.ts";
import { addPaise } from "../src/kernel/money.ts";
import type { BookChanges } from "../src/ledger/write-books.ts";
import { payoutLifecycle } from "../src/payouts/rules.ts";
import type { PayoutRow } from "../src/payouts/store.ts";
import type { NewDeal } from "../src/settlement/open-settlements.ts";
import { legLifecycle, settlementLifecycle } from "../src/settlement/rules.ts";
import type { SettlementRow } from "../src/settlement/store.ts";
import {
  type Edges,
  legEdges,
  payoutEdges,
  settlementEdges,
  SettlementModel,
} from "./support/settlement-model.ts";
import { assertSound, describeWorld } from "./support/settlement-sound.ts";
import {
  legActions,
  note,
  payIn,
  payoutActions,
  seen,
  settlementActions,
  step,
  take,
  tryMoves,
} from "./support/settlement-steps.ts";
import {
  clients,
  commissionBps,
  house,
  SettlementWorld,
  toCash,
  toDesk,
} from "./support/settlement-world.ts";

const sequences = 2_000;
const stepsMax = 40;

/** Rows whose history was looked at; a row never changes, another takes its place. */
const walked = new WeakSet<object>();

/** How everything changed in a step, and whether the tables know it. */
function assertMoves(world: SettlementWorld, before: ReadonlyMap<string, string>): void {
  const walk = (noun: string, edges: Edges, states: readonly string[]) => {
    states.slice(1).forEach((to, at) => {
      const from = states[at] ?? "";
      const action = Object.entries(edges[from] ?? {}).find(([, leadsTo]) => leadsTo === to);
      assert.ok(action, `a ${noun} that was ${from} became ${to}`);
      seen.moves.add(`${noun} ${from} ${action[0]}`);
    });
  };
  const walkHistory = (noun: string, edges: Edges, row: SettlementRow | PayoutRow) => {
    if (walked.has(row)) return;
    walked.add(row);
    const states = readSteps<string>(row.history).map(({ status }) => status);
    assert.equal(states.at(-1), row.state);
    seen.born.add(`${noun} ${states[0]}`);
    walk(noun, edges, states);
  };
  for (const row of world.settlements.values()) walkHistory("settlement", settlementEdges, row);
  for (const row of world.payouts.values()) walkHistory("payout", payoutEdges, row);
  for (const [name, state] of listLegStates(world)) {
    const from = before.get(name);
    if (from === undefined) seen.born.add(`leg ${state}`);
    else if (from !== state) walk("leg", legEdges, [from, ...passedAtOnce(from, state), state]);
  }
}

/** In the sandbox its parties take their steps at once. */
function passedAtOnce(from: string, to: string): string[] {
  return from === "pending" && to === "transferring" ? ["to_initiate", "to_accept"] : [];
}

function listLegStates({ legs }: SettlementWorld): Map<string, string> {
  const all = [...legs.values()].flat();
  return new Map(all.map((leg) => [`${leg.settlement_id} ${leg.scrip_no}`, leg.state]));
}

/** Sequences of steps in new worlds, each step held to the model. */
function sequencesIn(newWorld: () => SettlementWorld) {
  const begun = fc.array(step, { minLength: 1, maxLength: 2 });
  const steps = fc.array(step, { minLength: 8, maxLength: stepsMax, size: "max" });
  return fc.property(begun, steps, (deals, taken) => {
    const world = newWorld();
    const model = new SettlementModel({ house, clients, toDesk, commissionBps });
    const worlds = { world, model };
    clients.forEach((firm, n) => payIn(worlds, firm, n + (deals[0]?.pick ?? 0)));
    for (const each of [...deals.map((deal) => ({ ...deal, kind: "deal" as const })), ...taken]) {
      const legsBefore = listLegStates(world);
      const written = world.books.journal.length;
      take(worlds, each);
      for (const row of world.passing.splice(0)) {
        for (const action of settlementActions) tryMoves(row, action);
      }
      assert.equal(describeWorld(world).join("\n"), model.lines().join("\n"));
      assertMoves(world, legsBefore);
      if (world.books.journal.length > written) assertSound(world);
    }
    for (const { state, legs } of model.deals) {
      const isInPart = state === "settled" && legs.some((leg) => leg.state === "failed");
      if (isInPart) note("settled in part");
    }
  });
}

const tables = { settlement: settlementEdges, leg: legEdges, payout: payoutEdges };
const actionsOf = { settlement: settlementActions, leg: legActions, payout: payoutActions };

/** Whether only parties that act themselves bring a leg there; here they all do at once. */
function isByHand(noun: string, state: string, action: string): boolean {
  if (noun !== "leg" || !["to_initiate", "to_accept", "missing"].includes(state)) return false;
  return (
    `${state} ${action}` !== "to_initiate initiate" && `${state} ${action}` !== "to_accept accept"
  );
}

test("deals settle as the model says, for any sequence of acts", (t) => {
  fc.assert(
    sequencesIn(() => new SettlementWorld()),
    { numRuns: sequences },
  );
  t.diagnostic(JSON.stringify(Object.fromEntries(seen.outcomes)));
  const legal: string[] = [];
  const illegal: string[] = [];
  for (const [noun, edges] of Object.entries(tables)) {
    for (const [state, moves] of Object.entries(edges)) {
      for (const action of actionsOf[noun as keyof typeof tables]) {
        if (isByHand(noun, state, action)) continue;
        (action in moves ? legal : illegal).push(`${noun} ${state} ${action}`);
      }
    }
  }
  assert.deepEqual(seen.moves, new Set(legal), "every edge was hit");
  assert.deepEqual(seen.illegal, new Set(illegal), "every illegal edge was hit");
  const initial = [settlementLifecycle, legLifecycle, payoutLifecycle].flatMap((lifecycle) =>
    lifecycle.initial.map((state) => `${lifecycle.noun} ${state}`),
  );
  assert.deepEqual(seen.born, new Set(initial), "everything began in every way");
  assert.ok(seen.outcomes.size >= 18, "every kind of outcome came up");
});

/** Worlds in which one thing is not as it should be. */
const defects: Readonly<Record<string, () => SettlementWorld>> = {
  "a refund is a paisa short": () =>
    new (class extends SettlementWorld {
      override write(changes: BookChanges): void {
        super.write(changes);
        for (const { kind, subject, as } of changes.resolutions ?? []) {
          const buyer = this.settlements.get(subject)?.buyer_firm_id;
          if (as !== "voided" || kind !== "deal_settlement" || buyer === undefined) continue;
          const balance = this.books.readBalance(toCash(buyer));
          balance.escrow_paise = addPaise(balance.escrow_paise, 1);
        }
      }
    })(),
  "a leg is concluded twice": () =>
    new (class extends SettlementWorld {
      override write(changes: BookChanges): void {
        super.write(changes);
        this.books.forgetEnds();
        super.write({ resolutions: changes.resolutions ?? [] });
      }
    })(),
  "a reversal goes without the entry that corrects": () =>
    new (class extends SettlementWorld {
      override write({ resolutions = [], entries = [] }: BookChanges): void {
        super.write({ resolutions, entries: entries.filter(({ kind }) => kind !== "reversal") });
      }
    })(),
  "a seller gets the buyer's price": () =>
    new (class extends SettlementWorld {
      override agree(deal: NewDeal): void {
        const legs = deal.legs.map((leg) => ({ ...leg, sellerPaise: leg.buyerPaise }));
        super.agree({ ...deal, legs });
      }
    })(),
  "what is kept for a payout can be spent": () =>
    new (class extends SettlementWorld {
      override write({ resolutions = [], entries = [] }: BookChanges): void {
        const isOfDeal = (item: { kind: string; subject: string }) =>
          item.kind === "payout" && this.settlements.has(item.subject);
        super.write({
          resolutions: resolutions.filter((item) => !isOfDeal(item)),
          entries: entries.filter((item) => !isOfDeal(item)),
        });
      }
    })(),
  "nobody is ever late": () =>
    new (class extends SettlementWorld {
      override failOverdue(): void {}
    })(),
};

for (const [defect, newWorld] of Object.entries(defects)) {
  test(`control: the model sees that ${defect}`, () => {
    const { failed } = fc.check(sequencesIn(newWorld), {
      numRuns: sequences,
      endOnFailure: true,
    });
    assert.ok(failed);
  });
}
