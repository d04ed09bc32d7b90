// The figures of an assignment: its moves, the crosses they would make, what each firm gives, takes
// and pays, and what is left for the market.
//
// Money is rounded as crosses round it, once per cross. A move saves the spread: the taker would have
// bought at the ask, rounded up, and the giver sold at the bid, rounded down.

import { feeBpsByKind, computeSums } from "../crosses/rules.ts";
import { countDaysLeft } from "../credits/rules.ts";
import { type Bps, type Paise, priceCeil, priceFloor } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { priceAsk, priceBid, type RateCard } from "../rates/rules.ts";
import {
  type Assignment,
  type NettingBoard,
  compare,
  creditAt,
  exactSum,
  type GroupCredit,
  type GroupRequirement,
  type Holdings,
  isMove,
  none,
  type Proposal,
  requirementAt,
} from "./rules.ts";

/** The cards of the schemes whose market is open. */
export type OpenCards = ReadonlyMap<Scheme, RateCard>;

/** One credit and the requirement that it pays. */
export type Pairing = { readonly credit: GroupCredit; readonly requirement: GroupRequirement };

/** All credits of one scheme that one firm gives another: one cross. */
type Lot = {
  readonly from_firm_id: string;
  readonly to_firm_id: string;
  readonly scheme: Scheme;
  readonly scrip_nos: readonly string[];
  readonly face_paise: Paise;
  readonly price_bps: Bps;
};

export function listPairings(board: NettingBoard, { paid }: Assignment): readonly Pairing[] {
  return [...paid.entries()].flatMap(([credit, place]) =>
    place === none
      ? []
      : [{ credit: creditAt(board, credit), requirement: requirementAt(board, place) }],
  );
}

/** The pairings that are moves, by giver, taker and scheme, then in queue order. */
export function listMoves(pairings: readonly Pairing[]): readonly Pairing[] {
  return pairings
    .filter(({ credit, requirement }) => isMove(credit, requirement))
    .toSorted(
      (a, b) =>
        compare(a.credit.firm_id, b.credit.firm_id) ||
        compare(a.requirement.firm_id, b.requirement.firm_id) ||
        compare(a.credit.scheme, b.credit.scheme),
    );
}

export function toProposal({ credit, requirement }: Pairing, cards: OpenCards): Proposal {
  return {
    from_firm_id: credit.firm_id,
    to_firm_id: requirement.firm_id,
    scheme: credit.scheme,
    scrip_no: credit.scrip_no,
    face_paise: credit.face_paise,
    price_bps: requireCard(cards, credit.scheme).mid_bps,
  };
}

export function groupLots(proposals: readonly Proposal[]): readonly Lot[] {
  const lots = Map.groupBy(
    proposals,
    ({ from_firm_id, to_firm_id, scheme }) => `${from_firm_id} ${to_firm_id} ${scheme}`,
  );
  return [...lots.values()].flatMap((moved) => {
    const [first] = moved;
    if (!first) return [];
    const { scrip_no: _, ...lot } = first;
    const face_paise = sumAmounts(moved.map((proposal) => proposal.face_paise));
    return [{ ...lot, face_paise, scrip_nos: moved.map(({ scrip_no }) => scrip_no) }];
  });
}

/** The value of a lot, as its cross computes it. */
export function priceLot({ face_paise, price_bps }: Lot): Paise {
  const feeBps = feeBpsByKind.intra_group;
  const sums = computeSums({ facePaise: face_paise, priceBps: price_bps, feeBps });
  if (!sums) throw new Error("a credit that may be moved is worth a paisa");
  return sums.valuePaise;
}

/** Whether a credit is worth at least a paisa at the mid, as a cross requires. */
export function hasPrice(
  cards: OpenCards,
  { scheme, face_paise }: Pick<GroupCredit, "scheme" | "face_paise">,
): boolean {
  const card = cards.get(scheme);
  return card !== undefined && priceFloor(face_paise, card.mid_bps) > 0;
}

export function sumEntities(
  { firms, requirements }: Holdings,
  pairings: readonly Pairing[],
  lots: readonly Lot[],
) {
  return firms.map(({ firm_id }) => {
    const given = lots.filter(({ from_firm_id }) => from_firm_id === firm_id);
    const taken = lots.filter(({ to_firm_id }) => to_firm_id === firm_id);
    const owed = requirements.filter((requirement) => requirement.firm_id === firm_id);
    const paid = pairings.filter(({ requirement }) => requirement.firm_id === firm_id);
    return {
      firm_id,
      give_paise: sumAmounts(given.map(({ face_paise }) => face_paise)),
      take_paise: sumAmounts(taken.map(({ face_paise }) => face_paise)),
      net_cash_paise: sumAmounts(given.map(priceLot)) - sumAmounts(taken.map(priceLot)),
      uncovered_paise: sumAmounts(owed.map(({ amount_paise }) => amount_paise)) - sumFaces(paid),
    };
  });
}

type CardsOfDay = { readonly cards: OpenCards; readonly today: IstDay };

/** Duty of either scheme counts where it is paid; the uncovered part where cover is cheapest. */
export function sumSchemes(
  { credits, requirements }: Holdings,
  pairings: readonly Pairing[],
  { cards, today }: CardsOfDay,
) {
  const left = requirements.map((requirement) => {
    const paid = pairings.filter((pairing) => pairing.requirement === requirement);
    const uncovered = requirement.amount_paise - sumFaces(paid);
    return { uncovered, scheme: requirement.scheme ?? findCheapestScheme(cards, uncovered) };
  });
  return schemes.map((scheme) => {
    const held = credits.filter((credit) => credit.scheme === scheme);
    const gross = exactSum(held.map(({ face_paise }) => face_paise));
    const matched = pairings.filter(({ credit }) => credit.scheme === scheme);
    const toBuy = left.filter((rest) => rest.scheme === scheme);
    const match = sumFaces(matched);
    const buy = sumAmounts(toBuy.map(({ uncovered }) => uncovered));
    return {
      scheme,
      gross_credit_paise: gross,
      gross_requirement_paise: match + buy,
      internal_match_paise: match,
      net_sell_paise: gross - match,
      net_buy_paise: buy,
      spread_saved_paise: sumSpreadSaved(listMoves(matched), cards.get(scheme), today),
    };
  });
}

/** Without the moves, each requirement buys at one ask and each credit sells at its own bid. */
function sumSpreadSaved(
  moves: readonly Pairing[],
  card: RateCard | undefined,
  today: IstDay,
): Paise {
  if (!card) return 0;
  const bought = [...Map.groupBy(moves, ({ requirement }) => requirement).values()].map(sumFaces);
  const paid = bought.map((face) => priceCeil(face, priceAsk(card, face)));
  const received = moves.map(({ credit: { face_paise, expires_on } }) => {
    // Without a bid the mid counts, so that no saving is claimed on an unknown price.
    const bid = priceBid(card, face_paise, countDaysLeft(expires_on, today)) ?? card.mid_bps;
    return priceFloor(face_paise, bid);
  });
  return sumAmounts(paid) - sumAmounts(received);
}

/** The scheme with the lowest ask for this amount; the first scheme when no market is open. */
function findCheapestScheme(cards: OpenCards, paise: Paise): Scheme {
  const asks = schemes.flatMap((scheme) => {
    const card = cards.get(scheme);
    return card ? [{ scheme, ask: priceAsk(card, paise) }] : [];
  });
  return asks.toSorted((a, b) => a.ask - b.ask)[0]?.scheme ?? schemes[0];
}

function requireCard(cards: OpenCards, scheme: Scheme): RateCard {
  const card = cards.get(scheme);
  if (!card) throw new Error("only credits that have a price are moved");
  return card;
}

function sumFaces(pairings: readonly Pairing[]): Paise {
  return sumAmounts(pairings.map(({ credit }) => credit.face_paise));
}

/** Exact: every sum here is part of one that exactSum has checked. */
function sumAmounts(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
