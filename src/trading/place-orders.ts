// Places orders in sets; a single order is a set of one. A set is one transaction of one environment:
//
//   load      takes the match lock of its environment, then loads and locks every row the set uses
//   decide    takes the orders in sequence, each against the market as the ones before left it. A buy
//             that needs a long search for cover is deferred and placed again with a plan
//   confirm   locks the credits that buyers took from the book
//   store     orders, credits, quotes, settlements with their ledger entries, and last the events
//
// A set is decided again, up to five times, when a row differs from what the decision assumed: a
// credit of the book is gone (the book sets it aside), a buyer's balance or debt changed, the ledger
// names another owner of a credit, another transaction locks a credit (it is left out), or the
// connection was lost before the commit, as when PostgreSQL ends a transaction that waited too long for
// the book.
//
// A refused order affects its own caller only. A set that the database rejects is split in halves
// until the order that causes the error stands alone.

import { type Actor, toActor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { TransactionLost, type Tx } from "../platform/postgres/postgres.ts";
import { type SetAttempt, type ItemResult, RowsHeld } from "../platform/postgres/split.ts";
import { openQuotesOn } from "../rates/open-quotes.ts";
import { FundsMoved, OwnersDisputed } from "../settlement/open-settlements.ts";
import { findOrderStandings } from "../settlement/read-settlements.ts";
import { CreditsHeld, StaleBook, storeOrders } from "./store-orders.ts";
import type { BookSessions, BookSession } from "./book-session.ts";
import { type OrderCommand, decideOrders, type OrderDecision } from "./decide-orders.ts";
import { loadOrders, type OrderSet } from "./load-orders.ts";
import { currentOrder, type MatchState } from "./match-state.ts";
import type { OrderRow } from "./order-store.ts";
import { type OrderSettled, viewSettled } from "./read-orders.ts";

/** How often a set is decided before its conflict is answered as an error. */
const decisionsMax = 5;

export type Placed =
  | {
      readonly kind: "placed" | "replayed";
      readonly order: OrderRow;
      readonly settled: OrderSettled;
    }
  | (OrderDecision & { readonly kind: "refused" });

/** The result of one attempt; a deferred order is placed again with a plan. */
export type PlacedOrDeferred = Placed | (OrderDecision & { readonly kind: "deferred" });

export type PlaceOptions = SetAttempt & {
  readonly environment: Environment;
  readonly rollBack: boolean;
};

export async function placeOrders(
  ctx: Context,
  books: BookSessions,
  { environment, rollBack, isPart, isLast }: PlaceOptions,
  commands: readonly OrderCommand[],
): Promise<readonly ItemResult<PlacedOrDeferred>[]> {
  const now = ctx.now();
  const openQuotes = openQuotesOn(ctx.db);
  return await withBookSession(books, environment, async (book, disputed) => {
    const { placed, released } = await ctx.db.transaction(
      (tx) =>
        placeSet(tx, { environment, isPart, isLast, book, disputed, now, openQuotes }, commands),
      { rollBack },
    );
    if (rollBack) book.undo();
    else openQuotes.release(released, now);
    return placed;
  });
}

/** Runs `decide` on a session of the book, and again when the session was out of date. */
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
      else if (!(error instanceof FundsMoved || error instanceof TransactionLost)) throw error;
    } finally {
      book.close();
    }
  }
}

async function placeSet(
  tx: Tx,
  set: OrderSet,
  commands: readonly OrderCommand[],
): Promise<{
  readonly placed: readonly ItemResult<PlacedOrDeferred>[];
  readonly released: ReadonlySet<string>;
}> {
  const { matchState, loaded, opening } = await loadOrders(tx, set, commands);
  const verdicts = await decideOrders(matchState, loaded);
  const opened = await storeOrders(tx, matchState, indexActors(verdicts, commands), opening);
  const replayed = verdicts.flatMap((verdict) =>
    verdict.kind === "replayed" ? [requireOrder(matchState, verdict.orderId)] : [],
  );
  const known = await findOrderStandings(tx, replayed);
  const placed = verdicts.map((verdict): ItemResult<PlacedOrDeferred> => {
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

/** The caller of each placed order; it is also the actor of what the order changes elsewhere. */
function indexActors(
  verdicts: readonly OrderDecision[],
  commands: readonly OrderCommand[],
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

/** An order of this set, or the original that it replays. */
function requireOrder(matchState: MatchState, orderId: string): OrderRow {
  const order =
    currentOrder(matchState, orderId) ??
    [...matchState.originals.values()].find((row) => row.order_id === orderId);
  if (!order) throw new Error("an order that was placed or replayed is known");
  return order;
}
