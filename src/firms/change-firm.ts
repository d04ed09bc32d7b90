// How one firm changes: `changeFirm` locks it, lets the use case decide, stores and records. Here
// are also the simplest changes: suspension and its end, and the warning that a mandate ends soon.

import { refuseHouse } from "../house/read-house.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change, ChangeEvent } from "../kernel/actor.ts";
import { notFound, unprocessable } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { istDay } from "../kernel/time.ts";
import { isVisible } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  listFirmsOfHouse,
  refuseOperatorSuspension,
  type Requester,
  viewFirm,
} from "./find-firms.ts";
import {
  countMandateDays,
  findMandateDueDay,
  firmLifecycle,
  keepAuthorizedAt,
  mayTrade,
} from "./rules.ts";
import type { Firm } from "./schema.ts";
import {
  claimMandatesDue,
  type FirmRow,
  lockFirm,
  lockFirms,
  moveHoldsEarlier,
  setFirms,
} from "./store.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";

const setSizeMax = 500;
const clock: Actor = { kind: "worker", id: "clock", requestId: null };

/** The columns of a firm that change, and the event of the change. */
export type Decision = {
  readonly action: string;
  readonly changes: Partial<FirmRow>;
  readonly event?: Pick<ChangeEvent, "name" | "data">;
  /** Changes of other records that follow from this one and are written already. */
  readonly also?: readonly Change[];
};

type Decide = (tx: Tx, firm: FirmRow, now: Date) => Promise<Decision | undefined>;

/** Locks the firm, decides, stores and records. Writes nothing when there is no decision. */
export async function changeFirm(
  ctx: Pick<Context, "db" | "now">,
  requester: Requester,
  { firmId, decide }: { firmId: string; decide: Decide },
): Promise<Firm> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const { visible } = requester;
      const isKnown = isId("frm", firmId) && isVisible(visible, { ...visible, firmId });
      const firm = isKnown ? await lockFirm(tx, visible.deskId, firmId) : undefined;
      if (!firm) throw notFound("firm_id");
      const decision = await decide(tx, firm, now);
      if (!decision) return viewFirm(firm, now);
      const changed = applyChanges(firm, decision.changes, now);
      await setFirms(tx, [changed]);
      const own = buildFirmChange(firm, changed, decision, now);
      await recordChanges(tx, requester.actor, [own, ...(decision.also ?? [])], now);
      return viewFirm(changed, now);
    },
    { rollBack: requester.dryRun },
  );
}

export function applyChanges(firm: FirmRow, changes: Partial<FirmRow>, now: Date): FirmRow {
  const authorized_at = keepAuthorizedAt(firm, changes.connection_state, now);
  const changed = { ...firm, ...changes, authorized_at };
  const mandate_due_on =
    changes.mandate === undefined
      ? changed.mandate_due_on
      : findMandateDueDay(changes.mandate, now);
  const isWarned = mayTrade(changed.connection_state);
  return {
    ...changed,
    mandate_due_on: isWarned ? mandate_due_on : null,
    version: firm.version + 1,
    updated_at: now,
  };
}

export function buildFirmChange(
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
    after: viewFirm(after, now),
    event: event && {
      ...event,
      from: before?.connection_state ?? null,
      to: after.connection_state,
    },
  };
}

/** Stops trading for a firm. An operator's suspension replaces the desk's own. */
export async function suspendFirm(
  ctx: Pick<Context, "db" | "now">,
  requester: Requester,
  { firmId, reason: given }: { firmId: string; reason: string },
): Promise<Firm> {
  const reason = given.trim();
  if (reason === "") throw unprocessable({ path: "reason", problem: "is required" });
  const by = requester.actor.kind === "operator" ? "operator" : "desk";
  return await changeFirm(ctx, requester, {
    firmId,
    async decide(_tx, firm) {
      if (firm.connection_state === "suspended") {
        if (by === "desk" || firm.suspended_by === "operator") return undefined;
        return { action: "suspend", changes: { suspended_by: by, suspension_reason: reason } };
      }
      const state = advance(firmLifecycle, firm.connection_state, "suspend");
      return {
        action: "suspend",
        changes: { connection_state: state, suspended_by: by, suspension_reason: reason },
        event: { name: "firm.suspended", data: { by, reason } },
      };
    },
  });
}

/**
 * Stops trading for the firms of the house's PAN: the house is no client of its own. What they have
 * open may end. Their rows are locked whatever their state, so that one that is being authorized at the
 * same time is found afterwards.
 */
export async function suspendFirmsOfHouse(
  tx: Tx,
  house: Parameters<typeof listFirmsOfHouse>[1],
  now: Date,
): Promise<readonly Change[]> {
  const found = await listFirmsOfHouse(tx, house);
  const firms = await lockFirms(
    tx,
    found.map(({ firm_id }) => firm_id),
  );
  const changed = firms
    .filter(({ connection_state, pan }) => connection_state === "authorized" && pan === house.pan)
    .map((firm) => {
      const reason = "its PAN is the house's";
      const connection_state = advance(firmLifecycle, firm.connection_state, "suspend");
      const changes = {
        connection_state,
        suspended_by: "operator",
        suspension_reason: reason,
      } as const;
      const event = { name: "firm.suspended", data: { by: "operator", reason } };
      return { firm, after: applyChanges(firm, changes, now), event };
    });
  if (changed.length === 0) return [];
  await setFirms(
    tx,
    changed.map(({ after }) => after),
  );
  return changed.map(({ firm, after, event }) =>
    buildFirmChange(firm, after, { action: "suspend", event }, now),
  );
}

/** Ends a suspension. */
export async function resumeFirm(
  ctx: Pick<Context, "db" | "now">,
  requester: Requester,
  firmId: string,
): Promise<Firm> {
  return await changeFirm(ctx, requester, {
    firmId,
    async decide(tx, firm, now) {
      refuseOperatorSuspension(requester, firm);
      await refuseHouse(tx, firm.environment, { firm, on: istDay(now) });
      const state = advance(firmLifecycle, firm.connection_state, "resume");
      return {
        action: "resume",
        changes: { connection_state: state, suspended_by: null, suspension_reason: null },
        event: { name: "firm.resumed", data: { suspended_by: firm.suspended_by } },
      };
    },
  });
}

export async function moveHoldDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  return toMovedSet(await moveHoldsEarlier(tx, clockAdvance, cursor), cursor);
}

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
