import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import { toCardChange } from "./publish-card.ts";
import { type MarketState, type RateCard, refuseNote } from "./rules.ts";
import { findCurrentCard, insertCard, listCurrentCards, lockScheme } from "./store.ts";

type MarketCommand = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly note?: string | undefined;
};

/** A halted market gives no quotes; open quotes are honoured. */
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

/** Sets the state of every scheme that has a card. */
export async function setAllMarkets(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, note, state }: Omit<SetMarkets, "schemes">,
): Promise<RateCard[]> {
  const carded = await ctx.db.run(listCurrentCards(environment));
  const schemes = carded.map(({ scheme }) => scheme);
  return await setMarkets(ctx, actor, { environment, note, state, schemes });
}

async function setMarket(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, scheme, note, state }: MarketCommand & { readonly state: MarketState },
): Promise<RateCard> {
  const command = { environment, note, state, schemes: [scheme] };
  const [card] = await setMarkets(ctx, actor, command);
  if (!card) throw new Error("each scheme is answered");
  return card;
}

type SetMarkets = {
  readonly environment: Environment;
  readonly schemes: readonly Scheme[];
  readonly note?: string | undefined;
  readonly state: MarketState;
};

/** Adds a version with the new state to each card; a card that has the state already is unchanged. */
async function setMarkets(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, schemes, note, state }: SetMarkets,
): Promise<RateCard[]> {
  const now = ctx.now();
  refuseNote(note);
  return await ctx.db.transaction(async (tx) => {
    const cards: RateCard[] = [];
    const changes: Change[] = [];
    for (const scheme of schemes.toSorted()) {
      await lockScheme(tx, environment, scheme);
      const before = await findCurrentCard(tx, environment, scheme);
      if (!before) throw noCard(environment, scheme);
      const isChanged = before.state !== state;
      const card = isChanged ? toNextVersion(before, { state, note, by: actor.id, now }) : before;
      cards.push(card);
      if (!isChanged) continue;
      await insertCard(tx, card);
      changes.push(toCardChange(state === "halted" ? "halt" : "open", card));
    }
    await recordChanges(tx, actor, changes, now);
    return cards;
  });
}

function toNextVersion(
  before: RateCard,
  { state, note, by, now }: { state: MarketState; note: string | undefined; by: string; now: Date },
): RateCard {
  const version = before.version + 1;
  return { ...before, version, state, published_at: now, published_by: by, note: note ?? null };
}

function noCard(environment: Environment, scheme: Scheme): Failure {
  return new Failure("conflict", `${scheme} has no rate card in ${environment}: publish one`, {
    detail: { reason: "no_card" },
  });
}
