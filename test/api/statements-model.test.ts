// Random deals, refunds, payouts, returns and reversals over the ends of months: every statement ties
// to the books to the paisa, each month opens with what the one before closed with, and what desks
// earned is the same in the books, in their earnings and on their statements.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { operator } from "../../src/kernel/actor.ts";
import { addPaise, type PaiseSum } from "../../src/kernel/money.ts";
import {
  istDay,
  istDayStart,
  istMonth,
  lastDayOfMonth,
  nextIstMonthStart,
} from "../../src/kernel/time.ts";
import { readPostings } from "../../src/ledger/read-books.ts";
import { periodSpan } from "../../src/kernel/months.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { asOwner } from "../support/database.ts";
import {
  dealStep,
  type DealWorld,
  openWorld,
  playStep,
  waitForAll,
} from "../support/deal-world.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { readRuns } from "../support/random.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle, readBalance } from "../support/settlements.ts";

const runs = readRuns(3);
/** As many as it takes for every tax to be there. */
const taxedRuns = readRuns(5);
const seed = 20_261_115;
const hourMs = 3_600_000;

/** A month: what happens in it, and where the clock comes to stand around its end. */
const month = fc.record({
  steps: fc.array(dealStep, { minLength: 3, maxLength: 6 }),
  ms: fc.constantFrom(-1_000, 1_000, hourMs + 1_000),
});
const months = fc.array(month, { minLength: 2, maxLength: 3 });

type Holder = { readonly key: string; readonly firmId: string };

function toHolders({ seller, buyer }: DealWorld): Holder[] {
  return [seller, buyer].flatMap(({ key, deskId, firmId }) => [
    { key, firmId },
    { key, firmId: deskId },
  ]);
}

async function read({ send }: Service, { key }: Holder, path: string): Promise<Answer["body"]> {
  return (await send("GET", path, { key, expect: 200 })).body;
}

/** What the books moved in a month on the accounts that make the balance. */
async function movedIn({ ctx }: Service, firmId: string, period: string): Promise<number> {
  const { from, to } = periodSpan(period);
  let moved = 0;
  let after: Awaited<ReturnType<typeof readPostings>>["next"];
  do {
    const page = await readPostings(ctx.db, { environment: "sandbox", firmId, from, to, after });
    for (const { account_kind, amount } of page.postings) {
      if (account_kind === "firm_cash" || account_kind === "desk_commission") moved += amount;
    }
    after = page.next;
  } while (after);
  return moved;
}

/** Everything that is wrong with the statements of a firm. */
async function listComplaints(service: Service, holder: Holder): Promise<string[]> {
  const { firmId } = holder;
  const complaints: string[] = [];
  const expectSame = (what: string, found: PaiseSum, expected: PaiseSum) => {
    if (found !== expected) complaints.push(`${what}: ${found} where ${expected}`);
  };
  const { statements } = await read(service, holder, `/v1/statements?firm_id=${firmId}`);
  let closing = 0;
  for (const listed of statements.toReversed()) {
    const { period } = listed;
    const path = `/v1/statements/${period}?firm_id=${firmId}`;
    const statement = await read(service, holder, path);
    expectSame(`${period} opens`, statement.opening_paise, closing);
    let balance = statement.opening_paise;
    for (const line of statement.lines) {
      balance += line.amount_paise;
      expectSame(`${period} line ${line.line_no}`, line.balance_paise, balance);
    }
    closing = statement.closing_paise;
    expectSame(`${period} closes`, closing, balance);
    expectSame(`${period} is listed with`, listed.closing_paise, closing);
    const moved = await movedIn(service, firmId, period);
    expectSame(`${period} moves`, closing - statement.opening_paise, moved);
    const totals = statement.totals.reduce(
      (sum: number, total: { amount_paise: number }) => sum + total.amount_paise,
      0,
    );
    expectSame(`${period} totals`, totals, moved);
  }
  const { posted_paise, commission_paise } = await readBalance(service, { firmId });
  expectSame("the last one closes", closing, addPaise(posted_paise, commission_paise));
  return complaints;
}

/** Earnings by whatever, commission lines and commission entries: three times the same figure. */
async function earningComplaints(service: Service, desk: Holder): Promise<string[]> {
  const { rows } = await service.ctx.db.pool.query<{ paise: number }>(
    `select coalesce(sum(
      case when m.to_account like '%' || $1 then m.amount else -m.amount end
    ), 0)::float8 as paise
    from ledger_entries as e, unnest(e.movements) as m
    where e.kind = 'commission' and ($1 in (split_part(m.to_account, ':', 2), split_part(m.from_account, ':', 2)))`,
    [desk.firmId],
  );
  const booked = rows[0]?.paise ?? 0;
  const to = lastDayOfMonth(istMonth(service.clock.now()));
  const from = istMonth(new Date(istDayStart(to).getTime() - 300 * 86_400_000));
  const figures: [string, number][] = [];
  for (const by of ["day", "firm", "scheme"]) {
    const query = `by=${by}&from=${from}-01&to=${to}`;
    const earned = await read(service, desk, `/v1/earnings?${query}`);
    const summed = earned.earnings.reduce(
      (sum: number, row: { commission_paise: number }) => sum + row.commission_paise,
      0,
    );
    figures.push([`earnings by ${by}`, summed], [`all by ${by}`, earned.commission_paise]);
  }
  const { statements } = await read(service, desk, "/v1/statements");
  let lines = 0;
  for (const { period } of statements) {
    const statement = await read(service, desk, `/v1/statements/${period}`);
    for (const line of statement.lines) if (line.kind === "commission") lines += line.amount_paise;
  }
  figures.push(["statement lines", lines]);
  return figures
    .filter(([, paise]) => paise !== booked)
    .map(([what, paise]) => `${what}: ${paise}`);
}

async function turnMonth(service: Service, ms: number): Promise<void> {
  const end = nextIstMonthStart(service.clock.now());
  service.clock.set(new Date(end.getTime() + ms));
  await letSettle(service, 2);
}

test("every statement agrees with the books, for any sequence of acts", async (t) => {
  const service = await startService(t);
  const seen = new Map<string, number>();
  let last: DealWorld | undefined;
  await fc.assert(
    fc.asyncProperty(months, async (played) => {
      const world = await openWorld(service);
      for (const { steps, ms } of played) {
        for (const step of steps) await playStep(service, world, step);
        await letSettle(service, 3);
        await turnMonth(service, ms);
      }
      await waitForAll(service);
      for (const holder of toHolders(world)) {
        assert.deepEqual(await listComplaints(service, holder), []);
        const { statements } = await read(
          service,
          holder,
          `/v1/statements?firm_id=${holder.firmId}`,
        );
        for (const { period } of statements) {
          const path = `/v1/statements/${period}?firm_id=${holder.firmId}`;
          const statement = await read(service, holder, path);
          count(seen, [statement.status, ...statement.lines.map(pickKind)]);
        }
      }
      for (const { key, deskId } of [world.seller, world.buyer]) {
        assert.deepEqual(await earningComplaints(service, { key, firmId: deskId }), []);
      }
      await assertLedgerSound(service);
      last = world;
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
  t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
  for (const what of ["final", "running", "sale", "purchase", "deposit", "payout", "commission"]) {
    assert.ok((seen.get(what) ?? 0) > 0, `${what} never happened`);
  }
  assert.ok((seen.get("reversal") ?? 0) > 0 && (seen.get("dues") ?? 0) > 0);
  assert.ok(last);
  await assertLeftOutIsSeen(service, last);
});

/** What the lines of each kind add up to, over all statements of these. */
async function sumLinesByKind(service: Service, holders: readonly Holder[]) {
  const sums = new Map<string, number>();
  for (const holder of holders) {
    const { statements } = await read(service, holder, `/v1/statements?firm_id=${holder.firmId}`);
    for (const { period } of statements) {
      const path = `/v1/statements/${period}?firm_id=${holder.firmId}`;
      for (const { kind, amount_paise } of (await read(service, holder, path)).lines) {
        sums.set(kind, (sums.get(kind) ?? 0) + amount_paise);
      }
    }
  }
  return sums;
}

async function postedOn({ ctx }: Service, kind: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ paise: string }>(
    `select coalesce(sum(posted_paise), 0)::text as paise from ledger_balances
    where environment = 'sandbox' and kind = $1`,
    [kind],
  );
  return Number(rows[0]?.paise);
}

const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
const tds = { section: "194Q", rate_bps: 10, threshold_paise: 40_000_000, with_crosses: false };
const taxKinds = ["gst", "cgst", "sgst", "igst", "tds"] as const;

test("with taxes on, lines and taxes sum to the movements, and the tax shown is the tax owed", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const environment = "sandbox";
  const seen = new Set<string>();
  const everybody: Holder[] = [];
  await fc.assert(
    fc.asyncProperty(
      months,
      fc.record({ feePaise: fc.nat(9_999), gstPaise: fc.nat(1_799) }),
      fc.constantFrom("27", "29"),
      async (played, fee, state) => {
        const world = await openWorld(service, fee);
        everybody.push(...toHolders(world));
        await ctx.db.pool.query("update firms set gstin = $2 || pan || '1ZX' where firm_id = $1", [
          world.seller.firmId,
          state,
        ]);
        for (const [at, { steps, ms }] of played.entries()) {
          const from = istDay(ctx.now());
          // Divided from the first month on, and not any more in the last; withheld from the second.
          const isLast = at === played.length - 1;
          await setTax(ctx, operator, {
            environment,
            line: "gst",
            from,
            rate: isLast ? null : gst,
          });
          await setTax(ctx, operator, {
            environment,
            line: "tds",
            from,
            rate: at > 0 ? tds : null,
          });
          for (const step of steps) await playStep(service, world, step);
          await letSettle(service, 3);
          await turnMonth(service, ms);
        }
        await waitForAll(service);
        for (const holder of toHolders(world)) {
          assert.deepEqual(await listComplaints(service, holder), []);
        }
        const sums = await sumLinesByKind(service, everybody);
        for (const kind of taxKinds) {
          const lines = sums.get(kind) ?? 0;
          if (lines !== 0) seen.add(kind);
          assert.equal(await postedOn(service, `${kind}_payable`), 0 - lines, kind);
        }
        await assertLedgerSound(service);
      },
    ),
    { numRuns: taxedRuns, seed, endOnFailure: true },
  );
  assert.deepEqual(
    taxKinds.filter((kind) => !seen.has(kind)),
    [],
    "every tax was there",
  );
});

/** The control: the same checks on books from which one posting was left out. */
async function assertLeftOutIsSeen(service: Service, world: DealWorld): Promise<void> {
  const { seller } = world;
  const desk = { key: seller.key, firmId: seller.deskId };
  await playStep(service, world, {
    kind: "deal",
    toHouse: true,
    legs: [{ ofHouse: false, ending: "0001" }],
  });
  await waitForAll(service);
  assert.deepEqual(await listComplaints(service, desk), []);
  await asOwner(service.ctx.db, async (owner) => {
    const { rowCount } = await owner.query(
      `delete from ledger_firm_entries as f using (
        select max(entry_no) as entry_no from ledger_firm_entries where firm_id = $1
      ) as newest where f.firm_id = $1 and f.entry_no = newest.entry_no`,
      [desk.firmId],
    );
    assert.equal(rowCount, 1);
  });
  assert.notDeepEqual(await listComplaints(service, desk), [], "a posting left out must be seen");
  assert.notDeepEqual(await earningComplaints(service, desk), []);
}

function pickKind({ kind }: { kind: string }): string {
  return kind;
}

function count(seen: Map<string, number>, words: readonly string[]): void {
  for (const word of words) seen.set(word, (seen.get(word) ?? 0) + 1);
}
