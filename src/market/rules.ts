// What everybody may know of a market, and how its log is read.
//
// A market is shown without naming anyone: no firm, no credit. A face to the paisa would be as good
// as a scrip number, and could be had from any sum by watching it change. So faces are rounded to
// two digits: that of a deal before it is shown or added up, and what the house holds as a sum.

import { exactJson } from "../kernel/json.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { istTimestamp } from "../kernel/time.ts";
import { amountDaysMin, priceAsk, priceBid, type RateCard } from "../rates/rules.ts";

export const marketStates = ["open", "halted", "unavailable"] as const;

export type MarketState = (typeof marketStates)[number];

/** ₹10 lakh: a credit of this face, or the largest one the card takes, is what prices are shown for. */
export const typicalFacePaise = 100_000_000;

/** The days it has left. */
export const typicalDaysLeft = amountDaysMin;

/** One size band of a card and what the house could sell in it. */
export type DepthBand = {
  readonly below_paise: number | null;
  readonly count: number;
  readonly face_paise: number;
};

/** What the tape says: the last deal, and what was dealt in 24 hours. */
export type Tape = {
  readonly last: {
    readonly seller_bps: number;
    readonly face_paise: number;
    readonly dealt_at: Date;
  } | null;
  readonly volume_paise: PaiseSum;
  readonly count: number;
};

export type Facts = {
  readonly scheme: Scheme;
  readonly card: RateCard | undefined;
  readonly tape: Tape | undefined;
  readonly depth: readonly DepthBand[] | undefined;
  readonly indexBps: number | undefined;
};

export type Figures = ReturnType<typeof figuresOf>;

/** Where an update stands in the log. */
export type Place = { readonly epoch: string; readonly seq: number };

/** What an update told a key with the buy side. */
export type Told = Figures & Place & { readonly as_of: string };

/** The figures of a market as a key with the buy side sees them. Prices are those of an open one. */
export function figuresOf({ scheme, card, tape, depth, indexBps }: Facts) {
  const priced = card?.state === "open" ? card : undefined;
  const typical = Math.min(typicalFacePaise, priced?.face_max_paise ?? typicalFacePaise);
  const last = tape?.last ?? null;
  return {
    scheme,
    state: stateOf(card),
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

function stateOf(card: RateCard | undefined): MarketState {
  return card?.state ?? "unavailable";
}

export type UpdateKind = "update" | "status";

/** What the log says about a scheme after what it said before; undefined when that still holds. */
export function kindOfChange(before: Told | undefined, now: Figures): UpdateKind | undefined {
  if (!before) return "update";
  const { as_of: _asOf, epoch: _epoch, seq: _seq, ...figures } = before;
  if (exactJson(figures) === exactJson(now)) return undefined;
  return before.state === now.state ? "update" : "status";
}

/** An update as text, once for keys without and once for keys with the buy side. */
export function bodiesOf(
  figures: Figures,
  { epoch, seq, asOf }: Place & { readonly asOf: Date },
): { readonly body: string; readonly buyer_body: string } {
  const place = { as_of: istTimestamp(asOf), epoch, seq };
  const { buy_price_bps: _hidden, ...shown } = figures;
  return {
    body: exactJson({ ...shown, ...place }),
    buyer_body: exactJson({ ...figures, ...place }),
  };
}

/** The end of the log, of the last updates of all schemes. */
export function lastOf<Update extends Place>(latest: readonly Update[]): Update {
  const last = latest.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (!last) throw new Error("a market that was looked at is in the log");
  return last;
}

export function eventIdOf({ epoch, seq }: Place): string {
  return `${epoch}-${seq}`;
}

const eventIdForm = /^([0-9a-f]{10})-(\d{1,15})$/;

function placeOf(eventId: string): Place | undefined {
  const [, epoch, seq] = eventIdForm.exec(eventId) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq) };
}

/**
 * Why a reader starts anew: its id is none of ours, of a log that is gone, from beyond the end of
 * this one, or what followed it is not kept any more.
 */
export type ResetReason = "malformed_id" | "other_epoch" | "unknown_id" | "too_old";

/** Where a reader goes on, or why it cannot. */
export function resumeFrom(
  lastEventId: string,
  end: Place,
): { readonly place: Place } | { readonly reset: ResetReason } {
  const place = placeOf(lastEventId);
  if (!place) return { reset: "malformed_id" };
  if (place.epoch !== end.epoch) return { reset: "other_epoch" };
  return place.seq > end.seq ? { reset: "unknown_id" } : { place };
}
