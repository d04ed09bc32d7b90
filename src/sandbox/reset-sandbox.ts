// Reset, seeding and scenarios of a sandbox desk. A reset ends everything that is open; the books
// and the events are append-only in the sandbox as well, and keep the past.
//
// A reset works in sets, each in a transaction of its own, so that other desks' orders wait no longer
// than for a set of orders. One that breaks off has ended a part; the next one ends the rest.

import { countFreeCredits, withdrawFreeOfDesk } from "../credits/end-holdings.ts";
import { seedFirmCredits } from "../credits/seed-credits.ts";
import { giveUpCrosses } from "../crosses/end-crosses.ts";
import { requireVisibleFirm, type FirmOfDesk, refuseOffboarded } from "../firms/find-firms.ts";
import { recordAttributedChanges, recordChanges } from "../journal/record-changes.ts";
import { toActor, type Change } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { type Cursor, toMovedSet } from "../kernel/clock-advance.ts";
import { notFound } from "../kernel/failure.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import { clearScenarios, readScenarios, setScenario as setForDesk } from "../outside/scenarios.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import type { SettlementHooks } from "../settlement/transfer-legs.ts";
import { giveUpSettlements } from "../settlement/fail-settlements.ts";
import { endOpenOrders } from "../trading/end-orders.ts";
import { listOpenOrdersOfDesk } from "../trading/read-orders.ts";
import type {
  ResetDone,
  ScenarioList,
  SeedCreditsBody,
  SeededCredits,
  SetScenarioBody,
} from "./schema.ts";
import { deleteClock } from "./store.ts";

/** What follows from settlements that a reset fails. */
type ResetHooks = SettlementHooks;

/** As many orders as a batch has. */
const ordersPerSet = 500;
/** A settlement or a cross has many credits. */
const dealsPerSet = 100;
const creditsPerSet = 500;
/** Bounds the loop over the sets of a reset: more than any desk has rows for. */
const setsMax = 100_000;

export async function resetSandbox(
  ctx: Context,
  call: Call,
  settlementHooks: ResetHooks,
): Promise<ResetDone> {
  requireSandboxDesk(call.caller);
  const { environment, deskId } = call.caller;
  const actor = toActor(call);
  const now = ctx.now();
  const reset = { ctx, call, now };
  const ending = { actor, environment, deskId, now };
  const reason = "sandbox_reset";
  // First, as in advanceClock. An advance that is under way ends here.
  await keepIn(reset, async (tx) => {
    await deleteClock(tx, deskId);
    await clearScenarios(tx, deskId);
  });
  const orderIds = await endInSets(reset, ordersPerSet, async (tx, cursor) => {
    const ids = await listOpenOrdersOfDesk(tx, call.caller, cursor);
    const { changes } = await endOpenOrders(tx, {
      environment,
      orderIds: ids,
      how: "cancelled",
      reason,
      findActor: () => actor,
      now,
    });
    await recordAttributedChanges(tx, changes, now);
    return ids;
  });
  const settlementIds = await endInSets(reset, dealsPerSet, async (tx, cursor) => {
    const { ids, changes } = await giveUpSettlements(tx, { ...ending, settlementHooks }, cursor);
    await recordChanges(tx, actor, changes, now);
    return ids;
  });
  const crossIds = await endInSets(reset, dealsPerSet, async (tx, cursor) => {
    const { ids, changes } = await giveUpCrosses(tx, { ...ending, reason }, cursor);
    await recordChanges(tx, actor, changes, now);
    return ids;
  });
  const endedIds = [...orderIds, ...settlementIds, ...crossIds];
  return {
    orders_cancelled: orderIds.length,
    crosses_ended: crossIds.length,
    settlements_failed: settlementIds.length,
    credits_withdrawn: call.dryRun
      ? await countFreeCredits(ctx.db, deskId, endedIds)
      : await withdrawAll(reset),
  };
}

type Reset = { readonly ctx: Context; readonly call: Call; readonly now: Date };

async function keepIn<Result>(
  { ctx, call }: Reset,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const options = { rollBack: call.dryRun, repeatsLost: true, repeatsHeld: true };
  return await ctx.db.transaction(work, options);
}

/** Ends a desk's things set by set, by their ids, each set in a transaction; answers with the ids. */
async function endInSets(
  reset: Reset,
  limit: number,
  end: (tx: Tx, cursor: Cursor) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const ended: string[] = [];
  let after: string | undefined = "";
  for (let set = 0; set < setsMax && after !== undefined; set++) {
    const cursor: Cursor = { after, limit };
    const ids = await keepIn(reset, (tx) => end(tx, cursor));
    ended.push(...ids);
    after = toMovedSet(ids, cursor).next;
  }
  return ended;
}

async function withdrawAll(reset: Reset): Promise<number> {
  const { call, now } = reset;
  let withdrawn = 0;
  let after: string | undefined = "";
  for (let set = 0; set < setsMax && after !== undefined; set++) {
    const cursor: Cursor = { after, limit: creditsPerSet };
    const { count, next } = await keepIn(reset, async (tx) => {
      const free = await withdrawFreeOfDesk(tx, { deskId: call.caller.deskId, now }, cursor);
      await recordChanges(tx, toActor(call), free.changes, now);
      return free;
    });
    withdrawn += count;
    after = next;
  }
  return withdrawn;
}

/** Adds listed synthetic credits to a firm. */
export async function seedSandbox(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  command: SeedCreditsBody,
): Promise<SeededCredits> {
  requireSandbox(call.caller);
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await requireVisibleFirm(tx, call.caller, command.firm_id ?? call.caller.firmId);
      refuseOffboarded(firm);
      const seed = command.seed ?? call.requestId;
      const { count, scheme } = command;
      const scripNos = await seedFirmCredits(tx, firm, { count, scheme, seed, now });
      const seeded = { firm_id: firm.firm_id, scrip_nos: scripNos };
      await recordChanges(tx, toActor(call), [buildSeedChange(firm, seeded)], now);
      return seeded;
    },
    { rollBack: call.dryRun },
  );
}

/** One audit record for the whole seed. */
function buildSeedChange(
  { environment, desk_id, firm_id, version }: FirmOfDesk,
  after: object,
): Change {
  return {
    environment,
    deskId: desk_id,
    firmId: firm_id,
    action: "sandbox.seed",
    entity: { type: "firm", id: firm_id, version, href: `/v1/firms/${firm_id}/credits` },
    after,
  };
}

/** Sets an outcome for what the desk does next. */
export async function setScenario(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  { scenario }: SetScenarioBody,
): Promise<ScenarioList> {
  requireSandboxDesk(call.caller);
  const { deskId, environment } = call.caller;
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      await setForDesk(tx, { deskId, scenario, now });
      const scenarios = await readScenarios(tx, deskId);
      const change = {
        environment,
        deskId,
        firmId: deskId,
        action: "sandbox.set_scenario",
        entity: { type: "scenario", id: scenario, version: 1, href: "/v1/sandbox/scenarios" },
        before: null,
        after: { scenarios },
      };
      await recordChanges(tx, toActor(call), [change], now);
      return { scenarios };
    },
    { rollBack: call.dryRun },
  );
}

/** Live keys get 404: the operations exist in the sandbox only. */
function requireSandbox({ environment }: Caller): void {
  if (environment !== "sandbox") throw notFound();
}

/** For operations on the whole desk; refuses sub_account keys. */
export function requireSandboxDesk(caller: Caller): void {
  requireSandbox(caller);
  refuseSubAccount(visibleTo(caller), "change the desk's sandbox");
}
