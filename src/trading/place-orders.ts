// Orders are placed as sets, one is a set of one. A set is one transaction of one environment:
//
//   load      lock the matching of the environment, then load and lock all that the set touches
//   decide    each order in its turn, against the market as the ones before it left it; a buy whose
//             cover is not found by a quick search is put off, and comes again with a plan
//   confirm   lock what buyers took from the book; when one of those has gone, the book was behind:
//             the set is dropped, the book sets the credit aside, and the set is decided again, as
//             it is when a buyer's balance moved meanwhile, or without the credits that the books
//             refuse to move or that somebody else holds
//   store     orders, credits, quotes, settlements with their entries, and last what is told of it
//
// Single orders of many callers travel together, and so do the up to 500 of a batch. An order that
// is refused is its caller's alone; a set that the database refuses is split until one is to blame.

import { type Actor, toActor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type Attempt, type Outcome, RowsHeld } from "../platform/postgres/split.ts";
import { openQuotesOn } from "../rates/open-quotes.ts";
import { FundsMoved, OwnersDisputed } from "../settlement/open-settlements.ts";
import { findOrderStandings } from "../settlement/read-settlements.ts";
import { CreditsHeld, StaleBook } from "./agree-deals.ts";
import { type Command, decideOrders, type Verdict } from "./decide-orders.ts";
import { loadOrders, type OrderSet } from "./load-orders.ts";
import type { OrderRow } from "./order-store.ts";
import { storeOrders } from "./store-orders.ts";
import { type OrderSettled, viewSettled } from "./read-orders.ts";
import {
  type BookSessions,
  type BookSession,
  currentOrder,
  type MatchState,
} from "./match-state.ts";

/** How often a set is decided because what it was decided on had moved. */
const decisionsMax = 5;

export type Placed =
  | {
      readonly kind: "placed" | "replayed";
      readonly order: OrderRow;
      readonly settled: OrderSettled;
    }
  | (Verdict & { readonly kind: "refused" });

/** What came of an order in a set; one that was put off comes again with a plan. */
export type PlacedOrDeferred = Placed | (Verdict & { readonly kind: "deferred" });

export type PlaceOptions = Attempt & {
  readonly environment: Environment;
  readonly rollBack: boolean;
};

export async function placeOrders(
  ctx: Context,
  books: BookSessions,
  { environment, rollBack, isPart }: PlaceOptions,
  commands: readonly Command[],
): Promise<readonly Outcome<PlacedOrDeferred>[]> {
  const now = ctx.now();
  const openQuotes = openQuotesOn(ctx.db);
  return await withBookSession(books, environment, async (book, disputed) => {
    const { placed, released } = await ctx.db.transaction(
      (tx) => placeSet(tx, { environment, isPart, book, disputed, now, openQuotes }, commands),
      { rollBack },
    );
    if (rollBack) book.undo();
    else openQuotes.release(released, now);
    return placed;
  });
}

/** Decides on the book, and again when what it was decided on had moved. */
export async function withBookSession<Result>(
  books: BookSessions,
  environment: Environment,
  decide: (book: BookSession, disputed: ReadonlySet<string>) => Promise<Result>,
): Promise<Result> {
  const disputed = new Set<string>();
  const held = new Set<string>();
  for (let decision = 1; ; decision++) {
    const book = books.session(environment, disputed, held);
    try {
      return await decide(book, disputed);
    } catch (error) {
      book.undo();
      if (decision === decisionsMax) throw error;
      if (error instanceof StaleBook) book.setAside(error.scripNos);
      else if (error instanceof OwnersDisputed) error.scripNos.forEach((no) => disputed.add(no));
      else if (error instanceof CreditsHeld) error.scripNos.forEach((no) => held.add(no));
      else if (!(error instanceof FundsMoved)) throw error;
    } finally {
      book.close();
    }
  }
}

async function placeSet(
  tx: Tx,
  set: OrderSet,
  commands: readonly Command[],
): Promise<{
  readonly placed: readonly Outcome<PlacedOrDeferred>[];
  readonly released: ReadonlySet<string>;
}> {
  const { matchState, loaded } = await loadOrders(tx, set, commands);
  const verdicts = await decideOrders(matchState, loaded);
  const opened = await storeOrders(tx, matchState, indexActors(verdicts, commands));
  const replayed = verdicts.flatMap((verdict) =>
    verdict.kind === "replayed" ? [requireOrder(matchState, verdict.orderId)] : [],
  );
  const known = await findOrderStandings(tx, replayed);
  const placed = verdicts.map((verdict): Outcome<PlacedOrDeferred> => {
    if (verdict.kind === "held") return new RowsHeld();
    if (verdict.kind === "refused" || verdict.kind === "deferred") return verdict;
    const order = requireOrder(matchState, verdict.orderId);
    const standing = known.get(verdict.orderId);
    const dealtNow = opened.get(order.settlement_ids.at(-1) ?? "") ?? null;
    const settled = standing
      ? viewSettled(order, standing)
      : { settlementStatus: dealtNow, settledPaise: 0 };
    return { kind: verdict.kind, order, settled };
  });
  return { placed, released: matchState.released };
}

/** Who placed each order of the set: whatever it does to others is its caller's doing. */
function indexActors(
  verdicts: readonly Verdict[],
  commands: readonly Command[],
): (orderId: string) => Actor {
  const actors = new Map<string, Actor>();
  verdicts.forEach((verdict, at) => {
    const command = commands[at];
    if (verdict.kind === "placed" && command) actors.set(verdict.orderId, toActor(command.call));
  });
  return (orderId) => {
    const actor = actors.get(orderId);
    if (!actor) throw new Error("a deal is made by an order that arrived");
    return actor;
  };
}

/** An order of this set or one that an earlier call made. */
function requireOrder(matchState: MatchState, orderId: string): OrderRow {
  const order =
    currentOrder(matchState, orderId) ??
    [...matchState.originals.values()].find((row) => row.order_id === orderId);
  if (!order) throw new Error("an order that was placed or replayed is known");
  return order;
}
