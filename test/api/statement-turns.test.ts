// Whose statements are made first: live's, then the sandbox's, where the desks take turns.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createStatementFreezer } from "../../src/reports/freeze-statements.ts";
import { asOwner } from "../support/database.ts";
import { payIn } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const letterhead = { name: "House", address: [], gstin: null };
const stepsPerRun = 20;
const daySeconds = 86_400;

async function countStatements({ ctx }: Service, { firmId }: Dealer): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ count: number }>(
    "select count(*)::int as count from statements where firm_id = $1",
    [firmId],
  );
  return rows[0]?.count ?? 0;
}

async function moneyed(service: Service, environment: "live" | "sandbox"): Promise<Dealer> {
  const desk = await dealer(service, [], { environment });
  await payIn(service, desk.firmId, 100_000, environment);
  return desk;
}

test("the months of a desk that is years ahead delay neither live's nor another desk's", async (t) => {
  const service = await startService(t);
  const far = await moneyed(service, "sandbox");
  const near = await moneyed(service, "sandbox");
  const live = await moneyed(service, "live");
  for (let twice = 0; twice < 4; twice++) {
    await far.post("/v1/sandbox/clock", { advance_s: 730 * daySeconds }, 200);
  }
  const freeze = createStatementFreezer(service.ctx, letterhead);
  await freeze();
  assert.ok((await countStatements(service, far)) < stepsPerRun, "a run ends after its steps");

  await near.post("/v1/sandbox/clock", { advance_s: 20 * daySeconds }, 200);
  await freeze();
  assert.equal(await countStatements(service, near), 1, "another desk's month is made beside them");

  service.clock.advance({ days: 20 });
  await freeze();
  assert.equal(await countStatements(service, live), 1, "live's month is made first");
  assert.ok((await countStatements(service, far)) < 60, "the far desk's months are not done");

  for (let run = 0; run < 50 && (await freeze()) === "more"; run++);
  assert.ok((await countStatements(service, far)) > 95);
  assert.equal(await freeze(), "idle");
});

test("live's months are made before the sandbox's desks take turns", async (t) => {
  const service = await startService(t);
  for (let desk = 0; desk < 4; desk++) {
    const far = await moneyed(service, "sandbox");
    await far.post("/v1/sandbox/clock", { advance_s: 730 * daySeconds }, 200);
  }
  const firms: Dealer[] = [];
  for (let firm = 0; firm < 6; firm++) firms.push(await moneyed(service, "live"));
  service.clock.advance({ days: 20 });
  await createStatementFreezer(service.ctx, letterhead)();
  const made = await Promise.all(firms.map((firm) => countStatements(service, firm)));
  assert.deepEqual(made, Array<number>(6).fill(1));
});

test("a clock that is beyond every date stops nobody's statements", async (t) => {
  const service = await startService(t);
  const wild = await moneyed(service, "sandbox");
  const live = await moneyed(service, "live");
  await wild.post("/v1/sandbox/clock", { advance_s: 1 }, 200);
  await asOwner(service.ctx.db, (owner) =>
    owner.query(`
      alter table desk_clocks drop constraint desk_clocks_ahead_s_check;
      update desk_clocks set ahead_s = 9007199254740991`),
  );
  service.clock.advance({ days: 20 });
  const freeze = createStatementFreezer(service.ctx, letterhead);
  await freeze();
  assert.equal(await countStatements(service, live), 1);
});

test("a firm whose statement cannot be made delays nobody's, in live as in the sandbox", async (t) => {
  const service = await startService(t);
  const bad = await moneyed(service, "live");
  const good = await moneyed(service, "live");
  const other = await moneyed(service, "sandbox");
  await asOwner(service.ctx.db, (owner) =>
    owner.query(`
      create function refuse_statement() returns trigger language plpgsql as
        $$ begin raise exception 'poisoned'; end $$;
      create trigger refuse_statement before insert on statements
        for each row when (new.firm_id = '${bad.firmId}') execute function refuse_statement()`),
  );
  service.clock.advance({ days: 20 });
  const freeze = createStatementFreezer(service.ctx, letterhead);
  for (let run = 0; run < 10 && (await freeze()) === "more"; run++);
  const made = await Promise.all([bad, good, other].map((desk) => countStatements(service, desk)));
  assert.deepEqual(made, [0, 1, 1]);
});
