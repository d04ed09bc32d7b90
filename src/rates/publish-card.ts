import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import { changeOfCard } from "./change-of-card.ts";
import {
  type CardTerms,
  isNote,
  noteLengthMax,
  problemsOfTerms,
  type RateCard,
  startingTerms,
} from "./rules.ts";
import { findCurrentCard, insertCard, lockScheme } from "./store.ts";

export type PublishCard = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  /** What is left out stays as it is in the card in force, or in the starting card. */
  readonly terms: Partial<CardTerms>;
  readonly note?: string | undefined;
};

/**
 * The next version of a scheme's card; prices follow it from the next quote. Whoever publishes at
 * the same time builds on it. It neither halts nor opens the market; a first card opens it.
 */
export async function publishCard(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, scheme, terms, note }: PublishCard,
): Promise<RateCard> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await lockScheme(tx, environment, scheme);
    const before = await findCurrentCard(tx, environment, scheme);
    const publishing = { environment, scheme, terms, note };
    const card = nextCard(before, publishing, { by: actor.id, now });
    await insertCard(tx, card);
    await recordChanges(tx, actor, [changeOfCard("publish", before, card)], now);
    return card;
  });
}

/** The card that would follow this one; refused when it is none that may be published. */
export function nextCard(
  before: RateCard | undefined,
  { environment, scheme, terms, note }: PublishCard,
  { by, now }: { readonly by: string; readonly now: Date },
): RateCard {
  if (note !== undefined && !isNote(note)) {
    throw unprocessable({ path: "note", problem: `must be at most ${noteLengthMax} characters` });
  }
  const card: RateCard = {
    ...startingTerms[scheme],
    ...before,
    ...given(terms),
    environment,
    scheme,
    version: (before?.version ?? 0) + 1,
    state: before?.state ?? "open",
    published_at: now,
    published_by: by,
    note: note ?? null,
  };
  const problems = problemsOfTerms(card);
  if (problems.length > 0) throw unprocessable(...problems);
  return card;
}

/** A term that is undefined is left out, as one that is not there. */
function given(terms: Partial<CardTerms>): Partial<CardTerms> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}
