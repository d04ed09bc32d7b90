// From what a group has to what it could move. Everything is read in one statement, credits are
// assigned in slices between which others have their turn, and what is proposed is kept before it is
// told, so that it can be turned into crosses.

import { setImmediate as nextTurn } from "node:timers/promises";

import { notSellableReasonOf } from "../credits/rules.ts";
import { refusalToTrade } from "../firms/rules.ts";
import { exactSum, refuseSubAccount } from "../groups/rules.ts";
import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { takeTurns } from "../platform/turns.ts";
import { currentCards } from "../rates/current-cards.ts";
import {
  entitiesOf,
  hasPrice,
  lotsOf,
  movesOf,
  type OpenCards,
  pairingsOf,
  proposalOf,
  schemesOf,
} from "./figures.ts";
import { assignCredits } from "./assign-credits.ts";
import { type Holdings, type Assignment, type Board, boardOf } from "./rules.ts";
import type { Netting } from "./schema.ts";
import { findHoldings, type HoldingsRow, insertRun } from "./store.ts";

/** A group is assigned whole, in the memory and the time of one request. */
const creditsMax = 20_000;
const requirementsMax = 1_000;

/** Groups are netted one at a time: several at once would only slow each other and everybody else. */
const waitingMax = 64;

/** How long a netting without a move is kept open; one with moves as long as a quote of their cards. */
const windowDefaultS = 120;

/** The body of an answer, and the header that says until when it can be used. */
export type NettingAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  readonly netting: Netting;
};

export type ProposeNetting = (caller: Caller, groupId: string) => Promise<NettingAnswer>;

export function netter(ctx: Context): ProposeNetting {
  const inTurn = takeTurns({ waitingMax });

  return async function proposeNetting(caller, groupId) {
    refuseSubAccount(caller);
    const now = ctx.now();
    const { environment, deskId, keyId } = caller;
    const [cards, found] = await Promise.all([
      currentCards(ctx.db, environment),
      isId("grp", groupId)
        ? findHoldings(ctx.db, { deskId, groupId }, { today: istDay(now), ...limits })
        : undefined,
    ]);
    if (!found) throw notFound();
    const open: OpenCards = new Map([...cards].filter(([, { state }]) => state === "open"));
    refuseLarge(found);
    const holdings = holdingsOf(found, open, now);
    const board = boardOf(holdings);
    const assignment = await inTurn(() => assigned(board));
    const pairings = pairingsOf(board, assignment);
    const moves = movesOf(pairings);
    const proposals = moves.map((move) => proposalOf(move, open));
    const run = {
      netting_ref: newId("net", now),
      environment,
      desk_id: deskId,
      group_id: groupId,
      key_id: keyId,
      proposals: moves.map((move) => ({
        ...proposalOf(move, open),
        requirement_id: move.requirement.requirement_id,
        requirement_version: move.requirement.version,
      })),
      created_at: now,
      valid_until: new Date(now.getTime() + windowMs(open, proposals)),
      crossed_at: null,
    };
    await insertRun(ctx.db, run);
    return {
      headers: { "x-quote-valid-until": istTimestamp(run.valid_until) },
      netting: {
        group_id: groupId,
        as_of: istTimestamp(now),
        netting_ref: run.netting_ref,
        proven_optimal: assignment.isProven,
        schemes: schemesOf(holdings, pairings, { cards: open, today: istDay(now) }),
        entities: entitiesOf(holdings, pairings, lotsOf(proposals)),
        proposals,
      },
    };
  };
}

const limits = { creditsMax, requirementsMax };

/** Sums of all that a group holds and of all that it owes are exact, and so is every part of them. */
function refuseLarge({ credits, requirements }: HoldingsRow): void {
  if (credits.length > creditsMax || requirements.length > requirementsMax) {
    throw new Failure("conflict", "the group has too much to be netted at once", {
      detail: {
        reason: "group_too_large",
        credits_max: creditsMax,
        requirements_max: requirementsMax,
      },
    });
  }
  exactSum(credits.map(({ face_paise }) => face_paise));
  exactSum(requirements.map(({ amount_paise }) => amount_paise));
}

function holdingsOf(found: HoldingsRow, cards: OpenCards, now: Date): Holdings {
  const today = istDay(now);
  const stateOf = new Map(found.firms.map((firm) => [firm.firm_id, firm.connection_state]));
  return {
    requirements: found.requirements,
    firms: found.firms.map((firm) => ({
      firm_id: firm.firm_id,
      pan: firm.pan,
      may_trade: firm.pan !== null && refusalToTrade(firm, now) === undefined,
    })),
    credits: found.credits.map((credit) => {
      const firmState = stateOf.get(credit.firm_id) ?? "";
      const isSellable = notSellableReasonOf(credit, { firmState, today }) === null;
      return { ...credit, is_movable: isSellable && hasPrice(cards, credit) };
    }),
  };
}

async function assigned(board: Board): Promise<Assignment> {
  const slices = assignCredits(board);
  for (;;) {
    const slice = slices.next();
    if (slice.done) return slice.value;
    await nextTurn();
  }
}

/** A move is priced by its card, for as long as the card's quotes bind. */
function windowMs(cards: OpenCards, proposals: Netting["proposals"]): number {
  const windows = proposals.map(
    ({ scheme }) => cards.get(scheme)?.quote_window_s ?? windowDefaultS,
  );
  return 1_000 * (windows.length > 0 ? Math.min(...new Set(windows)) : windowDefaultS);
}
