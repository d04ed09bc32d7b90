import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import { changeOfCard } from "./change-of-card.ts";
import { isNote, type MarketState, noteLengthMax, type RateCard } from "./rules.ts";
import { findCurrentCard, insertCard, lockScheme } from "./store.ts";

export type MarketCommand = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly note?: string | undefined;
};

/** No binding price is made in a halted market; those made before are honoured. */
export async function haltMarket(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  command: MarketCommand,
): Promise<RateCard> {
  return await setMarket(ctx, actor, { ...command, state: "halted" });
}

export async function openMarket(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  command: MarketCommand,
): Promise<RateCard> {
  return await setMarket(ctx, actor, { ...command, state: "open" });
}

/** The card in force with another state, as its next version; the same state again changes nothing. */
async function setMarket(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, scheme, note, state }: MarketCommand & { readonly state: MarketState },
): Promise<RateCard> {
  const now = ctx.now();
  if (note !== undefined && !isNote(note)) {
    throw unprocessable({ path: "note", problem: `must be at most ${noteLengthMax} characters` });
  }
  return await ctx.db.transaction(async (tx) => {
    await lockScheme(tx, environment, scheme);
    const before = await findCurrentCard(tx, environment, scheme);
    if (!before) {
      throw new Failure("conflict", `${scheme} has no rate card in ${environment}: publish one`, {
        detail: { reason: "no_card" },
      });
    }
    if (before.state === state) return before;
    const card: RateCard = {
      ...before,
      version: before.version + 1,
      state,
      published_at: now,
      published_by: actor.id,
      note: note ?? null,
    };
    await insertCard(tx, card);
    const action = state === "halted" ? "halt" : "open";
    await recordChanges(tx, actor, [changeOfCard(action, before, card)], now);
    return card;
  });
}
