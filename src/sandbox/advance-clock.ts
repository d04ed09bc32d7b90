// A desk of the sandbox does not wait a day to see what its code does when a deadline has passed. It
// puts its clock forward, and everything of its own that ends with time ends that much sooner. The
// workers then find it due, as they would have in the end.

import { recordChanges } from "../journal/record-changes.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Passage } from "../kernel/passage.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { requireSandboxDesk } from "./reset-sandbox.ts";
import { countMidnights } from "./rules.ts";
import type { AdvanceClockBody, DeskClock } from "./schema.ts";
import { addToClock } from "./store.ts";

/** What a slice does when time passes for a desk; it answers how many things came nearer to their end. */
type TimeHook = (tx: Tx, passage: Passage) => Promise<number>;

export type TimeHooks = Readonly<Record<keyof DeskClock["brought_nearer"], TimeHook>> & {
  /** Keeps deals from being made meanwhile; taken first, as by all who trade. */
  readonly lock: (tx: Tx, environment: Passage["environment"]) => Promise<void>;
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
      const passage = { environment, deskId, seconds, days, now };
      await timeHooks.lock(tx, environment);
      // In the order of locks.
      const brought_nearer = {
        quotes: await timeHooks.quotes(tx, passage),
        payouts: await timeHooks.payouts(tx, passage),
        settlements: await timeHooks.settlements(tx, passage),
        crosses: await timeHooks.crosses(tx, passage),
        holds: await timeHooks.holds(tx, passage),
        credits: await timeHooks.credits(tx, passage),
        orders: await timeHooks.orders(tx, passage),
      };
      const after = { clock: istTimestamp(clock), ahead_s: aheadS, brought_nearer };
      const entity = { type: "clock", id: deskId, version: 1, href: "/v1/sandbox/clock" };
      const change = { environment, deskId, firmId: deskId, entity, before: null, after };
      await recordChanges(tx, toActor(call), [{ ...change, action: "sandbox.advance_clock" }], now);
      return after;
    },
    { rollBack: call.dryRun },
  );
}
