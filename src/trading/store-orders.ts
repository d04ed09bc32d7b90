import { addSpent } from "../access/money-limits.ts";
import { reserveCredits } from "../credits/reserve-credits.ts";
import { prepareRecords, recordPrepared } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { all, known, meanwhile, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { addHouseTaken } from "../rates/current-cards.ts";
import { openSettlements, storeSettlements } from "../settlement/open-settlements.ts";
import type { SettlementState } from "../settlement/rules.ts";
import { agreeDeals } from "./agree-deals.ts";
import type { MatchState } from "./match-state.ts";
import type { OrderState } from "./order-rules.ts";
import { insertOrders, type OrderRow, setOrders } from "./order-store.ts";
import { describeOrder } from "./read-orders.ts";
import { useQuotes } from "./use-quotes.ts";

/**
 * Stores what a set decided, one statement per table, and records the changes last. The actor of a
 * deal is the caller of the order that made it. Returns the state of each new settlement.
 */
export async function storeOrders(
  tx: Tx,
  matchState: MatchState,
  actorOf: (orderId: string) => Actor,
): Promise<ReadonlyMap<string, SettlementState>> {
  if (matchState.placed.size === 0 && matchState.deals.length === 0) return new Map();
  const { now } = matchState;
  const { deals, reservations } = await agreeDeals(tx, matchState);
  const placed = [...matchState.placed.values()];
  const dealt = [...matchState.dealt.values()];
  const opened = await openSettlements(tx, deals, now);
  const prepare = () =>
    prepareRecords(
      [
        ...placed.map((after) => ({
          actor: actorOf(after.order_id),
          change: toOrderChange({ action: "place", before: null, after }),
        })),
        ...dealt.map(({ before, after, dealtBy }) => ({
          actor: actorOf(dealtBy),
          change: toOrderChange({ action: "match", before, after }),
        })),
        ...opened.changes.map(({ origin, change }) => ({ actor: actorOf(origin), change })),
      ],
      now,
    );
  const reserved = reservations.filter(({ creditId }) => !opened.begun.has(creditId));
  const beside = all([
    placed.length > 0 ? insertOrders(matchState, placed) : known(undefined),
    dealt.length > 0
      ? setOrders(
          dealt.map(({ after }) => after),
          now,
        )
      : known(undefined),
    bindQuotes(matchState),
    noteTaken(matchState),
    reserveCredits(reserved, now),
    meanwhile(prepare),
  ]);
  const [, , , , , prepared] = await storeSettlements(tx, opened, now, beside);
  await recordPrepared(tx, prepared, now);
  return opened.states;
}

function bindQuotes({ usedQuotes }: MatchState): Query<void> {
  if (usedQuotes.size === 0) return known(undefined);
  const uses = [...usedQuotes].map(([quoteRef, orderId]) => ({ quoteRef, orderId }));
  return useQuotes(uses).map((bound) => {
    if (bound.size !== uses.length) throw new Error("a locked quote that was open can be used");
  });
}

/** Adds to the daily totals of the house and of limited keys. */
function noteTaken({ environment, today, houseTaken, addedByKey }: MatchState): Query<unknown> {
  return all([
    addHouseTaken(
      today,
      [...houseTaken].map(([scheme, paise]) => ({ environment, scheme, paise })),
    ),
    addSpent(
      today,
      [...addedByKey].map(([keyId, paise]) => ({ keyId, paise })),
    ),
  ]);
}

const eventNames = {
  open: "order.accepted",
  matched: "order.matched",
  cancelled: "order.cancelled",
  expired: "order.expired",
  failed: "order.failed",
} as const satisfies Record<OrderState, string>;

/** A change of an order, as events and the audit trail record it. */
export function toOrderChange({
  action,
  before,
  after,
}: {
  readonly action: "place" | "match" | "cancel" | "expire" | "fail";
  readonly before: OrderRow | null;
  readonly after: OrderRow;
}): Change {
  const told = toOrderEventData(after);
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `order.${action}`,
    entity: {
      type: "order",
      id: after.order_id,
      version: after.version,
      href: `/v1/orders/${after.order_id}`,
    },
    before: before && toOrderEventData(before),
    after: told,
    event: {
      // A partly dealt order stays open; the event is the deal.
      name: action === "match" ? "order.matched" : eventNames[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: told,
    },
  };
}

function toOrderEventData(row: OrderRow): object {
  return { ...describeOrder(row), reason: row.history.at(-1)?.reason ?? null };
}
