// The lifecycle of an order:
//
//   open ──match──▶ matched ──fail──▶ failed
//     ├──cancel──▶ cancelled
//     └──expire──▶ expired
//
// An order is open while part of it rests; most orders are matched on arrival. When the remainder
// of a partly dealt order is cancelled or expires, the order ends as matched and its history says
// so. If all of its deals have failed by then, it ends as cancelled or expired.

import type { CreditState } from "../credits/rules.ts";
import { type FirmState, type Mandate, findTradingRefusal } from "../firms/rules.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import {
  sumParts,
  addedCeil,
  addedFloor,
  type Bps,
  type Fee,
  feeOn,
  feeUpTo,
  feeWithin,
  noFee,
  type Paise,
  priceFloor,
} from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { type IstDay, istTimestamp, parseInstant } from "../kernel/time.ts";
import type { CardToday } from "../rates/rules.ts";

export const orderStates = ["open", "matched", "cancelled", "expired", "failed"] as const;

export type OrderState = (typeof orderStates)[number];

export const orderLifecycle = {
  noun: "order",
  initial: ["open", "matched", "cancelled"],
  states: orderStates,
  moves: {
    match: { from: ["open"], to: "matched", by: "deal" },
    cancel: { from: ["open"], to: "cancelled" },
    expire: { from: ["open"], to: "expired", by: "clock" },
    fail: { from: ["matched"], to: "failed", by: "deal" },
  },
} as const satisfies Lifecycle<OrderState>;

export const timesInForce = ["IOC", "GTC", "GTD"] as const;

export type TimeInForce = (typeof timesInForce)[number];

/** The parsed request: its fields are consistent. */
export type Intent = {
  readonly ask:
    | { readonly kind: "quote"; readonly quoteRef: string }
    | { readonly kind: "credit"; readonly scripNo: string }
    | { readonly kind: "amount"; readonly scheme: Scheme; readonly facePaise: Paise }
    | { readonly kind: "requirement"; readonly scheme: Scheme; readonly requirementPaise: Paise };
  readonly firmId: string | null;
  readonly limitBps: Bps | null;
  readonly timeInForce: TimeInForce;
  readonly expiresAt: Date | null;
  readonly clientRef: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
};

/** The request as sent: well-formed field by field, not yet checked as a whole. */
export type OrderFields = {
  readonly quote_ref?: string;
  readonly side?: Side;
  readonly scrip_no?: string;
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly requirement_paise?: number;
  readonly limit_bps?: number;
  readonly time_in_force?: TimeInForce;
  readonly expires_at?: string;
  readonly firm_id?: string;
  readonly client_ref?: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** Throws a Failure with every problem of the fields together. */
export function parseIntent(fields: OrderFields, now: Date): Intent {
  const problems: FieldProblem[] = [...findAskProblems(fields), ...findTimeProblems(fields, now)];
  const ask = parseAsk(fields);
  if (problems.length > 0 || !ask) throw unprocessable(...problems);
  return {
    ask,
    firmId: fields.firm_id ?? null,
    limitBps: fields.limit_bps ?? null,
    timeInForce: fields.time_in_force ?? (fields.limit_bps === undefined ? "IOC" : "GTC"),
    expiresAt: fields.expires_at === undefined ? null : (parseInstant(fields.expires_at) ?? null),
    clientRef: fields.client_ref ?? null,
    metadata: fields.metadata ?? null,
  };
}

const askFields = ["side", "scrip_no", "scheme", "face_paise", "requirement_paise"] as const;
const termFields = ["limit_bps", "time_in_force", "expires_at"] as const;

/**
 * A quote_ref excludes the other fields; a scrip_no implies its scheme; otherwise scheme and
 * amount.
 */
function findAskProblems(fields: OrderFields): FieldProblem[] {
  const given = (names: readonly (keyof OrderFields)[]) =>
    names.filter((name) => fields[name] !== undefined);
  const refuse = (names: readonly string[], problem: string) =>
    names.map((path) => ({ path, problem }));
  if (fields.quote_ref !== undefined) {
    return refuse(given([...askFields, ...termFields]), "is settled by the quote");
  }
  if (fields.side === undefined) return refuse(["side"], "is required without quote_ref");
  if (fields.side === "buy") {
    return [
      ...refuse(given(["scrip_no", "face_paise"]), "is for selling"),
      ...refuse(listMissing(fields, ["scheme", "requirement_paise"]), "is required to buy"),
    ];
  }
  if (fields.scrip_no !== undefined) {
    const others = given(["scheme", "face_paise", "requirement_paise"]);
    return refuse(others, "does not go with scrip_no");
  }
  return [
    ...refuse(given(["requirement_paise"]), "is for buying"),
    ...refuse(listMissing(fields, ["scheme", "face_paise"]), "is required to sell an amount"),
  ];
}

function listMissing(fields: OrderFields, names: readonly (keyof OrderFields)[]): string[] {
  return names.filter((name) => fields[name] === undefined);
}

function findTimeProblems(fields: OrderFields, now: Date): FieldProblem[] {
  const { time_in_force, expires_at, limit_bps } = fields;
  const problems: FieldProblem[] = [];
  if (time_in_force !== undefined && time_in_force !== "IOC" && limit_bps === undefined) {
    problems.push({ path: "limit_bps", problem: `is required for ${time_in_force}` });
  }
  if (time_in_force === "GTD" && expires_at === undefined) {
    problems.push({ path: "expires_at", problem: "is required for GTD" });
  }
  if (expires_at === undefined) return problems;
  if (time_in_force !== "GTD") problems.push({ path: "expires_at", problem: "is for GTD only" });
  const instant = parseInstant(expires_at);
  if (!instant) problems.push({ path: "expires_at", problem: "must be ISO 8601 with an offset" });
  else if (instant <= now) problems.push({ path: "expires_at", problem: "has passed" });
  return problems;
}

function parseAsk(fields: OrderFields): Intent["ask"] | undefined {
  const { quote_ref, scrip_no, scheme, face_paise, requirement_paise } = fields;
  if (quote_ref !== undefined) return { kind: "quote", quoteRef: quote_ref };
  if (scrip_no !== undefined) return { kind: "credit", scripNo: scrip_no };
  if (scheme === undefined) return undefined;
  if (face_paise !== undefined) return { kind: "amount", scheme, facePaise: face_paise };
  if (requirement_paise === undefined) return undefined;
  return { kind: "requirement", scheme, requirementPaise: requirement_paise };
}

export type HistoryEntry = {
  readonly status: OrderState;
  readonly at: string;
  readonly reason: string | null;
};

export function newHistoryEntry(
  status: OrderState,
  now: Date,
  reason: string | null = null,
): HistoryEntry {
  return { status, at: istTimestamp(now), reason };
}

/** The fields of an order that a deal changes. */
export type DealFields = {
  readonly side: Side;
  readonly state: OrderState;
  readonly requirement_paise: Paise | null;
  readonly scrip_nos: readonly string[];
  readonly resting_scrip_nos: readonly string[];
  readonly covered_paise: Paise;
  readonly dealt_paise: Paise;
  readonly price_bps: Bps | null;
  readonly all_in_paise: Paise;
  readonly settlement_ids: readonly string[];
  readonly history: readonly HistoryEntry[];
};

export type DealtPart = {
  readonly settlementId: string;
  readonly credits: readonly { readonly scripNo: string; readonly facePaise: Paise }[];
  readonly priceBps: Bps;
};

/** The reason in the history when a deal leaves less than may rest. */
export const restBelowMinimum = "rest_below_minimum";

/**
 * Deals a part of an order; returns the order afterwards and the share of each credit. The shares of
 * all parts add up to the rounding of the whole, so `all_in_paise` is always exact.
 */
export function dealPart<Order extends DealFields>(
  order: Order,
  part: DealtPart,
  { rests, restMinPaise = 1, now }: { rests: boolean; restMinPaise?: Paise; now: Date },
): { readonly order: Order; readonly shares: readonly Paise[] } {
  if (order.dealt_paise > 0 && order.price_bps !== part.priceBps) {
    throw new Error("one order has one price");
  }
  const isBuy = order.side === "buy";
  const added = isBuy ? addedCeil : addedFloor;
  let dealt = order.dealt_paise;
  const shares = part.credits.map(({ facePaise }) => {
    const share = added(dealt, facePaise, part.priceBps);
    dealt = sumParts([dealt, facePaise]);
    return share;
  });
  const scripNos = part.credits.map(({ scripNo }) => scripNo);
  const resting = order.resting_scrip_nos.filter((scripNo) => !scripNos.includes(scripNo));
  const left = isBuy && rests ? (order.requirement_paise ?? 0) - dealt : 0;
  const done = isBuy ? left < restMinPaise : resting.length === 0;
  const why = left > 0 ? restBelowMinimum : null;
  return {
    shares,
    order: {
      ...order,
      state: done ? "matched" : "open",
      scrip_nos: isBuy ? [...order.scrip_nos, ...scripNos] : order.scrip_nos,
      resting_scrip_nos: resting,
      covered_paise: isBuy ? dealt : order.covered_paise,
      dealt_paise: dealt,
      price_bps: part.priceBps,
      all_in_paise: sumParts([order.all_in_paise, ...shares]),
      settlement_ids: [...order.settlement_ids, part.settlementId],
      history: done ? [...order.history, newHistoryEntry("matched", now, why)] : order.history,
    },
  };
}

/** Ends the remainder of an order. The order stays matched if a deal of it stands. */
export function endRest<Order extends DealFields>(
  order: Order,
  {
    how,
    reason,
    restReason = `rest_${how}`,
    now,
    stands = order.dealt_paise > 0,
  }: {
    readonly how: "cancelled" | "expired";
    readonly reason: string | null;
    /** The reason when a deal of the order stands. */
    readonly restReason?: string;
    readonly now: Date;
    readonly stands?: boolean;
  },
): Order {
  const state = stands ? "matched" : how;
  const why = stands ? restReason : reason;
  return {
    ...order,
    state,
    resting_scrip_nos: [],
    history: [...order.history, newHistoryEntry(state, now, why)],
  };
}

/** The duty that a buy still has to cover, or the face that a sell still has to deal. */
export function findRemainingPaise({
  side,
  requirement_paise,
  covered_paise,
  dealt_paise,
}: DealFields): Paise {
  return (side === "buy" ? (requirement_paise ?? 0) : covered_paise) - dealt_paise;
}

/** What of an order rests; nothing once it has ended. */
export function findRestingPaise(order: DealFields): Paise {
  return order.state === "open" ? findRemainingPaise(order) : 0;
}

/** The fee, with its tax, in each side's money of a leg. */
type SideFees = { readonly buyer: Fee; readonly seller: Fee };

/**
 * The fees of a leg, which are part of the house's margin on it. Between two clients the house neither
 * buys nor sells, so all that it keeps is fee: half of the difference of their shares for each. With
 * the house itself it is at the card's rate, and at most the half-spread. The house pays no fee.
 */
export function splitLegFees(
  card: Pick<CardToday, "fee_bps" | "half_spread_bps" | "gst_bps">,
  leg: {
    readonly facePaise: Paise;
    readonly sellerPaise: Paise;
    readonly buyerPaise: Paise;
    /** Null when the house is this side. */
    readonly sellerOrderId: string | null;
    readonly buyerOrderId: string | null;
  },
): SideFees {
  const { facePaise, sellerOrderId, buyerOrderId } = leg;
  const { gst_bps } = card;
  if (sellerOrderId !== null && buyerOrderId !== null) {
    const kept = leg.buyerPaise - leg.sellerPaise;
    const half = Math.floor(kept / 2);
    return { buyer: feeWithin(kept - half, gst_bps), seller: feeWithin(half, gst_bps) };
  }
  const room = priceFloor(facePaise, card.half_spread_bps);
  const fee = feeUpTo(room, feeOn(facePaise, card.fee_bps, gst_bps), gst_bps);
  return {
    buyer: buyerOrderId === null ? noFee : fee,
    seller: sellerOrderId === null ? noFee : fee,
  };
}

/** A credit of a resting sell that the book set aside, with what decides whether it is available. */
export type SetAsideCredit = {
  readonly scrip_no: string;
  readonly scheme: Scheme;
  readonly order_id: string;
  readonly limit_bps: Bps | null;
  readonly expires_at: Date | null;
  /** Whether its order still sells it. */
  readonly rests: boolean;
  /** Null when no live credit is reserved for the order. */
  readonly credit_state: CreditState | null;
  readonly face_paise: Paise;
  readonly expires_on: IstDay;
  readonly pan: string | null;
  readonly connection_state: FirmState;
  readonly mandate: Mandate | null;
};

export function checkOffered(
  credit: Pick<
    SetAsideCredit,
    "rests" | "credit_state" | "expires_at" | "connection_state" | "mandate"
  >,
  now: Date,
): "offered" | "waits" | "ended" {
  if (!credit.rests || credit.credit_state === null) return "ended";
  if (credit.expires_at !== null && credit.expires_at <= now) return "waits";
  if (credit.credit_state !== "reserved" || findTradingRefusal(credit, now)) return "waits";
  return "offered";
}
