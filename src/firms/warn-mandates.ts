import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { applyChanges, buildFirmChange } from "./change-firm.ts";
import { countMandateDays, findMandateDueDay } from "./rules.ts";
import { claimMandatesDue, type FirmRow, setFirms } from "./store.ts";

const setSizeMax = 500;
const clock: Actor = { kind: "worker", id: "clock", requestId: null };

/** Warns desks of mandates that end soon, one set at a time. */
export async function warnOfMandates(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  const warn = async (tx: Tx, due: readonly FirmRow[]): Promise<void> => {
    const warned = due.map((before) => {
      const mandate_due_on = findMandateDueDay(before.mandate, now);
      return { before, after: applyChanges(before, { mandate_due_on }, now) };
    });
    await setFirms(
      tx,
      warned.map(({ after }) => after),
    );
    const changes = warned.map(({ before, after }) =>
      buildFirmChange(before, after, { action: "warn", ...buildWarning(after, now) }, now),
    );
    await recordChanges(tx, clock, changes, now);
  };
  const done = await workInParts(offenders, (choice, claimed) =>
    ctx.db.transaction(async (tx) => {
      const due = await claimMandatesDue(tx, istDay(now), { limit: setSizeMax, ...choice });
      claimed(due.map(({ firm_id }) => firm_id));
      if (due.length > 0) await warn(tx, due);
      return due.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";
}

/** None when the mandate has ended in the meantime. */
function buildWarning({ mandate }: FirmRow, now: Date) {
  const days_left = mandate ? countMandateDays(mandate, now) : -1;
  if (!mandate || days_left < 0) return {};
  const { reference, valid_until } = mandate;
  return { event: { name: "firm.mandate_expiring", data: { reference, valid_until, days_left } } };
}
