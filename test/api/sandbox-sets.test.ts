// What a sandbox desk rewrites, its clock and its reset, is done in sets: other desks' orders wait no
// longer than for a set of orders, however many rows the desk has.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asOwner } from "../support/database.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { poison } from "../support/poison.ts";
import { type Service, startService } from "../support/service.ts";

/** As many as a batch of orders. */
const rowsPerSet = 500;
const daySeconds = 86_400;

/**
 * Counts the rows of these tables that each transaction writes while it holds a match lock: its id is
 * then the lock of a row of `match_locks`.
 */
async function countUnderMatchLock({ ctx }: Service): Promise<() => Promise<number>> {
  await asOwner(ctx.db, (owner) =>
    owner.query(`
      create table written_under_lock (xid xid8 not null);
      grant insert, select on written_under_lock to public;
      create function note_written() returns trigger language plpgsql as $$
      begin
        if exists (
          select from match_locks where xmax = pg_current_xact_id()::xid
        ) then
          insert into written_under_lock values (pg_current_xact_id());
        end if;
        return null;
      end $$;
      create trigger note_written after update on credits for each row execute function note_written();
      create trigger note_written after update on orders for each row execute function note_written();
      create trigger note_written after update on quotes for each row execute function note_written();`),
  );
  return async () =>
    await asOwner(ctx.db, async (owner) => {
      const { rows } = await owner.query<{ most: number }>(`
        select coalesce(max(count), 0)::int as most
        from (select count(*) from written_under_lock group by xid) as written`);
      return rows[0]?.most ?? 0;
    });
}

/** A desk with more credits than go into a set, and three that rest in orders. */
async function largeDesk(service: Service, count: number): Promise<Dealer> {
  const desk = await dealer(
    service,
    Array.from({ length: count }, () => ({})),
  );
  const expires_at = new Date(service.clock.now().getTime() + 40 * daySeconds * 1_000);
  for (const scrip_no of desk.scripNos.slice(0, 3)) {
    const terms = { side: "sell", limit_bps: 9_999, time_in_force: "GTD", expires_at };
    await desk.post("/v1/orders", { ...terms, scrip_no, firm_id: desk.firmId }, 201);
  }
  return desk;
}

const dry = { "x-dry-run": "1" };

test("a clock moves a large desk's deadlines without holding the matching for them", async (t) => {
  const service = await startService(t);
  const desk = await largeDesk(service, 3 * rowsPerSet);
  const countMost = await countUnderMatchLock(service);
  const body = { advance_s: daySeconds };
  const tried = await desk.post("/v1/sandbox/clock", body, 200, dry);
  const moved = await desk.post("/v1/sandbox/clock", body, 200);
  assert.equal(moved.body.brought_nearer.credits, 3 * rowsPerSet);
  assert.equal(moved.body.brought_nearer.orders, 3);
  assert.deepEqual(tried.body.brought_nearer, moved.body.brought_nearer);
  assert.equal(await countMost(), 3, "the resting orders alone are moved under the lock");
});

test("a reset ends a large desk's business in sets, and a dry run counts the same", async (t) => {
  const service = await startService(t);
  const desk = await largeDesk(service, 3 * rowsPerSet);
  const countMost = await countUnderMatchLock(service);
  const tried = await desk.post("/v1/sandbox/reset", {}, 200, dry);
  const done = await desk.post("/v1/sandbox/reset", {}, 200);
  assert.equal(done.body.orders_cancelled, 3);
  assert.equal(done.body.credits_withdrawn, 3 * rowsPerSet);
  assert.deepEqual(tried.body, { dry_run: true, ...done.body });
  assert.equal(
    await countMost(),
    6,
    "the resting orders and their credits alone are under the lock",
  );
  await assertLedgerSound(service);
});

test("a clock moves, and a reset ends, more orders than a set has, a set at a time", async (t) => {
  const service = await startService(t);
  const count = rowsPerSet + 20;
  const desk = await dealer(
    service,
    Array.from({ length: count }, () => ({})),
  );
  const expires_at = new Date(service.clock.now().getTime() + 40 * daySeconds * 1_000);
  const terms = { side: "sell", limit_bps: 9_999, time_in_force: "GTD", expires_at };
  const orders = desk.scripNos.map((scrip_no) => ({ ...terms, scrip_no, firm_id: desk.firmId }));
  for (const set of [orders.slice(0, rowsPerSet), orders.slice(rowsPerSet)]) {
    await desk.post("/v1/orders:batch", { orders: set }, 200);
  }
  const countMost = await countUnderMatchLock(service);
  const moved = await desk.post("/v1/sandbox/clock", { advance_s: daySeconds }, 200);
  assert.equal(moved.body.brought_nearer.orders, count);
  assert.equal(await countMost(), rowsPerSet);
  const done = await desk.post("/v1/sandbox/reset", {}, 200);
  assert.equal(await countMost(), 2 * rowsPerSet, "an order and its credit each");
  assert.equal(done.body.orders_cancelled, count);
  assert.equal(done.body.credits_withdrawn, count);
});

test("an advance that broke off is finished by a worker, and no row is moved twice", async (t) => {
  const service = await startService(t);
  const desk = await largeDesk(service, 2 * rowsPerSet);
  const { pool } = service.ctx.db;
  const days = async () => {
    const { rows } = await pool.query<{ expires_on: string; count: number }>(
      `select expires_on::text, count(*)::int from credits where desk_id = $1 group by 1`,
      [desk.deskId],
    );
    return rows;
  };
  const [before] = await days();
  const last = [...desk.scripNos].toSorted().at(-1);
  const poisoned = await poison(service, "credits", `new.scrip_no = '${last}'`);
  await desk.post("/v1/sandbox/clock", { advance_s: daySeconds }, 500);
  assert.equal((await days()).length, 2, "a set was moved before it broke off");
  await service.workOn(["desk-clocks"]);
  assert.equal((await days()).length, 2, "what fails is set aside");
  await poisoned.heal();
  await desk.post("/v1/sandbox/clock", { advance_s: daySeconds }, 200);
  await service.workOn(["desk-clocks"]);
  const after = await days();
  assert.equal(after.length, 1);
  const moved = (Date.parse(before!.expires_on) - Date.parse(after[0]!.expires_on)) / 86_400_000;
  assert.equal(moved, 2);
});

test("a clock goes ten years ahead and no further", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service);
  const year = 31_557_600;
  for (let pair = 1; pair <= 5; pair++) {
    const { body } = await desk.post("/v1/sandbox/clock", { advance_s: 2 * year }, 200);
    assert.equal(body.ahead_s, pair * 2 * year);
  }
  const refused = await desk.post("/v1/sandbox/clock", { advance_s: 1 }, 409);
  assert.deepEqual(refused.body.detail, {
    reason: "clock_too_far",
    ahead_s: 10 * year,
    ahead_max_s: 10 * year,
  });
  await desk.post("/v1/sandbox/reset", {}, 200);
  await desk.post("/v1/sandbox/clock", { advance_s: 1 }, 200);
});
