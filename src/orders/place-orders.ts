// Orders are placed as sets, one is a set of one. A set is one transaction of one environment:
//
//   load      lock the matching of the environment, then load and lock all that the set touches
//   decide    each order in its turn, against the market as the ones before it left it
//   confirm   lock what buyers took from the book; when one of those has gone, the book was behind:
//             the set is dropped, the book forgets the credit, and the set is decided again, as it
//             is when a buyer's balance moved meanwhile
//   store     orders, credits, quotes, settlements with their entries, and last what is told of it
//
// Single orders of many callers travel together, and so do the up to 500 of a batch. An order that
// is refused is its caller's alone; a set that the database refuses is split until one is to blame.

import type { BookDesk, BookSession } from "../book/book-desk.ts";
import { reserveCredits } from "../credits/reserve-credits.ts";
import { recordAttributed } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { useQuotes } from "../quotes/use-quotes.ts";
import { noteHouseTaken } from "../rates/house-limit.ts";
import { FundsMoved, openSettlements } from "../settlement/open-settlements.ts";
import type { SettlementState } from "../settlement/rules.ts";
import { statesOfSettlements } from "../settlement/states-of-settlements.ts";
import { changeOfOrder } from "./change-of-order.ts";
import { type Command, decideOrders, type Verdict } from "./decide-orders.ts";
import { agreeDeals, StaleBook } from "./agree-deals.ts";
import { loadOrders } from "./load-orders.ts";
import { addToKeyDays, insertOrders, type OrderRow, setOrders } from "./store.ts";
import type { Workings } from "./workings.ts";

/** How often a set is decided because what it was decided on had moved. */
const decisionsMax = 5;

export type Placed =
  | {
      readonly kind: "placed" | "replayed";
      readonly order: OrderRow;
      readonly settlementState: SettlementState | null;
    }
  | (Verdict & { readonly kind: "refused" });

export type Placing = {
  readonly environment: Environment;
  readonly rollBack: boolean;
};

export async function placeOrders(
  ctx: Context,
  books: BookDesk,
  { environment, rollBack }: Placing,
  commands: readonly Command[],
): Promise<readonly Placed[]> {
  const now = ctx.now();
  for (let decision = 1; ; decision++) {
    const session = books.session(environment);
    try {
      const placed = await ctx.db.transaction(
        (tx) => placeSet(tx, { environment, book: session, now }, commands),
        { rollBack },
      );
      if (rollBack) session.undo();
      return placed;
    } catch (error) {
      session.undo();
      if (decision === decisionsMax) throw error;
      if (error instanceof StaleBook) session.forget(error.scripNos);
      else if (!(error instanceof FundsMoved)) throw error;
    }
  }
}

async function placeSet(
  tx: Tx,
  set: { readonly environment: Environment; readonly book: BookSession; readonly now: Date },
  commands: readonly Command[],
): Promise<readonly Placed[]> {
  const { workings, loaded } = await loadOrders(tx, set, commands);
  const verdicts = decideOrders(workings, loaded);
  const opened = await store(tx, workings, commandsByOrder(verdicts, commands));
  const replayed = verdicts.flatMap((verdict) =>
    verdict.kind === "replayed" ? orderOf(workings, verdict.orderId).settlement_ids.slice(-1) : [],
  );
  const known = await statesOfSettlements(tx, replayed);
  return verdicts.map((verdict) => {
    if (verdict.kind === "refused") return verdict;
    const order = orderOf(workings, verdict.orderId);
    const settlementId = order.settlement_ids.at(-1) ?? "";
    const settlementState = opened.get(settlementId) ?? known.get(settlementId) ?? null;
    return { kind: verdict.kind, order, settlementState };
  });
}

function commandsByOrder(
  verdicts: readonly Verdict[],
  commands: readonly Command[],
): ReadonlyMap<string, Command> {
  const placed = verdicts.flatMap((verdict, at) => {
    const command = commands[at];
    return verdict.kind === "placed" && command ? [[verdict.orderId, command] as const] : [];
  });
  return new Map(placed);
}

/** An order of this set or one that an earlier call made. */
function orderOf({ placed, originals }: Workings, orderId: string): OrderRow {
  const order =
    placed.get(orderId) ?? [...originals.values()].find((row) => row.order_id === orderId);
  if (!order) throw new Error("an order that was placed or replayed is known");
  return order;
}

async function store(
  tx: Tx,
  workings: Workings,
  commands: ReadonlyMap<string, Command>,
): Promise<ReadonlyMap<string, SettlementState>> {
  if (workings.placed.size === 0) return new Map();
  const { now, today, environment } = workings;
  const { deals, reservations } = await agreeDeals(tx, workings);
  const dealt = [...workings.dealt.values()];
  await insertOrders(tx, [...workings.placed.values()]);
  if (dealt.length > 0) {
    await setOrders(
      tx,
      dealt.map(({ after }) => after),
      now,
    );
  }
  await reserveCredits(tx, reservations, now);
  await bindQuotes(tx, workings);
  const taken = [...workings.houseTaken].map(([scheme, paise]) => ({ environment, scheme, paise }));
  if (taken.length > 0) await noteHouseTaken(tx, today, taken);
  if (workings.addedByKey.size > 0) {
    const added = [...workings.addedByKey].map(([keyId, paise]) => ({ keyId, paise }));
    await addToKeyDays(tx, today, added);
  }
  const { states, changes } = await openSettlements(tx, deals, now);
  const actorOfOrder = (orderId: string) => {
    const command = commands.get(orderId);
    if (!command) throw new Error("a deal is made by an order that arrived");
    return actorOf(command.call);
  };
  await recordAttributed(
    tx,
    [
      ...[...workings.placed.values()].map((after) => ({
        actor: actorOfOrder(after.order_id),
        change: changeOfOrder({ action: "place", before: null, after }),
      })),
      ...dealt.map(({ before, after, dealtBy }) => ({
        actor: actorOfOrder(dealtBy),
        change: changeOfOrder({ action: "match", before, after }),
      })),
      ...changes.map(({ origin, change }) => ({ actor: actorOfOrder(origin), change })),
    ],
    now,
  );
  return states;
}

async function bindQuotes(tx: Tx, { usedQuotes }: Workings): Promise<void> {
  if (usedQuotes.size === 0) return;
  const uses = [...usedQuotes].map(([quoteRef, orderId]) => ({ quoteRef, orderId }));
  const bound = await useQuotes(tx, uses);
  if (bound.size !== uses.length) throw new Error("a locked quote that was open can be used");
}
