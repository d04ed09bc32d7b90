import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres.ts";
import { concludeLegs, type Settling } from "./conclude-legs.ts";
import { failingAll } from "./fail-settlements.ts";
import { lockWithin } from "./store.ts";

/** A desk gives up on what is open between its own firms and the house; others are not concerned. */
export async function giveUpSettlements(
  tx: Tx,
  actor: Actor,
  {
    environment,
    deskId,
    settling,
  }: { readonly environment: Environment; readonly deskId: string; readonly settling: Settling },
  now: Date,
): Promise<{ readonly failed: number; readonly changes: readonly Change[] }> {
  const settlements = await lockWithin(tx, environment, deskId);
  const answers = await failingAll(tx, settlements, "by_desk");
  const changes = await concludeLegs(tx, { environment, answers, actor, settling, now });
  return { failed: settlements.length, changes };
}
