// Reset, seeding and scenarios of a sandbox desk. A reset ends everything that is open; the books
// and the events are append-only in the sandbox as well, and keep the past.

import { lockFreeCredits, withdrawAllOfDesk } from "../credits/end-holdings.ts";
import { seedFirmCredits } from "../credits/seed-credits.ts";
import { giveUpCrosses, lockOpenCrosses } from "../crosses/end-crosses.ts";
import { requireVisibleFirm, type FirmOfDesk, refuseOffboarded } from "../firms/find-firms.ts";
import { recordAttributedChanges, recordChanges } from "../journal/record-changes.ts";
import { toActor, type Change } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { schemes } from "../kernel/scheme.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import { clearScenarios, readScenarios, setScenario as setForDesk } from "../outside/scenarios.ts";
import type { Context } from "../platform/context.ts";
import type { SettlementHooks } from "../settlement/transfer-legs.ts";
import { giveUpSettlements, lockSettlementsOfDesk } from "../settlement/fail-settlements.ts";
import { endOpenOrders, lockTrading } from "../trading/end-orders.ts";
import { readOrderPage } from "../trading/read-orders.ts";
import type {
  ResetDone,
  ScenarioList,
  SeedCreditsBody,
  SeededCredits,
  SetScenarioBody,
} from "./schema.ts";
import { deleteClock } from "./store.ts";

/** What follows from settlements that a reset fails. */
export type ResetHooks = SettlementHooks;

export async function resetSandbox(
  ctx: Context,
  call: Call,
  settlementHooks: ResetHooks,
): Promise<ResetDone> {
  requireSandboxDesk(call.caller);
  const { environment, deskId } = call.caller;
  const actor = toActor(call);
  const now = ctx.now();
  const { rows: resting } = await readOrderPage(ctx, call.caller, { status: "open" });
  return await ctx.db.transaction(
    async (tx) => {
      await deleteClock(tx, deskId); // First, as in advanceClock: the same lock order.
      await clearScenarios(tx, deskId);
      // Locks everything before it ends anything. Later records belong to the time after the reset.
      await lockTrading(tx, environment);
      const settlements = await lockSettlementsOfDesk(tx, { environment, deskId, settlementHooks });
      const open = await lockOpenCrosses(tx, deskId);
      await lockFreeCredits(tx, deskId);
      const orderIds = resting.map((order) => order.order_id);
      const how = { how: "cancelled", reason: "sandbox_reset" } as const;
      const ended = await endOpenOrders(tx, {
        environment,
        lanes: schemes,
        orderIds,
        ...how,
        findActor: () => actor,
        now,
      });
      const given = { environment, settlements, settlementHooks };
      const failed = await giveUpSettlements(tx, actor, given, now);
      const crosses = await giveUpCrosses(tx, { crosses: open, reason: how.reason }, now);
      const withdrawn = await withdrawAllOfDesk(tx, deskId, now);
      const others = [...crosses, ...failed, ...withdrawn];
      const made = [...ended.changes, ...others.map((change) => ({ actor, change }))];
      await recordAttributedChanges(tx, made, now);
      return {
        orders_cancelled: ended.orders.length,
        crosses_ended: open.length,
        settlements_failed: settlements.length,
        credits_withdrawn: withdrawn.length,
      };
    },
    { rollBack: call.dryRun, repeatsLost: true, repeatsHeld: true },
  );
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
    before: null,
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
