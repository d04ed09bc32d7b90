// proposeNetting: which whole credits to move inside a group so that the least duty is left
// uncovered. One statement reads the group, a thread assigns the credits, and the proposal is
// stored as a row before it is answered. cross-netting.ts turns it into crosses: a lot is what one
// firm gives another of one scheme, and becomes one cross. Credits that deals are bringing to a
// member count.

import { findNotSellableReason } from "../credits/rules.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import { findDues } from "../ledger/read-books.ts";
import type { Context } from "../platform/context.ts";
import { heavyKind, NobodyWaits, type Stop } from "../platform/heavy/kinds.ts";
import { known } from "../platform/postgres/postgres.ts";
import { queryCurrentCards } from "../rates/current-cards.ts";
import { assignCredits } from "./assign-credits.ts";
import {
  sumEntities,
  hasPrice,
  groupLots,
  listMoves,
  type OpenCards,
  type Pairing,
  listPairings,
  toProposal,
  sumSchemes,
} from "./figures.ts";
import {
  type Assignment,
  type NettingBoard,
  buildBoard,
  exactSum,
  type Holdings,
  type Proposal,
} from "./rules.ts";
import type { Netting } from "./schema.ts";
import { findHoldings, type HoldingsRow, insertRun, type RunRow } from "./store.ts";

type ToNet = {
  readonly holdings: Holdings;
  readonly cards: OpenCards;
  readonly today: IstDay;
};

type Netted = {
  readonly moves: readonly Pairing[];
  readonly isProven: boolean;
  readonly proposals: readonly Proposal[];
  readonly schemes: ReturnType<typeof sumSchemes>;
  readonly entities: ReturnType<typeof sumEntities>;
};

export const netGroup = heavyKind("netting", ({ holdings, ...market }: ToNet, stop): Netted => {
  const board = buildBoard(holdings);
  const assignment = runAssignment(board, stop);
  const pairings = listPairings(board, assignment);
  const moves = listMoves(pairings);
  const proposals = moves.map((move) => toProposal(move, market.cards));
  return {
    moves,
    isProven: assignment.isProven,
    proposals,
    schemes: sumSchemes(holdings, pairings, market),
    entities: sumEntities(holdings, pairings, groupLots(proposals)),
  };
});

function runAssignment(board: NettingBoard, stop: Stop): Assignment {
  const slices = assignCredits(board);
  for (;;) {
    const slice = slices.next();
    if (slice.done) return slice.value;
    if (stop.isAsked()) throw new NobodyWaits();
  }
}

/** Limits of a group: it is assigned as a whole within one request. */
const creditsMax = 20_000;
const requirementsMax = 1_000;

/** The validity of a netting without moves; with moves it is that of a quote of their cards. */
const windowDefaultS = 120;

/** The body of an answer and its headers. */
export type NettingAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  readonly netting: Netting;
};

/** Stores nothing when the caller has gone before the credits were assigned. */
export async function proposeNetting(
  ctx: Context,
  { caller, gone }: Pick<Call, "caller" | "gone">,
  groupId: string,
): Promise<NettingAnswer> {
  refuseSubAccount(visibleTo(caller), "act for a group");
  const now = ctx.now();
  const { holdings, cards } = await findGroup(ctx, caller, { groupId, now });
  const { moves, isProven, proposals, schemes, entities } = await ctx.heavy.run(
    netGroup,
    { holdings, cards, today: istDay(now) },
    { by: caller, signal: gone?.() },
  );
  const run = newRun(caller, { groupId, moves, cards, now });
  await insertRun(ctx.db, run);
  return {
    headers: { "x-quote-valid-until": istTimestamp(run.valid_until) },
    netting: {
      group_id: groupId,
      as_of: istTimestamp(now),
      netting_ref: run.netting_ref,
      proven_optimal: isProven,
      schemes,
      entities,
      proposals: [...proposals],
    },
  };
}

type GroupAt = { readonly groupId: string; readonly now: Date };

/** The holdings of a group of the caller's desk, and the cards of open markets. */
async function findGroup({ db }: Context, caller: Caller, { groupId, now }: GroupAt) {
  const { environment, deskId } = caller;
  const limits = { today: istDay(now), creditsMax, requirementsMax };
  const [all, found] = await db.pipeline([
    queryCurrentCards(environment),
    isId("grp", groupId) ? findHoldings({ deskId, groupId }, limits) : known(undefined),
  ]);
  if (!found) throw notFound("group_id");
  refuseLarge(found);
  const cards: OpenCards = new Map([...all].filter(([, { state }]) => state === "open"));
  const owing = await db.run(
    findDues(
      environment,
      found.firms.map(({ firm_id }) => firm_id),
    ),
  );
  return { holdings: toHoldings(found, { cards, owing, now }), cards };
}

type PlannedMoves = GroupAt & { readonly moves: readonly Pairing[]; readonly cards: OpenCards };

function newRun(
  { environment, deskId, keyId }: Caller,
  { groupId, moves, cards, now }: PlannedMoves,
): RunRow {
  return {
    netting_ref: newId("net", now),
    environment,
    desk_id: deskId,
    group_id: groupId,
    key_id: keyId,
    proposals: moves.map((move) => ({
      ...toProposal(move, cards),
      requirement_id: move.requirement.requirement_id,
      requirement_version: move.requirement.version,
    })),
    created_at: now,
    valid_until: new Date(now.getTime() + windowMs(moves, cards)),
    crossed_at: null,
  };
}

/** The shortest quote window of the cards that price the moves. */
function windowMs(moves: readonly Pairing[], cards: OpenCards): number {
  const moved = new Set(moves.map(({ credit }) => credit.scheme));
  const windows = [...moved].flatMap((scheme) => cards.get(scheme)?.quote_window_s ?? []);
  return 1_000 * (windows.length > 0 ? Math.min(...windows) : windowDefaultS);
}

/** Checks the limits, and that the sums of credits and of duty are exact integers. */
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

type HoldingsFacts = {
  readonly cards: OpenCards;
  /** Members that owe the house: their credits stay with them. */
  readonly owing: ReadonlyMap<string, unknown>;
  readonly now: Date;
};

function toHoldings(found: HoldingsRow, { cards, owing, now }: HoldingsFacts): Holdings {
  const today = istDay(now);
  const states = new Map(found.firms.map((firm) => [firm.firm_id, firm.connection_state]));
  return {
    requirements: found.requirements,
    firms: found.firms.map((firm) => ({
      firm_id: firm.firm_id,
      pan: firm.pan,
      may_trade: firm.pan !== null && findTradingRefusal(firm, now) === undefined,
    })),
    credits: found.credits.map((credit) => {
      const firmState = states.get(credit.firm_id) ?? "";
      const isSellable = findNotSellableReason(credit, { firmState, today }) === null;
      const isFree = isSellable && !owing.has(credit.firm_id);
      return { ...credit, is_movable: isFree && hasPrice(cards, credit) };
    }),
  };
}
