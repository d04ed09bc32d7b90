import { readCalendar } from "../calendar/read-calendar.ts";
import { holderOf } from "../credits/holder-of.ts";
import { recordChanges } from "../events/record-changes.ts";
import { refusalToTrade } from "../firms/rules.ts";
import { tradingFirms } from "../firms/trading-firms.ts";
import { actorOf, type Change } from "../kernel/actor.ts";
import { buySideOff, type Call, type Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import { quoteExpired } from "../orders/refusals.ts";
import { spendKeyLimits } from "../keys/spend-key-limits.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import type { Tx } from "../platform/postgres.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { newCrossRow, openCrosses } from "./open-crosses.ts";
import { type CrossQuoteRow, lockCrossQuote, setCrossOfQuote } from "./quote-store.ts";
import { crossOf } from "./read-cross.ts";
import { quoteUsed } from "./refusals.ts";
import type { Terms } from "./rules.ts";
import type { Cross, ProposeCrossBody } from "./schema.ts";
import { type CrossRow, insertCrosses, listAddressed } from "./store.ts";

/**
 * A cross among the caller's own firms is agreed at once. Any other waits for an answer, and neither
 * the proposer nor anybody else can tell whether there is somebody here to give one.
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
        const resource = await crossOf(tx, call.caller, proposedBefore);
        return { outcome: "replayed", resource };
      }
      const quote = await lockOpenQuote(tx, call, { ...body, now });
      const changes = await propose(tx, call.caller, { quote, crossId, now });
      await setCrossOfQuote(tx, quote.cross_quote_ref, crossId);
      await recordChanges(tx, actorOf(call), changes, now);
      const resource = await crossOf(tx, call.caller, crossId);
      return { outcome: call.dryRun ? "tried" : "created", resource };
    },
    { rollBack: call.dryRun },
  );
}

async function lockOpenQuote(
  tx: Tx,
  { caller }: Call,
  { cross_quote_ref: ref, now }: ProposeCrossBody & { readonly now: Date },
): Promise<CrossQuoteRow> {
  const quote = isId("cqt", ref) ? await lockCrossQuote(tx, holderOf(caller), ref) : undefined;
  if (!quote) throw notFound();
  if (quote.side === "buy" && !caller.buySide) throw buySideOff();
  if (quote.cross_id !== null) throw quoteUsed(quote.cross_id);
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
  const terms = termsOf(quote);
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
  const firm = (await tradingFirms(tx, [firm_id])).get(firm_id);
  // Whoever proposes is bound by the other's yes, and is not asked again.
  await spendKeyLimits(tx, caller, { deals: [quote.face_paise], now });
  const refusal = firm && refusalToTrade(firm, now);
  if (refusal) throw refusal;
  const calendar = await readCalendar(tx);
  const after: CrossRow = {
    ...newCrossRow({ crossId, caller, terms, proposedBy: side, state: "proposed", now, calendar }),
    ...(side === "sell"
      ? { seller_desk_id: deskId, seller_firm_id: firm_id, awaited_iec: buyerIec }
      : { buyer_desk_id: deskId, buyer_firm_id: firm_id, awaited_iec: sellerIec }),
  };
  await insertCrosses(tx, [after]);
  const addressed = await listAddressed(tx, environment, [after.awaited_iec ?? ""]);
  return changesOfCross({ action: "propose", before: null, after, addressed });
}

function termsOf(quote: CrossQuoteRow): Terms {
  return {
    kind: quote.kind,
    sellerIec: quote.seller_iec,
    buyerIec: quote.buyer_iec,
    scheme: quote.scheme,
    facePaise: quote.face_paise,
    priceBps: quote.price_bps,
    feeBps: quote.fee_bps,
    scripNos: quote.scrip_nos,
  };
}
