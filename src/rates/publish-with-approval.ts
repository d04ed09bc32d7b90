// A price that moves far takes two people. It is compared with the card in force and with the last
// one that two people made or that stood a day ago, so that many small moves are one large one. A
// scheme's first card moves nothing.

import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, type Terms } from "../approvals/kind.ts";
import { aloneHours, twoPeopleFromBps } from "../approvals/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { changeOfCard } from "./change-of-card.ts";
import { largestMove, priceBands, type PricedBand } from "./price-bands.ts";
import { nextCard, type PublishCard } from "./publish-card.ts";
import type { CardTerms, RateCard } from "./rules.ts";
import { findCurrentCard, findSettledCard, insertCard, lockScheme } from "./store.ts";

/** A price is a matter of the day. */
const validHours = 12;

export type CardPreview = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly version: number;
  readonly move_bps: number;
  /** How many people it takes. */
  readonly people: 1 | 2;
  readonly bands: readonly PricedBand[];
};

type Publishing = PublishCard & { readonly twoFromBps?: number };

/** What publishing would change; nothing is written. */
export async function previewCard(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  publishing: Publishing,
): Promise<CardPreview> {
  const { environment, scheme, twoFromBps = twoPeopleFromBps } = publishing;
  const now = ctx.now();
  const before = await findCurrentCard(ctx.db, environment, scheme);
  const after = nextCard(before, publishing, { by: actor.id, now });
  const move_bps = await measureMove(ctx.db, { before, after, now });
  const people = environment === "live" && move_bps >= twoFromBps ? 2 : 1;
  const bands = priceBands(before, after);
  return { environment, scheme, version: after.version, move_bps, people, bands };
}

export type PublishedCard =
  | { readonly outcome: "published"; readonly card: RateCard }
  | { readonly outcome: "proposed"; readonly approval_id: string; readonly move_bps: number };

export async function publishCardWithApproval(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  publishing: Publishing,
): Promise<PublishedCard> {
  const { environment, scheme, terms, note } = publishing;
  const { move_bps, people } = await previewCard(ctx, actor, publishing);
  const acted = await actWithApproval(ctx, actor, {
    kind: cardPublication,
    environment,
    subjectId: `${environment} ${scheme}`,
    terms: { scheme, terms, ...(note !== undefined && { note }) },
    people,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval.approval_id, move_bps };
  }
  return { outcome: "published", card: acted.answer as RateCard }; // What the kind answers.
}

type Meant = Terms & {
  readonly scheme: Scheme;
  readonly terms: Partial<CardTerms>;
  readonly note?: string;
};

export const cardPublication: ApprovalKind<Meant> = {
  name: "rate_card.publish",
  proposers: ["dealer"],
  approvers: ["dealer"],
  validHours,
  async prepare(tx, { environment, terms: { scheme, terms, note } }, now) {
    await lockScheme(tx, environment, scheme);
    const before = await findCurrentCard(tx, environment, scheme);
    const publishing = { environment, scheme, terms, note };
    const draft = nextCard(before, publishing, { by: "", now });
    const move = await measureMove(tx, { before, after: draft, now });
    return {
      summary: `${scheme} is priced around ${draft.mid_bps} bps instead of ${before?.mid_bps ?? "nothing"}; some price moves by ${move} bps`,
      valuePaise: null,
      // A halt in between does not matter; another price does.
      facts: before ? pricesOf(before) : {},
      async carryOut(actor, proposedBy) {
        const card = { ...draft, published_by: proposedBy ?? actor.id };
        await insertCard(tx, card, proposedBy === undefined ? null : actor.id);
        return { changes: [changeOfCard("publish", before, card)], answer: card };
      },
    };
  },
};

async function measureMove(
  db: Db,
  { before, after, now }: { before: RateCard | undefined; after: RateCard; now: Date },
): Promise<number> {
  const since = new Date(now.getTime() - aloneHours * 3_600_000);
  const { environment, scheme } = after;
  const settled = await findSettledCard(db, { environment, scheme, since });
  return Math.max(largestMove(before, after), largestMove(settled, after));
}

function pricesOf(card: RateCard): object {
  const { version: _version, state: _state, published_at: _at, ...rest } = card;
  const { published_by: _by, note: _note, ...prices } = rest;
  return prices;
}
