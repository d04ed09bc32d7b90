// How holdings end other than by a deal: the firm withdraws or uses a credit, the credit expires,
// or all free credits of a leaving firm or a reset sandbox desk are withdrawn.

import { requireFirmOfDesk } from "../firms/find-firms.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import {
  type ClockAdvance,
  clockAheadMaxS,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import { exitCredits } from "../ledger/outside.ts";
import { dropQuestions } from "../outside/ask.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { countFreeOfDesk, listFreeOfDesk } from "./deal-store.ts";
import {
  buildCreditChange,
  describeUse,
  findNamedCredit,
  openView,
  viewCredit,
} from "./read-credits.ts";
import {
  creditLifecycle,
  countDaysLeft,
  findExpiryDueDay,
  findToldUse,
  findWarning,
  isLive,
  parseUse,
  takePart,
  type ToldUse,
} from "./rules.ts";
import type { Credit } from "./schema.ts";
import {
  moveExpiriesEarlier,
  claimExpiring,
  type CreditRow,
  type HoldingKey,
  insertUse,
  lockCredits,
  lockFreeOfFirm,
  setCredits,
} from "./store.ts";

/** Withdraws a credit; the firm may declare it again. A retry returns it as it is. */
export async function withdrawCredit(ctx: Context, call: Call, name: string): Promise<Credit> {
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(
    async (tx) => {
      const { row, firm } = await lockNamed(tx, call, name);
      const view = await openView(tx, firm, [row], today);
      if (row.state === "withdrawn") return viewCredit(row, view);
      const state = advance(creditLifecycle, row.state, "withdraw");
      const [after] = await tx.run(setCredits([{ ...row, state, as_of: now }], now));
      if (!after) throw new Error("a locked credit keeps its version");
      const event = "credit.withdrawn";
      const change = buildCreditChange({ action: "withdraw", before: row, after, event });
      await removeFromBooks(tx, [{ before: row, after }], now);
      if (row.state === "declared") await dropQuestions(tx, { credit_holding: [row.credit_id] });
      await recordChanges(tx, toActor(call), [change], now);
      return viewCredit(after, view);
    },
    { rollBack: call.dryRun },
  );
}

/**
 * Takes a part of a credit that its firm has paid duty with; all that is left where no amount is told.
 * Only a credit that is free is used: a deal, an offer or a cross that holds it was agreed on its face.
 */
export async function useCredit(
  ctx: Context,
  call: Call,
  name: string,
  told: ToldUse,
): Promise<Credit> {
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(
    async (tx) => {
      const { row, firm } = await lockNamed(tx, call, name);
      const wanted = parseUse(told, today);
      const before = await openView(tx, firm, [row], today);
      const uses = before.uses.get(row.credit_id) ?? [];
      const again = findToldUse(uses, wanted);
      if (again instanceof Failure) throw again;
      const isMarked = row.state === "used" && wanted.bill_of_entry === null;
      if (again || isMarked) return viewCredit(row, before);
      const used = advance(creditLifecycle, row.state, "use");
      const use = takePart(row.face_paise, uses, wanted);
      if (use instanceof Failure) throw use;
      const state = use.balance_paise === 0 ? used : row.state;
      const left = { face_paise: use.balance_paise, balance_shown_on: null };
      const taken = { ...row, ...left, state, as_of: now };
      const [after] = await tx.run(setCredits([taken], now));
      if (!after) throw new Error("a locked credit keeps its version");
      const { environment, desk_id, firm_id, scrip_no, credit_id } = row;
      const of = { environment, desk_id, firm_id, scrip_no, credit_id };
      await insertUse(tx, [{ ...of, ...use, ordinal: uses.length + 1, told_at: now }]);
      const change = buildCreditChange({
        action: "use",
        before: row,
        after,
        event: "credit.used",
        data: describeUse(row, after, use),
      });
      await removeFromBooks(tx, [{ before: row, after }], now);
      await recordChanges(tx, toActor(call), [change], now);
      return viewCredit(after, await openView(tx, firm, [after], today));
    },
    { rollBack: call.dryRun },
  );
}

const setSizeMax = 1_000;
const clock: Actor = { kind: "worker", id: "clock", requestId: null };

/**
 * Expires one set of due credits, or warns of their expiry. A credit can be used until the end of
 * its last day, IST. A credit that is declared late gets the warning of its remaining days only.
 */
export async function expireCredits(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  const today = istDay(now);
  const expire = async (tx: Tx, due: readonly CreditRow[]): Promise<void> => {
    const before = new Map(due.map((row) => [row.credit_id, row]));
    const decided = due.map((row) => decideExpiry(row, today));
    const placed = await tx.run(setCredits(decided, now));
    await removeFromBooks(
      tx,
      placed.map((after) => ({ before: before.get(after.credit_id), after })),
      now,
    );
    const ended = due.filter((row) => row.state === "declared" && row.expires_on < today);
    if (ended.length > 0) {
      await dropQuestions(tx, { credit_holding: ended.map(({ credit_id }) => credit_id) });
    }
    await recordChanges(
      tx,
      clock,
      placed.map((after) =>
        buildCreditChange({
          action: after.state === "expired" ? "expire" : "warn",
          before: before.get(after.credit_id) ?? null,
          after,
          event: after.state === "expired" ? "credit.expired" : "credit.expiring",
          ...(after.state !== "expired" && {
            data: {
              days_left: countDaysLeft(after.expires_on, today),
              warning_days: after.expiry_told,
            },
          }),
        }),
      ),
      now,
    );
  };
  const done = await workInParts(offenders, (choice, claimed) =>
    ctx.db.transaction(async (tx) => {
      const due = await claimExpiring(tx, today, { limit: setSizeMax, ...choice });
      claimed(due.map((row) => row.credit_id));
      if (due.length > 0) await expire(tx, due);
      return due.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";
}

/** Withdraws the credits of a leaving firm that no deal holds. */
export async function withdrawAllCredits(
  tx: Tx,
  _actor: Actor,
  { firmId }: { readonly firmId: string },
  now: Date,
): Promise<Change[]> {
  return await withdrawRows(tx, await lockFreeOfFirm(tx, firmId), { reason: "firm_left", now });
}

/** Withdraws the next credits of a sandbox desk that no deal holds. */
export async function withdrawFreeOfDesk(
  tx: Tx,
  { deskId, now }: { readonly deskId: string; readonly now: Date },
  cursor: Cursor,
): Promise<MovedSet & { readonly changes: readonly Change[] }> {
  const found = await listFreeOfDesk(tx, deskId, { ...cursor, after: readHoldingKey(cursor) });
  const rows = await lockCredits(
    tx,
    found.map(({ credit_id }) => credit_id),
  );
  const free = rows.filter(({ state }) => state === "declared" || state === "listed");
  const changes = await withdrawRows(tx, free, { reason: "sandbox_reset", now });
  const { next } = toMovedSet(found.map(writeHoldingKey), cursor);
  return { count: changes.length, next, changes };
}

/** How many credits a desk would withdraw once these deals and orders have ended. */
export async function countFreeCredits(
  db: Db,
  deskId: string,
  endedIds: readonly string[],
): Promise<number> {
  return await countFreeOfDesk(db, deskId, endedIds);
}

/** A key of a holding as a text; no id has a space. */
function writeHoldingKey({ scrip_no, credit_id }: HoldingKey): string {
  return `${scrip_no} ${credit_id}`;
}

function readHoldingKey({ after }: Cursor): HoldingKey {
  const space = after.lastIndexOf(" ");
  return { scrip_no: after.slice(0, Math.max(space, 0)), credit_id: after.slice(space + 1) };
}

/**
 * Removes ended holdings from the books; claims were never in them. Call it once no deal holds the
 * credits in the books.
 */
export async function removeFromBooks(
  tx: Tx,
  ended: readonly { readonly before: CreditRow | undefined; readonly after: CreditRow }[],
  now: Date,
): Promise<void> {
  const exits = ended.flatMap(({ before, after }) =>
    before && isLive(before.state) && !isLive(after.state)
      ? [
          {
            environment: after.environment,
            creditId: after.credit_id,
            firmId: after.firm_id,
            scripNo: after.scrip_no,
          },
        ]
      : [],
  );
  if (exits.length > 0) await exitCredits(tx, exits, now);
}

/**
 * Credits expire by the day, so only midnights move their expiries. What expired longer ago than a
 * clock can go stays where it is, so that no number of resets makes a date that is none.
 */
export async function moveCreditDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  const { days, now } = clockAdvance;
  if (days === 0) return { count: 0, next: undefined };
  const oldest = istDay(new Date(now.getTime() - clockAheadMaxS * 1_000));
  const set = { ...cursor, after: readHoldingKey(cursor), oldest };
  const moved = await moveExpiriesEarlier(tx, clockAdvance, set);
  return toMovedSet(moved.map(writeHoldingKey), cursor);
}

/** A credit of the caller's desk, locked, with its firm. */
async function lockNamed(tx: Tx, call: Call, name: string) {
  const found = await findNamedCredit(tx, call.caller, name);
  const [row] = found ? await lockCredits(tx, [found.credit_id]) : [];
  if (!row) throw notFound("scrip_no");
  return { row, firm: await requireFirmOfDesk(tx, row.desk_id, row.firm_id) };
}

function decideExpiry(row: CreditRow, today: IstDay): CreditRow {
  if (row.expires_on < today) {
    const state = advance(creditLifecycle, row.state, "expire");
    return { ...row, state, state_before_suspension: null };
  }
  const told = findWarning(row.expires_on, today) ?? null;
  return { ...row, expiry_told: told, expiry_due_on: findExpiryDueDay(row.expires_on, told) };
}

async function withdrawRows(
  tx: Tx,
  free: readonly CreditRow[],
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<Change[]> {
  if (free.length === 0) return [];
  const before = new Map(free.map((row) => [row.credit_id, row]));
  const leaving = free.map((row) => ({
    ...row,
    state: advance(creditLifecycle, row.state, "withdraw"),
    reason,
    as_of: now,
  }));
  const withdrawn = await tx.run(setCredits(leaving, now));
  await removeFromBooks(
    tx,
    withdrawn.map((after) => ({ before: before.get(after.credit_id), after })),
    now,
  );
  const claims = free.filter(({ state }) => state === "declared");
  await dropQuestions(tx, { credit_holding: claims.map(({ credit_id }) => credit_id) });
  return withdrawn.map((after) =>
    buildCreditChange({
      action: "withdraw",
      before: before.get(after.credit_id) ?? null,
      after,
      event: "credit.withdrawn",
      data: { reason },
    }),
  );
}
