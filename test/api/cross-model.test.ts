// Random lives of crosses, played through the front door and beside it on a plain model: a word for
// each cross and for each credit, and no code of the service.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { operator } from "../../src/kernel/actor.ts";
import { subtractPaise } from "../../src/kernel/money.ts";
import { onLost } from "../../src/hooks.ts";
import {
  type Action,
  assertCrossesSound,
  crores,
  quoteFor,
  read,
  terms,
  type Traders,
  traders,
} from "../support/crosses.ts";
import { readRuns } from "../support/random.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle, readBalance } from "../support/settlements.ts";

const runs = readRuns(6);
const seed = 20_261_115;
const creditCount = 3;

const which = fc.nat();
const who = fc.constantFrom("seller" as const, "buyer" as const);
const actions: readonly Action[] = ["accept", "decline", "cancel", "fund", "release"];
const action = fc.constantFrom(...actions);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("propose" as const), which }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("act" as const), which, who, action }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("go on" as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deadline" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose" as const), which }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type ModelCross = {
  readonly view: Answer["body"];
  readonly credit: number;
  state: string;
  /** Every payment has the same name here: after the first, each is the same again. */
  wasPaid: boolean;
};
type World = {
  readonly parties: Traders;
  readonly crosses: ModelCross[];
  /** The seller's free, reserved for a cross, sold, or gone. */
  readonly credits: string[];
};

/** What the status should be, with the model moved on when it is 200. */
function expected(
  { crosses, credits }: World,
  cross: ModelCross,
  party: "seller" | "buyer",
  action: Action,
): number {
  const isSeller = party === "seller";
  const isForeign = {
    accept: isSeller,
    decline: isSeller,
    fund: isSeller,
    release: !isSeller,
    cancel: false,
  }[action];
  if (isForeign) return 403;
  const name = `x${crosses.indexOf(cross)}`;
  const become = (state: string, credit?: string) => {
    cross.state = state;
    if (credit) credits[cross.credit] = credit;
    return 200;
  };
  switch (`${action} ${cross.state}`) {
    case "accept proposed":
      return credits[cross.credit] === "free" ? become("agreed", name) : 409;
    case "decline proposed":
      return become("declined");
    case "cancel proposed":
      return isSeller ? become("cancelled") : 409;
    case "cancel agreed":
      return become("cancelled", "free");
    case "cancel funded":
      return isSeller ? become("refunded", "free") : 409;
    case "fund agreed":
      cross.wasPaid = true;
      return become("funded");
    case "release funded":
      return become("released");
    default:
      return action === "fund" && cross.wasPaid ? 200 : 409;
  }
}

type Doing = { readonly who: "seller" | "buyer"; readonly action: Action };

/** What brings a cross on when everybody means well. */
const nextOf: Readonly<Record<string, Doing>> = {
  proposed: { who: "buyer", action: "accept" },
  agreed: { who: "buyer", action: "fund" },
  funded: { who: "seller", action: "release" },
};

async function act(world: World, cross: ModelCross, { who, action }: Doing): Promise<void> {
  const bodies = {
    accept: { terms_hash: cross.view.terms_hash },
    fund: { payment_ref: "THE-ONE" },
    decline: {},
    cancel: {},
    release: {},
  };
  const before = cross.state;
  const status = expected(world, cross, who, action);
  const path = `/v1/cross/${cross.view.cross_id}/${action}`;
  const answer = await world.parties[who].post(path, bodies[action], 0);
  assert.equal(answer.status, status, `${who} tries ${action} on ${before}: ${answer.text}`);
}

async function play(service: Service, world: World, step: Step): Promise<void> {
  const { parties, crosses, credits } = world;
  const { seller } = parties;
  switch (step.kind) {
    case "propose": {
      const credit = step.which % creditCount;
      if (credits[credit] !== "free") return;
      const { cross_quote_ref } = await quoteFor(
        seller,
        terms(parties, { scrip_nos: [seller.scripNos[credit]] }),
      );
      const view = (await seller.post("/v1/cross", { cross_quote_ref }, 201)).body;
      crosses.push({ view, credit, state: "proposed", wasPaid: false });
      return;
    }
    case "act": {
      const cross = crosses[step.which % Math.max(crosses.length, 1)];
      if (cross) await act(world, cross, step);
      return;
    }
    case "go on": {
      const cross = crosses[step.which % Math.max(crosses.length, 1)];
      const next = cross && nextOf[cross.state];
      if (next) await act(world, cross, next);
      return;
    }
    case "deadline":
      service.clock.advance({ seconds: 900 });
      for (const cross of crosses) {
        const late = { proposed: "expired", agreed: "expired", funded: "refunded" };
        const end = late[cross.state as keyof typeof late];
        if (!end) continue;
        if (cross.state !== "proposed") credits[cross.credit] = "free";
        cross.state = end;
      }
      return await settle(service, world);
    case "settle":
      return await settle(service, world);
    case "lose": {
      const credit = step.which % creditCount;
      if (credits[credit] === "sold" || credits[credit] === "lost") return;
      const released = crosses.find((it) => it.credit === credit && it.state === "released");
      if (released) return; // What customs says about a settlement is not the cross's.
      const scripNo = seller.scripNos[credit] ?? "";
      const news = [{ scripNo, news: "cancel", reason: "issued in error" }] as const;
      await applyRegistryNews(service.ctx, operator, { environment: "sandbox", news, onLost });
      for (const cross of crosses.filter((it) => it.credit === credit)) {
        if (cross.state === "agreed") cross.state = "cancelled";
        if (cross.state === "funded") cross.state = "refunded";
      }
      credits[credit] = "lost";
    }
  }
}

async function settle(service: Service, { crosses, credits }: World): Promise<void> {
  await letSettle(service);
  for (const cross of crosses) {
    if (cross.state !== "released") continue;
    cross.state = "settled";
    credits[cross.credit] = "sold";
  }
}

async function assertAlike(service: Service, { parties, crosses, credits }: World): Promise<void> {
  const { seller, buyer } = parties;
  for (const { view, state } of crosses) {
    assert.equal((await read(seller, view)).status, state);
    assert.equal((await read(buyer, view)).status, state);
  }
  const shown: Readonly<Record<string, string>> = {
    free: "listed",
    sold: "transferred",
    lost: "cancelled",
  };
  for (const [at, scripNo] of seller.scripNos.entries()) {
    const { status } = await seller.credit(scripNo);
    const known = credits[at] ?? "";
    if (known in shown) assert.equal(status, shown[known]);
    else assert.ok(["reserved", "in_settlement"].includes(status), status);
  }
  const { posted_paise, available_paise } = await readBalance(service, buyer);
  const held = crosses.filter(({ state }) => state === "funded" || state === "released");
  const each = crosses[0] ? (await read(buyer, crosses[0].view)).all_in_paise : 0;
  assert.equal(subtractPaise(posted_paise, available_paise), held.length * each);
  await assertCrossesSound(service);
}

test("a cross follows a plain model through any actions of its parties, the clock and customs", async (t) => {
  const service = await startService(t);
  const reached = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 36 }), async (steps) => {
      const parties = await traders(service, crores(creditCount));
      const world: World = { parties, crosses: [], credits: Array(creditCount).fill("free") };
      for (const one of steps) {
        await play(service, world, one);
        for (const { state } of world.crosses) reached.add(state);
      }
      await assertAlike(service, world);
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
  t.diagnostic([...reached].toSorted().join(" "));
  for (const state of ["settled", "refunded", "expired", "cancelled", "declined"]) {
    assert.ok(reached.has(state), `no cross came to ${state}`);
  }
});
