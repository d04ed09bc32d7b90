// Files, payments by hand, voids, statements, returns and resends in any order, with a bank that pays
// what it should not, twice or late: no paisa is paid twice by us, and none comes from nothing. Money
// that comes in is told of by persons and by the bank, in any order: each payment counts once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assignLine } from "../../src/bankbook/decide-line.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { listQueue } from "../../src/bankbook/list-queue.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { reverseDeposit } from "../../src/bankbook/reverse-deposit.ts";
import { undoAssignment } from "../../src/bankbook/undo-assignment.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { rupeesPlain } from "../../src/kernel/money.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { listFiles, showFile } from "../../src/payouts/read-files.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import { recallPayout } from "../../src/payouts/recall-payouts.ts";
import { resendPayout, sendPayout } from "../../src/payouts/send-payout.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type LiveSeller, liveSeller, sellLive } from "../support/live-sales.ts";
import { startRandom, readRuns, type Random } from "../support/random.ts";
import { type Service, startService } from "../support/service.ts";
import { readBalance } from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;
const firms = 2;
const runs = readRuns(2);
const stepsPerRun = 45;

const kinds = [
  "sell",
  "file",
  "file",
  "send",
  "pay",
  "pay",
  "pay",
  "pay again",
  "return",
  "strange money",
  "void",
  "recall",
  "resend",
  "reverse",
  "import again",
  "enter by hand",
  "enter by hand",
  "bring payment",
  "bring payment",
  "assign",
  "undo",
  "reverse deposit",
] as const;

const always = ["file", "pay", "enter by hand", "bring payment"] as const;

/** Money that somebody sends us. The bank tells of it once; persons may tell of it, rightly or not. */
type Payment = {
  readonly utr: string;
  readonly paise: number;
  readonly firmId: string;
  /** What the bank's line says of it. */
  readonly words: string;
  readonly account: string;
  isBrought: boolean;
};

type Row = {
  readonly payout_id: string;
  readonly firm_id: string;
  readonly settlement_id: string;
  readonly state: string;
  readonly utr: string | null;
  readonly paise: number;
  readonly remitted_with: string | null;
  readonly remitted_paise: number;
};

/** The bank's side: what is on the account, and every statement that it has sent. */
class Bank {
  readonly texts: string[] = [];
  #balance = 900_000_000;
  #lines = 0;

  statement(words: string, paise: number, utr = this.nextUtr(), account = ""): string {
    this.#balance += paise;
    const sides = paise < 0 ? [rupeesPlain(-paise), ""] : ["", rupeesPlain(paise)];
    const row = ["16/11/2026", utr, words, ...sides, rupeesPlain(this.#balance), "", account];
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    const text = `${heading}\n${row.join(",")}\n`;
    this.texts.push(text);
    return text;
  }

  nextUtr(): string {
    return `HDFCR5203${String(++this.#lines).padStart(10, "0")}`;
  }
}

class World {
  readonly service: Service;
  readonly sellers: readonly LiveSeller[];
  readonly bank = new Bank();
  readonly payments: Payment[] = [];
  readonly done = new Map<string, number>();
  constructor(service: Service, sellers: readonly LiveSeller[]) {
    this.service = service;
    this.sellers = sellers;
  }

  async payouts(): Promise<Row[]> {
    const { rows } = await this.service.ctx.db.pool.query<Row>(
      `select payout_id, firm_id, settlement_id, state, utr, paise::float8 as paise, remitted_with,
        remitted_paise::float8 as remitted_paise
      from payouts where firm_id = any($1) order by payout_id`,
      [this.sellers.map(({ firmId }) => firmId)],
    );
    return rows;
  }

  /** One that is on its way, or a new one. */
  choosePayment(pick: number): Payment {
    const known = pickFrom(
      this.payments.filter(({ isBrought }) => !isBrought || pick % 5 === 0),
      pick,
    );
    if (known && pick % 3 > 0) return known;
    const seller = pickFrom(this.sellers, pick) ?? assert.fail();
    const { firmId, accountNo } = seller;
    const isNamed = pick % 4 > 1;
    const payment = {
      utr: this.bank.nextUtr(),
      paise: 9_000 + pick,
      firmId,
      words: isNamed ? firmId : "NEFT CR",
      account: isNamed ? accountNo : "",
      isBrought: false,
    };
    this.payments.push(payment);
    return payment;
  }

  async read(text: string): Promise<void> {
    await importStatement(this.service.ctx, asha, { ...live, text });
  }

  /** What is refused changes nothing, and the model says when it may be. */
  async attempt(kind: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }
}

function pickFrom<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % Math.max(1, items.length)];
}

async function take(world: World, kind: (typeof kinds)[number], pick: number): Promise<void> {
  const { service, sellers, bank } = world;
  const { ctx } = service;
  const rows = await world.payouts();
  const inState = (...states: string[]) =>
    pickFrom(
      rows.filter(({ state }) => states.includes(state)),
      pick,
    );
  switch (kind) {
    case "sell": {
      const seller = pickFrom(sellers, pick);
      if (seller) await sellLive(service, seller, 1_000_000 + pick);
      return;
    }
    case "file":
      return await world.attempt(kind, async () => await makeFiles(ctx, asha, live));
    case "send": {
      const payoutId = inState("scheduled", "instructed")?.payout_id;
      if (payoutId === undefined) return;
      const utr = bank.nextUtr();
      return await world.attempt(kind, async () => await sendPayout(ctx, asha, { payoutId, utr }));
    }
    case "pay":
    case "pay again": {
      // By the line of any file, or by the reference that an operator gave.
      const files = await listFiles(ctx, { limit: 100 });
      const lines = (
        await Promise.all(files.map(async (file) => await showFile(ctx, file.file_id)))
      )
        .flatMap((file) => file.lines)
        .filter(({ state }) => (kind === "pay" ? state === "live" : state !== "live"));
      const line = pickFrom(lines, pick);
      const sent = kind === "pay" && pick % 3 === 0 ? inState("sent") : undefined;
      if (sent) {
        const text = bank.statement("BY HAND", -sent.remitted_paise, sent.utr ?? "");
        return await world.attempt("pay by hand", async () => await world.read(text));
      }
      if (!line) return;
      const text = bank.statement(`NEFT ${line.reference}`, -line.paise);
      return await world.attempt(kind, async () => await world.read(text));
    }
    case "return": {
      const paid = inState("paid");
      if (!paid) return;
      const text = bank.statement(`RTN ${paid.utr}`, paid.remitted_paise);
      return await world.attempt(kind, async () => await world.read(text));
    }
    case "strange money": {
      const firmId = pickFrom(sellers, pick)?.firmId ?? "";
      const text = bank.statement(firmId, 5_000 + pick);
      return await world.attempt(kind, async () => await world.read(text));
    }
    case "void": {
      const file = pickFrom(await listFiles(ctx, { state: "live", limit: 100 }), pick);
      if (!file) return;
      const voiding = { fileId: file.file_id, reason: "refused" };
      return await world.attempt(kind, async () => {
        await voidFile(ctx, asha, voiding);
        if (pick % 2 === 0) await voidFile(ctx, ravi, voiding);
      });
    }
    case "recall": {
      const payoutId = inState("scheduled", "held", "instructed", "sent")?.payout_id;
      if (payoutId === undefined) return;
      const reason = "by operator";
      return await world.attempt(
        kind,
        async () => await recallPayout(ctx, asha, { payoutId, reason }),
      );
    }
    case "resend": {
      const payoutId = inState("returned", "paid")?.payout_id;
      if (payoutId === undefined) return;
      return await world.attempt(kind, async () => await resendPayout(ctx, asha, payoutId));
    }
    case "reverse": {
      const settlementId = pickFrom(rows, pick)?.settlement_id;
      if (settlementId === undefined || pick % 3 > 0) return;
      const reversal = { settlementId, reason: "forged" };
      return await world.attempt(kind, async () => {
        await reverseSettlement(ctx, asha, reversal);
        await reverseSettlement(ctx, ravi, reversal);
      });
    }
    case "enter by hand": {
      const { utr: reference, paise: sent, firmId } = world.choosePayment(pick);
      const isSlip = pick % 7 === 0;
      const entered = isSlip ? (pickFrom(sellers, pick + 1)?.firmId ?? firmId) : firmId;
      const paise = pick % 11 === 0 ? sent + 1 : sent;
      const deposit = { ...live, firmId: entered, paise, reference };
      return await world.attempt(kind, async () => await addDeposit(ctx, asha, deposit));
    }
    case "bring payment": {
      const payment = world.choosePayment(pick);
      if (payment.isBrought) return;
      payment.isBrought = true;
      return await bring(world, payment);
    }
    case "assign": {
      const queued = await listQueue(ctx, { ...live, limit: 100 });
      const line = pickFrom(
        queued.filter(({ direction }) => direction === "credit"),
        pick,
      );
      const to = pickFrom(sellers, pick)?.firmId ?? "";
      if (!line) return;
      const assigning = { lineId: line.line_id, to, reason: "their letter" };
      return await world.attempt(kind, async () => await assignLine(ctx, asha, assigning));
    }
    case "undo": {
      const { rows: lines } = await ctx.db.pool.query<{ line_id: string }>(
        "select line_id from bank_lines where state = 'assigned' order by line_id",
      );
      const lineId = pickFrom(lines, pick)?.line_id;
      if (lineId === undefined) return;
      const undoing = { lineId, reason: "it was another's" };
      return await world.attempt(kind, async () => await undoAssignment(ctx, asha, undoing));
    }
    case "reverse deposit": {
      const reference = pickFrom(world.payments, pick)?.utr;
      if (reference === undefined) return;
      return await world.attempt(kind, async () => await takeBack(world, reference));
    }
    case "import again": {
      const text = pickFrom(bank.texts, pick);
      if (text !== undefined) await world.attempt(kind, async () => await world.read(text));
    }
  }
}

async function bring(world: World, { words, paise, utr, account }: Payment): Promise<void> {
  const text = world.bank.statement(words, paise, utr, account);
  await world.attempt("bring payment", async () => await world.read(text));
}

async function takeBack(world: World, reference: string) {
  const reason = "entered by mistake";
  return await reverseDeposit(world.service.ctx, asha, { ...live, reference, reason });
}

/** What stands to the credit of firms for a payment, deposit by deposit. */
async function listCredited({ service }: World, { utr }: Payment): Promise<number[]> {
  const { rows } = await service.ctx.db.pool.query<{ paise: number }>(
    `select d.paise::float8 as paise
    from deposits as d
    left join bank_line_entries as e
      on e.environment = d.environment and e.kind = 'deposit' and e.subject = d.reference
    left join bank_lines as l using (line_id)
    left join deposit_reversals as r
      on r.environment = d.environment and r.reference = d.reference
    where d.environment = 'live' and $1 in (d.reference, l.utr) and r.reference is null`,
    [utr],
  );
  return rows.map(({ paise }) => paise);
}

async function assignAll(world: World): Promise<void> {
  const { ctx } = world.service;
  const to = world.sellers[0]?.firmId ?? "";
  for (const { line_id: lineId } of await listQueue(ctx, { ...live, limit: 500 })) {
    const assigning = { lineId, to, reason: "their letter" };
    await world.attempt("last assignment", async () => await assignLine(ctx, asha, assigning));
  }
}

/** Once the bank has told of everything and what it did not tell of is taken back. */
async function assertBroughtOnly(world: World): Promise<void> {
  const { ctx } = world.service;
  for (const payment of world.payments) {
    if (payment.isBrought) continue;
    payment.isBrought = payment.paise % 3 > 0;
    if (payment.isBrought) await bring(world, payment);
  }
  await assignAll(world);
  await assertNothingTwice(world);
  for (const { utr } of world.payments) {
    await world.attempt("last reversal", async () => await takeBack(world, utr));
  }
  await assignAll(world);
  const { rows } = await ctx.db.pool.query<{ subject: string }>(
    `select d.reference as subject from deposits as d where d.environment = 'live' and not exists (
      select from bank_line_entries as e
      where e.environment = 'live' and e.kind = 'deposit' and e.subject = d.reference
    )`,
  );
  const open = new Set(rows.map(({ subject }) => subject));
  for (const payment of world.payments) {
    if (open.has(payment.utr)) continue; // Its firm has spent what was entered.
    const credited = await listCredited(world, payment);
    assert.deepEqual(credited, payment.isBrought ? [payment.paise] : [], payment.utr);
  }
}

/** What holds after every step, by the rows and by the books. */
async function assertNothingTwice(world: World): Promise<void> {
  const { service, sellers } = world;
  const rows = await world.payouts();
  for (const [settlementId, own] of Map.groupBy(rows, (row) => row.settlement_id)) {
    const counting = own.filter(({ state }) => state !== "returned");
    assert.ok(counting.length <= 1, `${settlementId} is paid by ${counting.length} payouts`);
  }
  const { rows: items } = await service.ctx.db.pool.query(
    `select payout_id from payout_file_items where not is_void group by payout_id having count(*) > 1`,
  );
  assert.deepEqual(items, [], "a payout is in one file that counts");
  for (const { firmId } of sellers) {
    const own = rows.filter((row) => row.firm_id === firmId);
    const paid = own
      .filter(({ state }) => state === "paid")
      .reduce((sum, { paise }) => sum + paise, 0);
    // By the deals, since a payout is less what its firm owed.
    const { rows: earned } = await service.ctx.db.pool.query<{ paise: number }>(
      `select coalesce(sum(l.seller_paise), 0)::float8 as paise
      from settlements as s join settlement_legs as l using (settlement_id)
      where s.state = 'settled' and l.seller_firm_id = $1`,
      [firmId],
    );
    const { rows: brought } = await service.ctx.db.pool.query<{ paise: number }>(
      `select coalesce(sum(paise), 0)::float8 as paise
      from deposits left join deposit_reversals as r using (environment, reference)
      where environment = 'live' and firm_id = $1 and r.reason is null`,
      [firmId],
    );
    const owed = (earned[0]?.paise ?? 0) - paid + (brought[0]?.paise ?? 0);
    const { posted_paise, dues_paise } = await readBalance(service, { firmId }, "live");
    const has = Number(posted_paise) - Number(dues_paise);
    assert.equal(has, owed, "what it has is what it earned and sent");
  }
  for (const payment of world.payments) {
    const credited = await listCredited(world, payment);
    assert.ok(credited.length <= 1, `${payment.utr} counts ${credited.length} times`);
  }
  const { unexplained_paise } = await reconcileBank(service.ctx, "live");
  assert.ok(unexplained_paise === null || Number(unexplained_paise) === 0);
}

async function runOnce(service: Service, random: Random, done: Map<string, number>) {
  const sellers: LiveSeller[] = [];
  for (let firm = 0; firm < firms; firm++) sellers.push(await liveSeller(service));
  const world = new World(service, sellers);
  for (let firm = 0; firm < firms; firm++) await take(world, "sell", firm);
  // The first run begins with what must happen once, whatever is drawn after it.
  if (done.size === 0) for (const kind of always) await take(world, kind, 1);
  for (let step = 0; step < stepsPerRun; step++) {
    await take(world, random.pick(kinds), random.below(1_000));
    await assertNothingTwice(world);
  }
  await assertBroughtOnly(world);
  await assertNothingTwice(world);
  for (const [kind, count] of world.done) done.set(kind, (done.get(kind) ?? 0) + count);
}

test("no sequence of operator and bank acts pays twice or creates money", async (t) => {
  const random = startRandom(t);
  const done = new Map<string, number>();
  for (let run = 0; run < runs; run++) {
    const service = await startService(t);
    await runOnce(service, random, done);
    await assertLedgerSound(service);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(done)));
  for (const kind of always) assert.ok((done.get(kind) ?? 0) > 0, kind);
});
