// Where an act of a key that may take a second one is let through, in the transaction of the act.

import type { Actor, Change } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type GatedAct, needsSecondKey, noRules, secondKeyRequired } from "./rules.ts";
import { findRules } from "./store.ts";

/** Lets one act through that was proposed; its changes are recorded with the act's. */
export type Permit = (tx: Tx, act: GatedAct, now: Date) => Promise<readonly Change[]>;

export type PermittedCall = Call & { readonly permit?: Permit | undefined };

/** An operator and a worker act for the house, whose second person is its own. */
export async function passSecondKey(
  tx: Tx,
  { actor, permit }: { readonly actor: Actor; readonly permit?: Permit | undefined },
  act: GatedAct,
  now: Date,
): Promise<readonly Change[]> {
  if (actor.kind !== "key") return [];
  if (permit) return await permit(tx, act, now);
  const rules = (await findRules(tx, act.deskId)) ?? noRules;
  if (needsSecondKey(rules, act)) throw secondKeyRequired(act);
  return [];
}
