import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres.ts";
import { concludeLegs, type Settling } from "./conclude-legs.ts";
import { failingAll } from "./fail-settlements.ts";
import { lockWithin, type SettlementRow } from "./store.ts";

/**
 * What is open between a desk's own firms and the house, locked before credits are; others are not
 * concerned.
 */
export async function lockToGiveUp(
  tx: Tx,
  {
    environment,
    deskId,
    settling,
  }: { readonly environment: Environment; readonly deskId: string; readonly settling: Settling },
): Promise<readonly SettlementRow[]> {
  const settlements = await lockWithin(tx, environment, deskId);
  await settling.lockCrosses(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  return settlements;
}

/** A desk gives up on these. */
export async function giveUpSettlements(
  tx: Tx,
  actor: Actor,
  {
    environment,
    settlements,
    settling,
  }: {
    readonly environment: Environment;
    readonly settlements: readonly SettlementRow[];
    readonly settling: Settling;
  },
  now: Date,
): Promise<readonly Change[]> {
  const answers = await failingAll(tx, settlements, "by_desk");
  return await concludeLegs(tx, { environment, answers, actor, settling, now });
}
