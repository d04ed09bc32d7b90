// Every state of a cross against every action of every caller. What is only tried changes nothing, so
// one cross of each state answers for all of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  act,
  type Action,
  crossThatIs,
  crore,
  propose,
  read,
  terms,
  type Traders,
} from "../support/crosses.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

const actions: readonly Action[] = ["accept", "decline", "cancel", "fund", "release"];
const dryRun = { "x-dry-run": "1" };

/** What the proposing seller and the buyer can do; everything else is a conflict or not theirs. */
const allowed: Readonly<Record<string, { seller: readonly string[]; buyer: readonly string[] }>> = {
  proposed: { seller: ["cancel"], buyer: ["accept", "decline"] },
  agreed: { seller: ["cancel"], buyer: ["cancel", "fund"] },
  funded: { seller: ["cancel", "release"], buyer: [] },
  released: { seller: [], buyer: [] },
  settled: { seller: [], buyer: [] },
  failed: { seller: [], buyer: [] },
  refunded: { seller: [], buyer: [] },
  declined: { seller: [], buyer: [] },
  cancelled: { seller: [], buyer: [] },
  expired: { seller: [], buyer: [] },
};

/** What is the other side's for good, when the seller has proposed. */
const neverOf = { seller: ["accept", "decline", "fund"], buyer: ["release"] };

type Cross = Answer["body"];

/** One cross of each state, of the same two desks; the clock is turned on the way. */
async function crossesOfAllStates(service: Service, parties: Traders): Promise<Cross[]> {
  const { seller, buyer } = parties;
  const of = (at: number) => ({ scrip_nos: [seller.scripNos[at]] });
  const expired = await crossThatIs(parties, "proposed", of(0));
  const refunded = await crossThatIs(parties, "funded", of(1));
  const failed = await crossThatIs(parties, "released", of(2));
  const settled = await crossThatIs(parties, "released", of(3));
  await letSettle(service);
  service.clock.advance({ seconds: 900 });
  await service.work();
  const declined = await crossThatIs(parties, "proposed", of(4));
  await act(buyer, declined, "decline");
  const cancelled = await crossThatIs(parties, "proposed", of(4));
  await act(seller, cancelled, "cancel");
  const proposed = await crossThatIs(parties, "proposed", of(4));
  const agreed = await crossThatIs(parties, "agreed", of(5));
  const funded = await crossThatIs(parties, "funded", of(6));
  const released = await crossThatIs(parties, "released", of(7));
  const all = [expired, refunded, failed, settled, declined, cancelled];
  return await Promise.all(
    [...all, proposed, agreed, funded, released].map(async (cross) => await read(seller, cross)),
  );
}

async function rehearseAction(
  trader: Dealer,
  cross: Cross,
  action: Action,
): Promise<Answer["body"]> {
  const bodies = { accept: { terms_hash: cross.terms_hash }, fund: { payment_ref: "TRY" } };
  const body = action === "accept" || action === "fund" ? bodies[action] : {};
  return await trader.post(`/v1/cross/${cross.cross_id}/${action}`, body, 0, dryRun);
}

test("in every state each side can do exactly its own actions", async (t) => {
  const service = await startService(t);
  const endings = ["0001", "0001", "0409", "0001", "0001", "0001", "0001", "0001"];
  const seller = await dealer(
    service,
    endings.map(() => ({ facePaise: crore })),
  );
  await renumber(service, seller, endings);
  const parties = { seller, buyer: await dealer(service, []) };
  const stranger = await dealer(service, []);
  const crosses = await crossesOfAllStates(service, parties);
  assert.deepEqual(
    new Set(crosses.map(({ status }) => status)),
    new Set(Object.keys(allowed)),
    "there is a cross of every state",
  );
  for (const cross of crosses) {
    for (const who of ["seller", "buyer"] as const) {
      const trader = parties[who];
      const mine = allowed[cross.status]?.[who] ?? [];
      const view = await read(trader, cross);
      assert.deepEqual(view.allowed_actions, mine, `${who} of a cross that is ${cross.status}`);
      for (const action of actions) {
        const title = `${who} tries ${action} on a cross that is ${cross.status}`;
        const { status, body } = await rehearseAction(trader, cross, action);
        if (neverOf[who].includes(action)) {
          assert.equal(status, 403, title);
          assert.equal(body.detail.reason, "wrong_side", title);
        } else if (mine.includes(action)) assert.equal(status, 200, `${title}: ${body.message}`);
        else {
          assert.equal(status, 409, title);
          assert.deepEqual(
            body.detail,
            { reason: "wrong_state", state: cross.status, allowed_actions: mine },
            title,
          );
        }
      }
      assert.deepEqual(await read(trader, cross), view, "what was tried changed nothing");
    }
    for (const action of actions) {
      assert.equal((await rehearseAction(stranger, cross, action)).status, 404);
    }
  }
  await assertLedgerSound(service);
});

/** Gives a dealer's credits numbers that end as asked: the sandbox's customs goes by them. */
async function renumber({ ctx }: Service, holder: Dealer, endings: readonly string[]) {
  for (const [at, ending] of endings.entries()) {
    const scripNo = `CROSS${String(at).padStart(4, "0")}${ending}`;
    await ctx.db.pool.query("update credits set scrip_no = $2 where scrip_no = $1", [
      holder.scripNos[at],
      scripNo,
    ]);
    holder.scripNos[at] = scripNo;
  }
}

test("where the buyer proposed, the seller answers, and the other actions stay the same", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: crore }]);
  const parties = { seller, buyer: await dealer(service, []) };
  const { buyer } = parties;
  const cross = await propose(buyer, {
    ...terms(parties, { side: "buy", firm_id: buyer.firmId, counterparty_iec: seller.pan }),
    scrip_nos: undefined,
    scheme: "RODTEP",
    face_paise: crore,
  });
  assert.deepEqual(cross.scrip_nos, []);
  assert.equal(cross.waiting_on, "seller");
  assert.deepEqual(cross.allowed_actions, ["cancel"]);
  await act(buyer, cross, "accept", { expect: 403 });
  await act(seller, cross, "fund", { expect: 403 });
  await act(buyer, cross, "release", { expect: 403 });
  const agreed = await act(seller, cross, "accept");
  assert.deepEqual(agreed.scrip_nos, [seller.scripNo]);
  assert.deepEqual((await read(buyer, cross)).scrip_nos, [seller.scripNo]);
  await act(seller, cross, "release", { expect: 409 });
  await act(buyer, cross, "fund");
  await act(seller, cross, "release");
  await letSettle(service);
  assert.equal((await read(buyer, cross)).status, "settled");
  await assertLedgerSound(service);
});
