// Cross quotes: the terms that a proposal is made of. A quote reserves nothing and records no
// event. It reveals nothing about firms of other desks: their IEC is the caller's own input.

import { requireVisibleFirm, type FirmOfDesk } from "../firms/find-firms.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import { buySideOff, type Call, type Caller } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { feeWithin, type Paise } from "../kernel/money.ts";
import { newId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import type { NoQuoteReason } from "../trading/quote-rules.ts";
import { loadCardsToday } from "../rates/current-cards.ts";
import type { CardToday } from "../rates/rules.ts";
import { chooseLot, type WantedCross, parseCrossRequest } from "./propose-cross.ts";
import { type CrossQuoteRow, insertCrossQuote } from "./quote-store.ts";
import { samePan } from "./act-on-cross.ts";
import { feeBpsByKind, type Sums, computeSums, type CrossTerms, hashTerms } from "./rules.ts";
import type { CrossQuote, QuoteCrossBody } from "./schema.ts";

export type CrossLimits = {
  /** The minimum face of a block. */
  readonly blockMinPaise: Paise;
};

export async function quoteCross(
  ctx: Context & CrossLimits,
  call: Call,
  body: QuoteCrossBody,
): Promise<CrossQuote> {
  const { caller } = call;
  const wanted = parseCrossRequest(body);
  if (wanted.side === "buy" && !caller.buySide) throw buySideOff();
  const faceMin = wanted.kind === "block" ? ctx.blockMinPaise : 1;
  const now = ctx.now();
  const parties = await findParties(ctx.db, caller, wanted, now);
  const lot = await chooseLot(ctx.db, caller, wanted.lot, { seller: parties.seller, now });
  if ((wanted.lot.facePaise ?? lot.facePaise) < faceMin) throw belowMinimum(wanted, faceMin);
  const findCard = await ctx.db.run(loadCardsToday([caller.environment], now));
  const card = findCard(caller.environment, lot.scheme);
  if (card?.state !== "open") return noQuote("market_unavailable");
  // The seller may have less than requested.
  if (lot.facePaise < faceMin) return noQuote("size_unavailable");
  const terms = {
    kind: wanted.kind,
    sellerIec: parties.sellerIec,
    buyerIec: parties.buyerIec,
    ...lot,
    priceBps: wanted.priceBps ?? card.mid_bps,
    feeBps: feeBpsByKind[wanted.kind],
    gstBps: card.gst_bps,
  };
  const sums = computeSums(terms);
  if (!sums) return noQuote("size_unavailable");
  const quote = buildQuote(caller, { wanted, parties, terms, card, now });
  if (!call.dryRun) await insertCrossQuote(ctx.db, quote);
  return viewQuote(quote, sums);
}

function noQuote(reason: NoQuoteReason): CrossQuote {
  return { no_quote: true, reason };
}

function belowMinimum({ lot }: WantedCross, faceMin: Paise) {
  const path = lot.scripNos ? "scrip_nos" : "face_paise";
  return unprocessable({ path, problem: `a block has a face of at least ${faceMin} paise` });
}

type Parties = {
  /** The firm that the caller acts for. */
  readonly firm: FirmOfDesk;
  /** The other firm, if it is on the same desk. */
  readonly counterparty: FirmOfDesk | undefined;
  readonly seller: FirmOfDesk | undefined;
  readonly sellerIec: string;
  readonly buyerIec: string;
};

async function findParties(
  db: Db,
  caller: Caller,
  { kind, side, firmId, counterparty: named }: WantedCross,
  now: Date,
): Promise<Parties> {
  const firm = await requireVisibleFirm(db, caller, firmId ?? caller.firmId);
  const ownIec = requireTradingIec(firm, now);
  if ("iec" in named) {
    // A new IEC is the PAN itself, so both are compared.
    if ([firm.iec, firm.pan].includes(named.iec)) throw samePan("counterparty_iec");
    return side === "sell"
      ? { firm, counterparty: undefined, seller: firm, sellerIec: ownIec, buyerIec: named.iec }
      : {
          firm,
          counterparty: undefined,
          seller: undefined,
          sellerIec: named.iec,
          buyerIec: ownIec,
        };
  }
  const path = "counterparty_firm_id";
  const counterparty = await requireVisibleFirm(db, caller, named.firmId, "counterparty_firm_id");
  const otherIec = requireTradingIec(counterparty, now);
  if (firm.pan === counterparty.pan || ownIec === otherIec) throw samePan(path);
  const isOneGroup = firm.group_id !== null && firm.group_id === counterparty.group_id;
  if (kind === "intra_group" && !isOneGroup) {
    throw unprocessable({ path, problem: "is not in a group with the firm that is acted for" });
  }
  return side === "sell"
    ? { firm, counterparty, seller: firm, sellerIec: ownIec, buyerIec: otherIec }
    : { firm, counterparty, seller: counterparty, sellerIec: otherIec, buyerIec: ownIec };
}

/** The IEC of a firm that may trade; refused when it may not. */
function requireTradingIec(firm: FirmOfDesk, now: Date): string {
  const refusal = findTradingRefusal(firm, now);
  if (refusal) throw refusal;
  if (firm.iec === null) throw new Error("an authorized firm has an IEC");
  return firm.iec;
}

function buildQuote(
  caller: Caller,
  {
    wanted,
    parties,
    terms,
    card,
    now,
  }: {
    readonly wanted: WantedCross;
    readonly parties: Parties;
    readonly terms: CrossTerms;
    readonly card: CardToday;
    readonly now: Date;
  },
): CrossQuoteRow {
  return {
    cross_quote_ref: newId("cqt", now),
    environment: caller.environment,
    desk_id: caller.deskId,
    firm_id: parties.firm.firm_id,
    key_id: caller.keyId,
    side: wanted.side,
    kind: terms.kind,
    counterparty_firm_id: parties.counterparty?.firm_id ?? null,
    seller_iec: terms.sellerIec,
    buyer_iec: terms.buyerIec,
    scheme: terms.scheme,
    scrip_nos: terms.scripNos,
    face_paise: terms.facePaise,
    price_bps: terms.priceBps,
    fee_bps: terms.feeBps,
    gst_bps: terms.gstBps,
    terms_hash: hashTerms(terms),
    created_at: now,
    valid_until: new Date(now.getTime() + card.quote_window_s * 1_000),
    cross_id: null,
  };
}

/** The caller's side of the terms. */
function viewQuote(quote: CrossQuoteRow, sums: Sums): CrossQuote {
  const isSeller = quote.side === "sell";
  const fee = feeWithin(sums.feePaise, quote.gst_bps);
  return {
    cross_quote_ref: quote.cross_quote_ref,
    kind: quote.kind,
    firm_id: quote.firm_id,
    side: quote.side,
    counterparty_iec: isSeller ? quote.buyer_iec : quote.seller_iec,
    scheme: quote.scheme,
    scrip_nos: [...(quote.scrip_nos ?? [])],
    face_paise: quote.face_paise,
    price_bps: quote.price_bps,
    fee_paise: fee.feePaise,
    gst_paise: fee.gstPaise,
    all_in_paise: isSeller ? sums.sellerPaise : sums.buyerPaise,
    terms_hash: quote.terms_hash,
    valid_until: istTimestamp(quote.valid_until),
  };
}
