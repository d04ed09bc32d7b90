// What every action of a party has in common: the cross is locked, the caller has a side that may do
// this (404, then 403), and the cross is in a state for it (409). What the action itself does comes
// after; last, it is recorded.

import { holderOf } from "../credits/holder-of.ts";
import { recordChanges } from "../events/record-changes.ts";
import { actorOf, type Change } from "../kernel/actor.ts";
import { buySideOff, type Call } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Side } from "../kernel/side.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { crossOf } from "./read-cross.ts";
import { type FoundCross, lockCross } from "./read-store.ts";
import { type CrossAction, otherSide, refuseRole, type Standing } from "./rules.ts";
import type { Cross } from "./schema.ts";
import { standingOf } from "./view-cross.ts";

/** A cross that its party acts on, locked, and how it stands for them. */
export type Acting = {
  readonly call: Call;
  readonly cross: FoundCross;
  readonly standing: Standing;
  readonly now: Date;
};

/** Does what the action is about; the changes are recorded last. */
export type Act = (tx: Tx, acting: Acting) => Promise<readonly Change[]>;

export async function actOnCross(
  ctx: Context,
  call: Call,
  { crossId, action }: { readonly crossId: string; readonly action: CrossAction },
  act: Act,
): Promise<Cross> {
  const now = ctx.now();
  const party = holderOf(call.caller);
  return await ctx.db.transaction(
    async (tx) => {
      const cross = isId("crs", crossId) ? await lockCross(tx, party, crossId) : undefined;
      if (!cross) throw notFound();
      const standing = standingOf(cross, party);
      refuseRole(action, standing);
      if (sideOf(action, standing) === "buy" && !call.caller.buySide) throw buySideOff();
      const changes = await act(tx, { call, cross, standing, now });
      await recordChanges(tx, actorOf(call), changes, now);
      return await crossOf(tx, call.caller, crossId);
    },
    { rollBack: call.dryRun },
  );
}

/** The side that an action binds; calling off binds nobody. */
function sideOf(action: CrossAction, { proposedBy }: Standing): Side | undefined {
  switch (action) {
    case "accept":
      return otherSide(proposedBy);
    case "fund":
      return "buy";
    default:
      return undefined;
  }
}
