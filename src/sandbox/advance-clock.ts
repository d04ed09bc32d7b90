// A sandbox desk advances its clock to see deadlines pass. Every deadline of the desk is moved
// earlier by as much; the workers then find it due as usual.

import { recordChanges } from "../journal/record-changes.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { ClockAdvance } from "../kernel/clock-advance.ts";
import { dayMs, istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { requireSandboxDesk } from "./reset-sandbox.ts";
import type { AdvanceClockBody, DeskClock } from "./schema.ts";
import { addToClock } from "./store.ts";

/** Moves a room's deadlines of a desk earlier; returns their number. */
type TimeHook = (tx: Tx, clockAdvance: ClockAdvance) => Promise<number>;

export type TimeHooks = Readonly<Record<keyof DeskClock["brought_nearer"], TimeHook>> & {
  /** Locks matching, so that no deal is made meanwhile; taken first, as in all trading. */
  readonly lock: (tx: Tx, environment: ClockAdvance["environment"]) => Promise<void>;
};

export async function advanceClock(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  { command, timeHooks }: { readonly command: AdvanceClockBody; readonly timeHooks: TimeHooks },
): Promise<DeskClock> {
  requireSandboxDesk(call.caller);
  const { environment, deskId } = call.caller;
  const seconds = command.advance_s;
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const aheadS = await addToClock(tx, deskId, seconds);
      const clock = new Date(now.getTime() + aheadS * 1_000);
      const days = countMidnights(new Date(clock.getTime() - seconds * 1_000), clock);
      const clockAdvance = { environment, deskId, seconds, days, now };
      await timeHooks.lock(tx, environment);
      // In lock order.
      const brought_nearer = {
        quotes: await timeHooks.quotes(tx, clockAdvance),
        payouts: await timeHooks.payouts(tx, clockAdvance),
        settlements: await timeHooks.settlements(tx, clockAdvance),
        crosses: await timeHooks.crosses(tx, clockAdvance),
        holds: await timeHooks.holds(tx, clockAdvance),
        credits: await timeHooks.credits(tx, clockAdvance),
        orders: await timeHooks.orders(tx, clockAdvance),
      };
      const after = { clock: istTimestamp(clock), ahead_s: aheadS, brought_nearer };
      const entity = { type: "clock", id: deskId, version: 1, href: "/v1/sandbox/clock" };
      const change = { environment, deskId, firmId: deskId, entity, before: null, after };
      await recordChanges(tx, toActor(call), [{ ...change, action: "sandbox.advance_clock" }], now);
      return after;
    },
    { rollBack: call.dryRun, repeatsLost: true, repeatsHeld: true },
  );
}

/** The number of IST midnights after one instant, up to another. */
function countMidnights(from: Date, to: Date): number {
  return (Date.parse(istDay(to)) - Date.parse(istDay(from))) / dayMs;
}
