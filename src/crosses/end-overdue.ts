import { readCalendar } from "../calendar/read-calendar.ts";
import { recordChanges } from "../events/record-changes.ts";
import { isPortUp } from "../inquiries/port-status.ts";
import type { Actor } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import { lateUntil } from "../kernel/working-days.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/offenders.ts";
import { endCrosses, type Ending } from "./end-crosses.ts";
import { claimOverdue, type CrossRow, yieldToCallers } from "./store.ts";

const setSizeMax = 200;
const clock: Actor = { kind: "worker", id: "cross-deadlines", requestId: null };

/** One set of crosses whose time is up: credits are let go, and money goes back to its buyers. */
export async function endOverdue(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let ended = 0;
  for (const environment of environments) {
    const bankIsUp = await isPortUp(ctx.db, environment, "bank");
    const now = ctx.now();
    const until = environment === "live" ? lateUntil(now, "bank", await readCalendar(ctx.db)) : now;
    const late = { environment, bankIsUp, now: until, limit: setSizeMax };
    ended += await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const overdue = await claimOverdue(tx, { ...late, ...choice });
        note(overdue.map((row) => row.cross_id));
        if (overdue.length === 0) return 0;
        await yieldToCallers(tx);
        await recordChanges(tx, clock, await endCrosses(tx, overdue.map(endingOf), now), now);
        return overdue.length;
      }),
    );
  }
  return ended > 0 ? "more" : "idle";
}

function endingOf(cross: CrossRow): Ending {
  const move = cross.state === "funded" ? "refund" : "expire";
  return { cross, move, action: move, reason: "timeout" };
}
