// Sales, buys, crosses, reversals, money in and out in any order, at the front door. Beside them stands
// plain arithmetic: what a firm has and what it owes is what it earned and paid in, less what it took.
//
//   who owes       has nothing available, and nothing of it is on its way out that has not left
//   dues           grow by a reversal, and shrink by money that the firm earned or paid in
//   what is taken  by a firm that owes is what had left before it owed, and no more

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { asOwner } from "../support/database.ts";
import { addFirm } from "../support/holdings.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type Random, readRuns, startRandom } from "../support/random.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  readBalance,
  type TestDesk,
} from "../support/settlements.ts";

const runs = readRuns(2);
const stepsPerRun = 40;
const kinds = [
  "sell",
  "sell",
  "buy",
  "cross",
  "settle",
  "settle",
  "reverse",
  "reverse",
  "deposit",
  "withdraw",
  "hold",
  "release",
] as const;
type Kind = (typeof kinds)[number];

/** A firm's money, by the rows and the books, in paise. */
type Money = {
  /** Of sales that stand, less what buys that stand have cost. */
  readonly earned: number;
  readonly paidIn: number;
  readonly taken: number;
  /** In payouts that the bank has, and in those that have not left. */
  readonly withBank: number;
  readonly unsent: number;
  readonly posted: number;
  readonly available: number;
  readonly dues: number;
};

async function readMoney({ ctx }: Service, { firmId }: Pick<TestDesk, "firmId">): Promise<Money> {
  const { rows } = await ctx.db.pool.query<Record<string, string>>(
    `select
      (
        select coalesce(sum(l.seller_paise), 0)
        from settlements as s
        join settlement_legs as l using (settlement_id)
        where l.seller_firm_id = $1 and l.state = 'delivered' and s.state = 'settled'
      ) - (
        select coalesce(sum(l.buyer_paise), 0)
        from settlements as s
        join settlement_legs as l using (settlement_id)
        where s.buyer_firm_id = $1 and l.state = 'delivered' and s.state = 'settled'
      ) as earned,
      (select coalesce(sum(paise), 0) from deposits where firm_id = $1) as paid_in,
      coalesce(sum(paise) filter (where state = 'paid'), 0) as taken,
      coalesce(sum(paise) filter (where state in ('sent', 'instructed')), 0) as with_bank,
      coalesce(sum(paise) filter (where state in ('scheduled', 'held')), 0) as unsent
    from payouts
    where firm_id = $1`,
    [firmId],
  );
  const [row = {}] = rows;
  const balance = await readBalance({ ctx }, { firmId });
  return {
    earned: Number(row["earned"]),
    paidIn: Number(row["paid_in"]),
    taken: Number(row["taken"]),
    withBank: Number(row["with_bank"]),
    unsent: Number(row["unsent"]),
    posted: Number(balance.posted_paise),
    available: Number(balance.available_paise),
    dues: Number(balance.dues_paise),
  };
}

/** What holds after every step. */
function assertDuesFirst(before: Money, after: Money): void {
  const { earned, paidIn, taken, posted, dues } = after;
  assert.equal(posted - dues, earned + paidIn - taken, "what it has less what it owes is its own");
  assert.ok(posted >= 0 && dues >= 0);
  const cameIn = earned + paidIn - before.earned - before.paidIn;
  const released = Math.max(0, before.posted - before.available - (posted - after.available));
  const paid = before.dues - dues;
  assert.ok(
    paid <= Math.max(0, cameIn) + released,
    `dues shrank by ${paid}, and ${cameIn} came in`,
  );
  if (dues === 0) return;
  assert.equal(after.available, 0, "who owes has nothing available");
  assert.equal(after.unsent, 0, "no payout of who owes waits to leave");
  assert.ok(
    taken + after.withBank <= before.taken + before.withBank,
    "who owes takes no more than what had left before",
  );
}

class World {
  readonly service: Service;
  readonly firms: readonly TestDesk[];
  readonly done = new Map<string, number>();
  readonly #deals: string[] = [];
  #references = 0;

  constructor(service: Service, firms: readonly TestDesk[]) {
    this.service = service;
    this.firms = firms;
  }

  async take(kind: Kind, random: Random): Promise<void> {
    const firm = random.pick(this.firms);
    const done = await this.#act(kind, firm, random);
    const name = done ? kind : `no ${kind}`;
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }

  async #act(kind: Kind, firm: TestDesk, random: Random): Promise<boolean> {
    switch (kind) {
      case "sell":
        return await this.#deal(firm, house());
      case "buy":
        return await this.#deal(house(), firm);
      case "cross":
        return await this.#cross(firm, random);
      case "settle":
        await letSettle(this.service);
        return true;
      case "reverse":
        return await this.#reverse(random);
      case "deposit":
        await addDeposit(this.service.ctx, namedOperator("asha"), {
          environment: "sandbox",
          firmId: firm.firmId,
          paise: 1 + random.below(30_000_000),
          reference: `HDFCR520261115${String(++this.#references).padStart(5, "0")}`,
        });
        return true;
      case "withdraw":
        return await this.#post(firm, `/v1/firms/${firm.firmId}/withdrawals`, {
          amount_paise: 1 + random.below(20_000_000),
        });
      case "hold":
        return await this.#hold(firm, "2030-01-01");
      case "release":
        return await this.#hold(firm, null);
    }
  }

  async #deal(seller: Parameters<typeof addCredit>[1], buyer: Parameters<typeof addCredit>[1]) {
    const scripNo = await addCredit(this.service, seller);
    this.#deals.push(await makeDeal(this.service, { buyer, legs: [{ seller, scripNo }] }));
    return true;
  }

  /** From one firm to the other, which pays, or calls it off. */
  async #cross(seller: TestDesk, random: Random): Promise<boolean> {
    const buyer = this.firms.find((firm) => firm !== seller);
    const scripNo = await addCredit(this.service, seller);
    const quote = await this.#send(seller, "/v1/cross/quote", {
      kind: "intra_group",
      side: "sell",
      firm_id: seller.firmId,
      counterparty_firm_id: buyer?.firmId,
      scrip_nos: [scripNo],
      price_bps: 9_000 + random.below(1_000),
    });
    const { cross_quote_ref } = quote.body;
    const { status, body } = await this.#send(seller, "/v1/cross", { cross_quote_ref });
    if (status !== 201) return false;
    const path = `/v1/cross/${body.cross_id}`;
    const payment_ref = `PAYMENT-${++this.#references}`;
    await this.#post(seller, `${path}/fund`, { payment_ref });
    if (random.below(3) === 0) await this.#post(seller, `${path}/cancel`, {});
    return true;
  }

  async #reverse(random: Random): Promise<boolean> {
    if (this.#deals.length === 0) return false;
    const command = { settlementId: random.pick(this.#deals), reason: "forged mandate" };
    try {
      for (const name of ["asha", "ravi"]) {
        await reverseSettlement(this.service.ctx, namedOperator(name), command);
      }
      return true;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  }

  async #hold({ firmId }: TestDesk, until: string | null): Promise<boolean> {
    await this.service.ctx.db.pool.query(
      "update firms set hold_reason = $3, hold_until = $2 where firm_id = $1",
      [firmId, until, until && "beneficiary_change"],
    );
    return true;
  }

  async #send({ key }: TestDesk, path: string, body: object) {
    const answer = await this.service.send("POST", path, { key, body });
    assert.ok(answer.status < 500, answer.text);
    return answer;
  }

  async #post(firm: TestDesk, path: string, body: object): Promise<boolean> {
    return (await this.#send(firm, path, body)).status < 300;
  }
}

async function openWorld(service: Service): Promise<World> {
  const desk = await openTestDesk(service);
  const firms = [desk, { ...desk, firmId: await addFirm(service, { deskId: desk.deskId }) }];
  const { key } = desk;
  const { body } = await service.send("POST", "/v1/groups", {
    key,
    body: { name: "Sahyadri" },
    expect: 201,
  });
  for (const { firmId } of firms) {
    const member = `/v1/groups/${body.group_id}/members/${firmId}`;
    await service.send("PUT", member, { key, expect: 200 });
  }
  return new World(service, firms);
}

test("in any order of deals, reversals and money, what a firm owes comes before what it takes", async (t) => {
  const random = startRandom(t);
  const done = new Map<string, number>();
  let timesOwing = 0;
  for (let run = 0; run < runs; run++) {
    const service = await startService(t);
    const world = await openWorld(service);
    const read = async () =>
      await Promise.all(world.firms.map(async (firm) => await readMoney(service, firm)));
    let before = await read();
    for (let step = 0; step < stepsPerRun; step++) {
      // A sale that was paid out and is undone is what dues come of, so each run begins so.
      const start = (["sell", "settle", "reverse"] as const)[step];
      await world.take(start ?? random.pick(kinds), random);
      const after = await read();
      for (const [at, money] of after.entries()) {
        const last = before[at];
        assert.ok(last);
        assertDuesFirst(last, money);
        if (money.dues > 0) timesOwing++;
      }
      before = after;
    }
    await assertLedgerSound(service);
    for (const [name, times] of world.done) done.set(name, (done.get(name) ?? 0) + times);
  }
  t.diagnostic(JSON.stringify({ ...Object.fromEntries(done), timesOwing }));
  assert.ok(timesOwing > 0, "firms came to owe");
});

async function findOwing({ service, firms }: World) {
  for (const firm of firms) {
    const money = await readMoney(service, firm);
    if (money.dues > 0) return { firm, money };
  }
  return assert.fail("nobody owes");
}

/** What somebody with the database in hand could do, and what of the model sees it. */
const defects = {
  "dues that nobody paid are gone": [
    "update ledger_balances set posted_paise = 0 where balance = 'firm_dues:' || $1",
    /what it has less what it owes/,
  ],
  "money of a firm that owes is left to it": [
    `update ledger_balances set posted_paise = posted_paise + case kind when 'firm_cash' then 5 else -5 end
    where balance in ('firm_cash:' || $1, 'firm_dues:' || $1)`,
    /nothing available/,
  ],
} as const;

for (const [defect, [change, told]] of Object.entries(defects)) {
  test(`control: the model sees that ${defect}`, async (t) => {
    const random = startRandom(t);
    const service = await startService(t);
    const world = await openWorld(service);
    for (const kind of ["sell", "settle", "reverse"] as const) await world.take(kind, random);
    const owing = await findOwing(world);
    await asOwner(service.ctx.db, async (owner) => {
      await owner.query("alter table ledger_balances disable trigger no_money_beside_dues");
      await owner.query(change, [owing.firm.firmId]);
    });
    const after = await readMoney(service, owing.firm);
    assert.throws(() => assertDuesFirst(owing.money, after), told);
  });
}
