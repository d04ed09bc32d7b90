// A sandbox desk advances its clock to see deadlines pass. Every deadline of the desk is moved
// earlier by as much; the workers then find it due as usual.
//
//   begin     puts the clock forward, records that, and notes what is to be moved
//   move      the desk's rows, room by room, in sets of `rowsPerSet`. Each set and the note of where
//             the next one begins are one transaction, so nobody waits longer than for a set of orders
//   finish    what a call left behind, because its process ended, is moved by a worker or by the desk's
//             next advance; a reset ends it
//
// A set of resting orders is moved under the match locks. Nothing else needs them: a deal takes a
// credit or a quote by its row.

import { recordChanges } from "../journal/record-changes.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import {
  type ClockAdvance,
  clockAheadMaxS,
  type Cursor,
  type MovedSet,
  readDeskClock,
} from "../kernel/clock-advance.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  beginMove,
  clockInUse,
  type ClockMove,
  clockTooFar,
  continueMove,
  toClockAdvance,
} from "./clock-rules.ts";
import { requireSandboxDesk } from "./reset-sandbox.ts";
import type { AdvanceClockBody, DeskClock } from "./schema.ts";
import { listUnfinished, lockClock, openClock, setClock, setMove } from "./store.ts";

/** Moves the next deadlines of a desk in one room earlier. */
type TimeHook = (tx: Tx, clockAdvance: ClockAdvance, cursor: Cursor) => Promise<MovedSet>;

export type TimeHooks = Readonly<Record<keyof DeskClock["brought_nearer"], TimeHook>>;

/** As many rows as a batch has orders. */
const rowsPerSet = 500;
/** Bounds the loop over the sets of an advance: more than any desk has rows for. */
const setsMax = 100_000;
/** Other calls of the desk may begin advances in between. */
const beginsMax = 5;
const repeats = { repeatsLost: true, repeatsHeld: true } as const;

type ClockContext = Pick<Context, "db" | "now">;
type DeskKey = Pick<ClockAdvance, "environment" | "deskId">;

export async function advanceClock(
  ctx: ClockContext,
  call: Call,
  { command, timeHooks }: { readonly command: AdvanceClockBody; readonly timeHooks: TimeHooks },
): Promise<DeskClock> {
  requireSandboxDesk(call.caller);
  for (let begin = 0; begin < beginsMax; begin++) {
    const begun = await beginAdvance(ctx, call, command.advance_s);
    if (begun) {
      const { move, ...shown } = begun;
      const moving = call.dryRun ? tryMove : finishMove;
      const { brought_nearer } = await moving(ctx, call.caller, { begun: move, timeHooks });
      return { ...shown, brought_nearer };
    }
    await finishMove(ctx, call.caller, { begun: undefined, timeHooks });
  }
  throw clockInUse();
}

/** Finishes the advances that calls have left behind. */
export async function finishAdvances(
  ctx: ClockContext,
  timeHooks: TimeHooks,
  offenders: Offenders,
): Promise<"idle"> {
  await workOneByOne(offenders, await listUnfinished(ctx.db), async (deskId) => {
    const desk = { environment: "sandbox", deskId } as const;
    await finishMove(ctx, desk, { begun: undefined, timeHooks });
    return 1;
  });
  return "idle";
}

/** Undefined while an earlier advance of the desk is not finished, or when a reset came in between. */
async function beginAdvance(
  ctx: ClockContext,
  call: Call,
  seconds: number,
): Promise<(Omit<DeskClock, "brought_nearer"> & { readonly move: ClockMove }) | undefined> {
  const { environment, deskId } = call.caller;
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      await openClock(tx, deskId);
      const known = await lockClock(tx, deskId);
      // A reset may have taken it away in between.
      if (!known || (known.move && known.move.room !== null)) return undefined;
      const aheadS = known.ahead_s + seconds;
      if (aheadS > clockAheadMaxS) throw clockTooFar(known.ahead_s);
      const clock = readDeskClock(now, aheadS);
      const move = beginMove(seconds, clock, now);
      await setClock(tx, deskId, { aheadS, move });
      const shown = { clock: istTimestamp(clock), ahead_s: aheadS };
      const entity = { type: "clock", id: deskId, version: 1, href: "/v1/sandbox/clock" };
      const after = { ...shown, advance_s: seconds };
      const change = { environment, deskId, firmId: deskId, entity, before: null, after };
      await recordChanges(tx, toActor(call), [{ ...change, action: "sandbox.advance_clock" }], now);
      return { ...shown, move };
    },
    { rollBack: call.dryRun, ...repeats },
  );
}

type Moving<Begun> = { readonly begun: Begun; readonly timeHooks: TimeHooks };

/** Moves what is left of an advance: of the one that was begun, or of any that the desk has. */
async function finishMove<Begun extends ClockMove | undefined>(
  ctx: ClockContext,
  desk: DeskKey,
  { begun, timeHooks }: Moving<Begun>,
): Promise<ClockMove | Begun> {
  let last: ClockMove | Begun = begun;
  for (let set = 0; set < setsMax; set++) {
    const moved = await ctx.db.transaction(async (tx) => {
      const known = await lockClock(tx, desk.deskId);
      if (!known?.move || known.move.room === null) return known?.move ?? undefined;
      const next = await moveSet(tx, desk, { begun: known.move, timeHooks });
      await setMove(tx, desk.deskId, next);
      return next;
    }, repeats);
    // A reset has ended the advance, or another call has finished it and begun the next.
    if (!moved || (begun && moved.begun_at !== begun.begun_at)) return last;
    last = moved;
    if (moved.room === null) return last;
  }
  throw new Error("an advance ends with the last row of its desk");
}

/** The same for a dry run: each set is rolled back by itself. */
async function tryMove(
  ctx: ClockContext,
  desk: DeskKey,
  { begun, timeHooks }: Moving<ClockMove>,
): Promise<ClockMove> {
  let move = begun;
  for (let set = 0; set < setsMax && move.room !== null; set++) {
    const current = { begun: move, timeHooks };
    const options = { rollBack: true, ...repeats };
    move = await ctx.db.transaction((tx) => moveSet(tx, desk, current), options);
  }
  return move;
}

async function moveSet(
  tx: Tx,
  desk: DeskKey,
  { begun: move, timeHooks }: Moving<ClockMove>,
): Promise<ClockMove> {
  const { room, after } = move;
  if (room === null) return move;
  const cursor = { after, limit: rowsPerSet };
  return continueMove(move, room, await timeHooks[room](tx, toClockAdvance(move, desk), cursor));
}
