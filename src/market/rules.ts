// The figures of a market and the positions of its log.
//
// A market names no firm and no credit. A face to the paisa identifies a credit, and could be computed
// from the changes of any sum. So faces are rounded to two digits: that of a deal before it is shown
// or added up, and the sum of what the house holds.

import { exactJson } from "../kernel/json.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { istTimestamp } from "../kernel/time.ts";
import { amountDaysMin, priceAsk, priceBid, type RateCard } from "../rates/rules.ts";

export const boardStates = ["open", "halted", "unavailable"] as const;

type BoardState = (typeof boardStates)[number];

/** ₹10 lakh. Prices are shown for a credit of this face, or of the largest face the card takes. */
const typicalFacePaise = 100_000_000;

/** Prices are shown for a credit with this many days left. */
const typicalDaysLeft = amountDaysMin;

/** One size band of a card and the credits that the house could sell in it. */
export type DepthBand = {
  readonly below_paise: number | null;
  readonly count: number;
  readonly face_paise: number;
};

/** The last deal, and the deals of the last 24 hours. */
export type Tape = {
  readonly last: {
    readonly seller_bps: number;
    readonly face_paise: number;
    readonly dealt_at: Date;
  } | null;
  readonly volume_paise: PaiseSum;
  readonly count: number;
};

type MarketFacts = {
  readonly scheme: Scheme;
  readonly card: RateCard | undefined;
  readonly tape: Tape | undefined;
  readonly depth: readonly DepthBand[] | undefined;
  readonly indexBps: number | undefined;
};

export type Figures = ReturnType<typeof buildFigures>;

/** The position of an update in the log. */
export type LogPosition = { readonly epoch: string; readonly seq: number };

/** An update as sent to a key with the buy side. */
export type PublishedUpdate = Figures & LogPosition & { readonly as_of: string };

/** The figures of a market as a key with the buy side sees them; only an open market has prices. */
export function buildFigures({ scheme, card, tape, depth, indexBps }: MarketFacts) {
  const priced = card?.state === "open" ? card : undefined;
  const typical = Math.min(typicalFacePaise, priced?.face_max_paise ?? typicalFacePaise);
  const last = tape?.last ?? null;
  return {
    scheme,
    state: marketState(card),
    sell_price_bps: (priced && priceBid(priced, typical, typicalDaysLeft)) ?? null,
    buy_price_bps: priced ? priceAsk(priced, typical) : null,
    index_bps: indexBps ?? null,
    last_deal: last && {
      price_bps: last.seller_bps,
      face_paise: last.face_paise,
      at: istTimestamp(last.dealt_at),
    },
    volume_24h_paise: tape?.volume_paise ?? 0,
    deals_24h: tape?.count ?? 0,
    depth: (depth ?? []).map(({ below_paise, count, face_paise }) => ({
      below_paise,
      count,
      face_paise,
    })),
  };
}

function marketState(card: RateCard | undefined): BoardState {
  return card?.state ?? "unavailable";
}

export type UpdateKind = "update" | "status";

/** The kind of update that the new figures need; undefined when nothing changed. */
export function classifyChange(
  before: PublishedUpdate | undefined,
  now: Figures,
): UpdateKind | undefined {
  if (!before) return "update";
  const { as_of: _asOf, epoch: _epoch, seq: _seq, ...figures } = before;
  if (exactJson(figures) === exactJson(now)) return undefined;
  return before.state === now.state ? "update" : "status";
}

/** The JSON of an update, for keys without and for keys with the buy side. */
export function writeBodies(
  figures: Figures,
  { epoch, seq, asOf }: LogPosition & { readonly asOf: Date },
): { readonly body: string; readonly buyer_body: string } {
  const place = { as_of: istTimestamp(asOf), epoch, seq };
  const { buy_price_bps: _hidden, ...shown } = figures;
  return {
    body: exactJson({ ...shown, ...place }),
    buyer_body: exactJson({ ...figures, ...place }),
  };
}

/** Of the last updates of all schemes, the one at the end of the log. */
export function findLastUpdate<Update extends LogPosition>(latest: readonly Update[]): Update {
  const last = latest.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (!last) throw new Error("the market log is empty");
  return last;
}

export function toEventId({ epoch, seq }: LogPosition): string {
  return `${epoch}-${seq}`;
}

const eventIdForm = /^([0-9a-f]{10})-(\d{1,15})$/;

export function parseEventId(eventId: string): LogPosition | undefined {
  const [, epoch, seq] = eventIdForm.exec(eventId) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq) };
}

/**
 * Why a reader cannot resume: its id is not ours, of an earlier log, beyond the end of this log, or so
 * old that the updates after it have been deleted.
 */
export type ResetReason = "malformed_id" | "other_epoch" | "unknown_id" | "too_old";

/** Why a reader cannot resume from the position of its id; undefined where it can. */
export function findReset(place: LogPosition, end: LogPosition): ResetReason | undefined {
  if (place.epoch !== end.epoch) return "other_epoch";
  return place.seq > end.seq ? "unknown_id" : undefined;
}
