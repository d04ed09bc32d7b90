import { recordChanges } from "../events/record-changes.ts";
import type { Change, EventOfChange } from "../kernel/actor.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import type { Doer } from "./doer.ts";
import { keepAuthorizedAt } from "./rules.ts";
import type { Firm } from "./schema.ts";
import { type FirmRow, lockFirm, setFirms } from "./store.ts";
import { viewFirm } from "./view-firm.ts";

/** What was decided about a firm: its columns that change, and what is told about it. */
export type Decision = {
  readonly action: string;
  readonly changes: Partial<FirmRow>;
  readonly event?: Pick<EventOfChange, "name" | "data">;
  /** Changes of other things that follow from this one, done already. */
  readonly also?: readonly Change[];
};

export type Decide = (tx: Tx, firm: FirmRow, now: Date) => Promise<Decision | undefined>;

/**
 * One firm, loaded under its lock, decided about, stored and recorded. Nothing is written when
 * nothing was decided.
 */
export async function changeFirm(
  ctx: Pick<Context, "db" | "now">,
  doer: Doer,
  { firmId, decide }: { firmId: string; decide: Decide },
): Promise<Firm> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      if (!isVisible(doer, firmId)) throw notFound();
      const firm = await lockFirm(tx, doer.deskId, firmId);
      if (!firm) throw notFound();
      const decision = await decide(tx, firm, now);
      if (!decision) return viewFirm(firm, now);
      const changed = changedFirm(firm, decision.changes, now);
      await setFirms(tx, [changed]);
      const own = changeOfFirm(firm, changed, decision, now);
      await recordChanges(tx, doer.actor, [own, ...(decision.also ?? [])], now);
      return viewFirm(changed, now);
    },
    { rollBack: doer.dryRun },
  );
}

export function changedFirm(firm: FirmRow, changes: Partial<FirmRow>, now: Date): FirmRow {
  const authorized_at = keepAuthorizedAt(firm, changes.connection_state, now);
  return { ...firm, ...changes, authorized_at, version: firm.version + 1, updated_at: now };
}

export function changeOfFirm(
  before: FirmRow | null,
  after: FirmRow,
  { action, event }: Pick<Decision, "action" | "event">,
  now: Date,
): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `firm.${action}`,
    entity: {
      type: "firm",
      id: after.firm_id,
      version: after.version,
      href: `/v1/firms/${after.firm_id}`,
    },
    before: before && viewFirm(before, now),
    after: viewFirm(after, now),
    event: event && {
      ...event,
      from: before?.connection_state ?? null,
      to: after.connection_state,
    },
  };
}

function isVisible({ boundTo }: Doer, firmId: string): boolean {
  return isId("frm", firmId) && (boundTo === null || boundTo === firmId);
}
