// How crosses end before their release: by a party, by the clock or by customs. One transaction
// ends the cross, releases its credits and returns its escrow.

import type { LostCreditHook } from "../credits/registry-news.ts";
import { releaseCredits } from "../credits/reserve-credits.ts";
import type { Blocker } from "../firms/offboard-firm.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Call, Environment } from "../kernel/caller.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { lateUntil } from "../kernel/working-days.ts";
import { assertWritten } from "../ledger/rules.ts";
import { resolveEntries } from "../ledger/write-books.ts";
import { dropQuestions, isPortUp } from "../outside/ask.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import type { UnpaidDeal } from "../settlement/rules.ts";
import { type BankWatch, judgeOverdue, unpaidDealsMax } from "../settlement/unpaid-deals.ts";
import { actOnCross, moveCross } from "./act-on-cross.ts";
import { toEscrowName } from "./fund-cross.ts";
import { buildCrossChanges } from "./read-crosses.ts";
import { listOpenOfFirm } from "./read-store.ts";
import { type LastMove, requireMove } from "./rules.ts";
import type { Cross } from "./schema.ts";
import {
  type AddressedFirm,
  moveDeadlinesEarlier,
  claimOverdue,
  type CrossRow,
  listAddressed,
  listByCredits,
  listDueEnvironments,
  listPastDueRows,
  lockCrosses,
  lockOpenOfDesk,
  setCrosses,
} from "./store.ts";

/** A locked cross, its last move and the reason. */
type Ending = {
  readonly cross: CrossRow;
  readonly move: LastMove;
  readonly action: string;
  readonly reason: string | null;
};

const setSizeMax = 200;
const clock: Actor = { kind: "worker", id: "cross-deadlines", requestId: null };

/** Ends one set of overdue crosses per environment. */
export async function endOverdue(
  ctx: Pick<Context, "db" | "now" | "log">,
  bankWatch: BankWatch,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let ended = 0;
  for (const environment of await listDueEnvironments(ctx.db, ctx.now())) {
    const bankIsUp = await isPortUp(ctx.db, environment, "bank");
    const now = ctx.now();
    const until = environment === "live" ? lateUntil(now, "bank", await readCalendar(ctx.db)) : now;
    const { mayEnd, tell } = await judgeOverdue(ctx, bankWatch, {
      environment,
      lateUntil: until,
      now,
      list: async (dueUntil) => await listPastDue(ctx.db, environment, dueUntil),
    });
    const late = { environment, bankIsUp, mayEnd, now: until, limit: setSizeMax };
    ended += await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const overdue = await claimOverdue(tx, { ...late, ...choice });
        note(overdue.map((row) => row.cross_id));
        if (overdue.length === 0) return 0;
        yieldToCallers(tx);
        await recordChanges(
          tx,
          clock,
          await endCrosses(tx, overdue.map(toOverdueEnding), now),
          now,
        );
        tell(overdue.map((row) => row.cross_id));
        return overdue.length;
      }),
    );
  }
  return ended > 0 ? "more" : "idle";
}

/** The crosses that wait for money and are due by an instant, the oldest first. */
async function listPastDue(
  db: Db,
  environment: Environment,
  dueUntil: Date,
): Promise<UnpaidDeal[]> {
  const rows = await listPastDueRows(db, environment, { dueUntil, limit: unpaidDealsMax });
  return rows.map(({ cross_id, buyer_firm_id, buyer_paise, created_at, due_at }) => ({
    dealId: cross_id,
    firmId: buyer_firm_id ?? "",
    paise: buyer_paise,
    dealtAt: created_at,
    dueAt: due_at,
  }));
}

/** Cancels a proposal or an agreement; a seller that cancels a funded cross refunds it. */
export async function cancelCross(ctx: Context, call: Call, crossId: string): Promise<Cross> {
  const action = "cancel";
  return await actOnCross(ctx, call, { crossId, action }, async (tx, acting) => {
    const { cross, standing, now } = acting;
    const side = standing.sides.includes("sell") ? "by_seller" : "by_buyer";
    const reason = cross.state === "proposed" ? null : side;
    return await endCrosses(
      tx,
      [{ cross, move: requireMove(action, standing), action, reason }],
      now,
    );
  });
}

/** Ends the next open proposals of a desk that resets, and the next open crosses among its firms. */
export async function giveUpCrosses(
  tx: Tx,
  { deskId, reason, now }: { readonly deskId: string; readonly reason: string; readonly now: Date },
  cursor: Cursor,
): Promise<{ readonly ids: readonly string[]; readonly changes: readonly Change[] }> {
  const crosses = await lockOpenOfDesk(tx, deskId, cursor);
  const toEnding = (cross: CrossRow): Ending => ({
    cross,
    move: cross.state === "funded" ? "refund" : "cancel",
    action: "cancel",
    reason,
  });
  const changes = await endCrosses(tx, crosses.map(toEnding), now);
  return { ids: crosses.map((row) => row.cross_id), changes };
}

/** Ends the crosses whose credits customs suspended, cancelled or reported as used. */
export const endCrossesOfLostCredits: LostCreditHook = {
  list: async (db, { environment, scripNos }) => await listByCredits(db, environment, scripNos),
  async lock(tx, crossIds) {
    await lockCrosses(tx, crossIds);
  },
  async follow(tx, _actor, { environment, credits }, now) {
    const scripNos = credits.map(({ scripNo }) => scripNo);
    const crossIds = await listByCredits(tx, environment, scripNos);
    if (crossIds.length === 0) return [];
    const crosses = await lockCrosses(tx, crossIds);
    return await endCrosses(tx, crosses.map(toLostCreditEnding), now);
  },
};

/** Moves the deadlines of the desk's proposals and own crosses; those with other desks stay. */
export async function moveCrossDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  const open = await lockOpenOfDesk(tx, clockAdvance.deskId, cursor);
  const older = open.filter(({ created_at }) => created_at <= clockAdvance.now);
  await moveDeadlinesEarlier(
    tx,
    older.map((row) => row.cross_id),
    clockAdvance,
  );
  const set = toMovedSet(
    open.map((row) => row.cross_id),
    cursor,
  );
  return { ...set, count: older.length };
}

const blockersMax = 100;

/** The open crosses that keep a firm from leaving. */
export async function listOpenCrosses(tx: Tx, deskId: string, firmId: string): Promise<Blocker[]> {
  const open = await listOpenOfFirm(tx, { deskId, firmId }, blockersMax);
  return open.map(({ cross_id }) => ({
    type: "cross",
    id: cross_id,
    href: `/v1/cross/${cross_id}`,
  }));
}

async function endCrosses(
  tx: Tx,
  endings: readonly Ending[],
  now: Date,
): Promise<readonly Change[]> {
  if (endings.length === 0) return [];
  const ended = endings.map(({ cross: before, move, action, reason }) => ({
    action,
    before,
    after: moveCross(before, move, { reason, now }),
  }));
  await tx.run(setCrosses(ended.map(({ after }) => after)));
  const reserving = ended.filter(({ before }) => before.state !== "proposed");
  await releaseCredits(
    tx,
    reserving.flatMap(({ before: { environment, scrip_nos, cross_id } }) =>
      scrip_nos.map((scripNo) => ({ environment, scripNo, reservedFor: cross_id })),
    ),
    now,
  );
  const funded = ended.filter(({ before }) => before.state === "funded");
  const voided = funded.map(({ before }) => ({ ...toEscrowName(before), as: "voided" as const }));
  assertWritten(await resolveEntries(tx, voided, now));
  const paying = ended.filter(({ before }) => before.payment_ref !== null);
  await dropQuestions(tx, { deal_funding: paying.map(({ before }) => before.cross_id) });
  const addressed = await listAddressedFirms(
    tx,
    ended.map(({ after }) => after),
  );
  return ended.flatMap(({ action, before, after }) =>
    buildCrossChanges({ action, before, after, addressed }),
  );
}

/** The firms that could have answered these proposals. */
async function listAddressedFirms(tx: Tx, crosses: readonly CrossRow[]): Promise<AddressedFirm[]> {
  const found: AddressedFirm[] = [];
  for (const [environment, rows] of Map.groupBy(crosses, (row) => row.environment)) {
    const iecs = rows.map((row) => row.awaited_iec).filter((iec) => iec !== null);
    if (iecs.length > 0) found.push(...(await listAddressed(tx, environment, iecs)));
  }
  return found;
}

function toOverdueEnding(cross: CrossRow): Ending {
  const move = cross.state === "funded" ? "refund" : "expire";
  return { cross, move, action: move, reason: "timeout" };
}

function toLostCreditEnding(cross: CrossRow): Ending {
  const move = cross.state === "funded" ? "refund" : "lose";
  return { cross, move, action: move, reason: "credit_unavailable" };
}
