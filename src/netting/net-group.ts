// A group's netting from what it holds to what it comes to: all of it is computing, and much of it.

import type { IstDay } from "../kernel/time.ts";
import { heavyKind, NobodyWaits, type Stop } from "../platform/heavy/kinds.ts";
import { assignCredits } from "./assign-credits.ts";
import {
  entitiesOf,
  lotsOf,
  movesOf,
  type OpenCards,
  type Pairing,
  pairingsOf,
  proposalOf,
  schemesOf,
} from "./figures.ts";
import { type Assignment, type Board, boardOf, type Holdings, type Proposal } from "./rules.ts";

export type ToNet = {
  readonly holdings: Holdings;
  readonly cards: OpenCards;
  readonly today: IstDay;
};

export type Netted = {
  readonly moves: readonly Pairing[];
  readonly isProven: boolean;
  readonly proposals: readonly Proposal[];
  readonly schemes: ReturnType<typeof schemesOf>;
  readonly entities: ReturnType<typeof entitiesOf>;
};

export const netGroup = heavyKind("netting", ({ holdings, ...market }: ToNet, stop): Netted => {
  const board = boardOf(holdings);
  const assignment = assigned(board, stop);
  const pairings = pairingsOf(board, assignment);
  const moves = movesOf(pairings);
  const proposals = moves.map((move) => proposalOf(move, market.cards));
  return {
    moves,
    isProven: assignment.isProven,
    proposals,
    schemes: schemesOf(holdings, pairings, market),
    entities: entitiesOf(holdings, pairings, lotsOf(proposals)),
  };
});

function assigned(board: Board, stop: Stop): Assignment {
  const slices = assignCredits(board);
  for (;;) {
    const slice = slices.next();
    if (slice.done) return slice.value;
    if (stop.isAsked()) throw new NobodyWaits();
  }
}
