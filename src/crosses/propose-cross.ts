// Proposals of crosses, and the request of a cross quote: its parsing, and the choice of the
// credits (the lot) that a cross is about.

import { spendKeyLimits } from "../access/money-limits.ts";
import { chooseOwnCredits } from "../cover/choose-bundle.ts";
import { type FoundCredit, findDeliverable, findForSale } from "../credits/reserve-credits.ts";
import { normalizeScripNo, findNotSellableReason, creditNotSellable } from "../credits/rules.ts";
import { type FirmOfDesk, lockTradingFirms } from "../firms/find-firms.ts";
import { isIec, normalizeIdentifier } from "../kernel/identifiers.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import { buySideOff, type Call, type Caller } from "../kernel/caller.ts";
import { type Failure, type FieldProblem, notFound, unprocessable } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { sumPaise, type Paise } from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { dayNumber, istDay, istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { amountDaysMin } from "../rates/rules.ts";
import { quoteExpired, quoteUsed } from "../trading/order-refusals.ts";
import { buildCrossRow, openCrosses } from "./open-crosses.ts";
import { type CrossQuoteRow, lockCrossQuote, setCrossOfQuote } from "./quote-store.ts";
import { buildCrossChanges, requireCross } from "./read-crosses.ts";
import type { FoundCross } from "./read-store.ts";
import type { CrossKind, CrossTerms } from "./rules.ts";
import type { Cross, ProposeCrossBody } from "./schema.ts";
import { type CrossRow, insertCrosses, listAddressed } from "./store.ts";

/**
 * Proposes a cross. Between firms of the caller's desk it is agreed at once. Otherwise it waits for
 * an answer; the proposer cannot tell whether a firm with that IEC exists here.
 */
export async function proposeCross(
  ctx: Context,
  call: Call,
  body: ProposeCrossBody,
): Promise<Creation<Cross>> {
  const now = ctx.now();
  const crossId = newId("crs", now);
  return await ctx.db.transaction(
    async (tx): Promise<Creation<Cross>> => {
      const proposedBefore = await claimIdempotencyKey(tx, {
        call,
        operation: "proposeCross",
        body,
        idField: "cross_id",
        newId: crossId,
        now,
      });
      if (proposedBefore) {
        const resource = await requireCross(tx, call.caller, proposedBefore);
        return { outcome: "replayed", resource };
      }
      const quote = await lockOpenQuote(tx, call, { ...body, now });
      const changes = await propose(tx, call.caller, { quote, crossId, now });
      await setCrossOfQuote(tx, quote.cross_quote_ref, crossId);
      await recordChanges(tx, toActor(call), changes, now);
      const resource = await requireCross(tx, call.caller, crossId);
      return { outcome: call.dryRun ? "dry_run" : "created", resource };
    },
    { rollBack: call.dryRun },
  );
}

/** The body of the request; its fields are valid one by one. */
type CrossRequest = {
  readonly kind: CrossKind;
  readonly side: Side;
  readonly firm_id?: string;
  readonly counterparty_firm_id?: string;
  readonly counterparty_iec?: string;
  readonly scrip_nos?: readonly string[];
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly price_bps?: number;
};

/** Scrip numbers, or an amount of a scheme; both for numbers of another desk's credits. */
type Lot = {
  readonly scripNos: readonly string[] | undefined;
  readonly scheme: Scheme | undefined;
  readonly facePaise: number | undefined;
};

export type WantedCross = {
  readonly kind: CrossKind;
  readonly side: Side;
  readonly firmId: string | undefined;
  readonly counterparty: { readonly firmId: string } | { readonly iec: string };
  readonly lot: Lot;
  readonly priceBps: number | undefined;
};

export function parseCrossRequest(request: CrossRequest): WantedCross {
  const { kind, side, counterparty_firm_id: firmId, scheme, face_paise: facePaise } = request;
  const iec = request.counterparty_iec && normalizeIdentifier(request.counterparty_iec);
  const problems = [...findCounterpartyProblems(request, iec), ...findLotProblems(request)];
  const counterparty = firmId === undefined ? iec && { iec } : { firmId };
  if (problems.length > 0 || !counterparty) throw unprocessable(...problems);
  return {
    kind,
    side,
    firmId: request.firm_id,
    counterparty,
    // An invalid number stays as it is and will not be found.
    lot: {
      scripNos: request.scrip_nos?.map((text) => normalizeScripNo(text) ?? text),
      scheme,
      facePaise,
    },
    priceBps: request.price_bps,
  };
}

/** The credits that a cross is about. */
type ChosenLot = {
  readonly scheme: Scheme;
  /** 0 when the seller has no such credits. */
  readonly facePaise: Paise;
  /** Null when a seller on another desk will choose. */
  readonly scripNos: readonly string[] | null;
};

/** Credits of a seller on the caller's desk; for another seller, the lot as requested. */
export async function chooseLot(
  db: Db,
  caller: Caller,
  lot: Lot,
  { seller, now }: { readonly seller: FirmOfDesk | undefined; readonly now: Date },
): Promise<ChosenLot> {
  const { scripNos, scheme, facePaise } = lot;
  if (seller && scripNos)
    return await checkNamedLot(db, caller, { ...lot, scripNos }, { seller, now });
  if (scheme === undefined || facePaise === undefined) {
    throw new Error("a lot that is not named by credits of the desk has a scheme and a face");
  }
  if (!seller) return { scheme, facePaise, scripNos: scripNos ?? null };
  return await chooseOwnLot(db, { firmId: seller.firm_id, scheme, facePaise }, now);
}

/** The firm's credits with enough days left whose sum is the largest up to a face. */
export async function chooseOwnLot(
  db: Db,
  wanted: { readonly firmId: string; readonly scheme: Scheme; readonly facePaise: Paise },
  now: Date,
): Promise<ChosenLot & { readonly scripNos: readonly string[] }> {
  const { firmId, scheme } = wanted;
  const life = { daysMin: amountDaysMin, today: istDay(now) };
  const credits = await db.run(findDeliverable({ firmId, scheme, ...life }));
  const { offers, covered_paise: facePaise } = chooseOwnCredits(
    credits.map((credit) => ({ ...credit, expires_on: dayNumber(credit.expires_on) })),
    wanted.facePaise,
  );
  return { scheme, facePaise, scripNos: offers.map((offer) => offer.scrip_no) };
}

/** The first firm with the awaited IEC that answers takes the open side. */
export function bindAnswerer(
  { addressed_firm_id: firmId, ...cross }: FoundCross,
  deskId: string,
): CrossRow {
  if (firmId === null) throw new Error("only an addressed firm answers a proposal");
  const bound = { ...cross, awaited_iec: null };
  return cross.proposed_by === "sell"
    ? { ...bound, buyer_desk_id: deskId, buyer_firm_id: firmId }
    : { ...bound, seller_desk_id: deskId, seller_firm_id: firmId };
}

async function lockOpenQuote(
  tx: Tx,
  { caller }: Call,
  { cross_quote_ref: ref, now }: ProposeCrossBody & { readonly now: Date },
): Promise<CrossQuoteRow> {
  const quote = isId("cqt", ref) ? await lockCrossQuote(tx, visibleTo(caller), ref) : undefined;
  if (!quote) throw notFound("cross_quote_ref");
  if (quote.side === "buy" && !caller.buySide) throw buySideOff();
  if (quote.cross_id !== null) throw quoteUsed({ cross_id: quote.cross_id });
  if (quote.valid_until < now) throw quoteExpired(istTimestamp(quote.valid_until));
  return quote;
}

type Proposal = { readonly quote: CrossQuoteRow; readonly crossId: string; readonly now: Date };

async function propose(
  tx: Tx,
  caller: Caller,
  { quote, crossId, now }: Proposal,
): Promise<readonly Change[]> {
  const { environment, desk_id: deskId, side, firm_id, counterparty_firm_id } = quote;
  const terms = toTerms(quote);
  const { sellerIec, buyerIec, scripNos } = terms;
  if (counterparty_firm_id !== null && scripNos !== null) {
    const [sellerId, buyerId] =
      side === "sell" ? [firm_id, counterparty_firm_id] : [counterparty_firm_id, firm_id];
    const seller = { firmId: sellerId, iec: sellerIec };
    const buyer = { firmId: buyerId, iec: buyerIec };
    const cross = {
      ...terms,
      crossId,
      scripNos,
      seller,
      buyer,
      proposedBy: side,
      nettingRef: null,
    };
    return (await openCrosses(tx, caller, [cross], { pricedAt: quote.created_at, now })).changes;
  }
  const firm = (await tx.run(lockTradingFirms([firm_id]))).get(firm_id);
  // The other side's acceptance commits the proposer, so its limits are charged now.
  await spendKeyLimits(tx, caller, { deals: [quote.face_paise], now });
  const refusal = firm && findTradingRefusal(firm, now);
  if (refusal) throw refusal;
  const calendar = await readCalendar(tx);
  const after: CrossRow = {
    ...buildCrossRow({
      crossId,
      caller,
      terms,
      proposedBy: side,
      state: "proposed",
      now,
      calendar,
    }),
    ...(side === "sell"
      ? { seller_desk_id: deskId, seller_firm_id: firm_id, awaited_iec: buyerIec }
      : { buyer_desk_id: deskId, buyer_firm_id: firm_id, awaited_iec: sellerIec }),
  };
  await insertCrosses(tx, [after]);
  const addressed = await listAddressed(tx, environment, [after.awaited_iec ?? ""]);
  return buildCrossChanges({ action: "propose", before: null, after, addressed });
}

function toTerms(quote: CrossQuoteRow): CrossTerms {
  return {
    kind: quote.kind,
    sellerIec: quote.seller_iec,
    buyerIec: quote.buyer_iec,
    scheme: quote.scheme,
    facePaise: quote.face_paise,
    priceBps: quote.price_bps,
    feeBps: quote.fee_bps,
    gstBps: quote.gst_bps,
    scripNos: quote.scrip_nos,
  };
}

function findCounterpartyProblems(
  { kind, counterparty_firm_id: firmId }: CrossRequest,
  iec: string | undefined,
): FieldProblem[] {
  if (firmId === undefined && iec === undefined) {
    return [{ path: "counterparty_iec", problem: "is required without counterparty_firm_id" }];
  }
  if (firmId !== undefined && iec !== undefined) {
    return [{ path: "counterparty_iec", problem: "must not be given with counterparty_firm_id" }];
  }
  if (iec !== undefined && kind === "intra_group") {
    const problem = "is required: an intra-group cross is between firms of one of your groups";
    return [{ path: "counterparty_firm_id", problem }];
  }
  return iec === undefined || isIec(iec)
    ? []
    : [{ path: "counterparty_iec", problem: "must be a PAN, or ten digits" }];
}

function findLotProblems(request: CrossRequest): FieldProblem[] {
  const { side, scrip_nos: scripNos, scheme, face_paise: facePaise } = request;
  const missing = [
    ...(scheme === undefined ? [{ path: "scheme", problem: "is required" }] : []),
    ...(facePaise === undefined ? [{ path: "face_paise", problem: "is required" }] : []),
  ];
  if (scripNos === undefined) return missing;
  const numbers = new Set(scripNos.map((text) => normalizeScripNo(text) ?? text));
  if (numbers.size < scripNos.length) {
    return [{ path: "scrip_nos", problem: "names a credit twice" }];
  }
  // Credits of another desk cannot be looked up, so their scheme and face are required.
  return side === "buy" && request.counterparty_firm_id === undefined ? missing : [];
}

type Selling = { readonly seller: FirmOfDesk; readonly now: Date };

async function checkNamedLot(
  db: Db,
  caller: Caller,
  lot: Lot & { readonly scripNos: readonly string[] },
  { seller, now }: Selling,
): Promise<ChosenLot> {
  const { scripNos } = lot;
  const asked = scripNos.map((scripNo) => ({ caller, scripNo, firmId: seller.firm_id }));
  const found = await db.run(findForSale(asked));
  const credits = found.filter((credit) => credit !== undefined);
  const [first] = credits;
  if (!first || credits.length < scripNos.length) throw notFound("scrip_nos");
  const facePaise = sumPaise(credits.map((credit) => credit.face_paise));
  if (typeof facePaise === "bigint") throw moreThanOneAmount();
  const problems = findDifferences(credits, { scheme: first.scheme, facePaise, lot });
  if (problems.length > 0) throw unprocessable(...problems);
  const facts = { firmState: seller.connection_state, today: istDay(now) };
  for (const credit of credits) {
    const reason = findNotSellableReason(credit, facts);
    if (reason) throw creditNotSellable(credit, reason);
  }
  return { scheme: first.scheme, facePaise, scripNos };
}

/** What a cross moves is one amount, as is what is paid for it. */
function moreThanOneAmount(): Failure {
  const problem = `the faces of these credits come to more than ${Number.MAX_SAFE_INTEGER} paise`;
  return unprocessable({ path: "scrip_nos", problem });
}

/** The differences between the request and the stored credits. */
function findDifferences(
  credits: readonly FoundCredit[],
  {
    scheme,
    facePaise,
    lot,
  }: { readonly scheme: Scheme; readonly facePaise: Paise; readonly lot: Lot },
): FieldProblem[] {
  const isMixed = credits.some((credit) => credit.scheme !== scheme);
  return [
    ...(isMixed ? [{ path: "scrip_nos", problem: "must be of one scheme" }] : []),
    ...(lot.scheme !== undefined && lot.scheme !== scheme
      ? [{ path: "scheme", problem: "is not the scheme of these credits" }]
      : []),
    ...(lot.facePaise !== undefined && lot.facePaise !== facePaise
      ? [{ path: "face_paise", problem: "is not the sum of the faces of these credits" }]
      : []),
  ];
}
