// The buyer's money goes into escrow, by one entry:
//
//   balance   what the buyer has with us is held at once when it reaches
//   sandbox   what is missing comes from the simulated bank in the same call
//   live      the bank is asked, and the cross waits for what an operator saw
//
// A payment is known by what the buyer calls it: the same again is the same payment.

import { readCalendar } from "../calendar/read-calendar.ts";
import { fundingReference } from "../deposits/rules.ts";
import { takeDeposits } from "../deposits/take-deposits.ts";
import { refusalToTrade } from "../firms/rules.ts";
import { tradingFirms } from "../firms/trading-firms.ts";
import { askOutside } from "../inquiries/ask-outside.ts";
import type { Change } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { asAmount } from "../kernel/sums.ts";
import { balancesOf } from "../ledger/read-books.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { FundsMoved, assertHoldsWritten } from "../settlement/open-settlements.ts";
import { type Acting, actOnCross } from "./act-on-cross.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { escrowEntry } from "./escrow.ts";
import { moveToDeadline } from "./move-cross.ts";
import { conflict, moveFor } from "./rules.ts";
import type { Cross, FundCrossBody } from "./schema.ts";
import { type CrossRow, setCrosses } from "./store.ts";

/** How often it is tried because the buyer's balance moved meanwhile. */
const attemptsMax = 5;

export async function fundCross(
  ctx: Context,
  call: Call,
  { crossId, payment_ref: paymentRef }: FundCrossBody & { readonly crossId: string },
): Promise<Cross> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await actOnCross(ctx, call, { crossId, action: "fund" }, async (tx, acting) => {
        return await fund(tx, acting, paymentRef);
      });
    } catch (error) {
      if (!(error instanceof FundsMoved) || attempt === attemptsMax) throw error;
    }
  }
}

async function fund(tx: Tx, acting: Acting, paymentRef: string): Promise<readonly Change[]> {
  const { cross, standing, now } = acting;
  if (cross.payment_ref === paymentRef) return [];
  moveFor("fund", standing);
  if (cross.payment_ref !== null) {
    throw conflict(standing, "payment_pending", "another payment is waited for");
  }
  const buyerId = cross.buyer_firm_id ?? "";
  const buyer = (await tradingFirms(tx, [buyerId])).get(buyerId);
  const refusal = buyer && refusalToTrade(buyer, now);
  if (refusal) throw refusal;
  const paying = { ...cross, payment_ref: paymentRef };
  const [balance] = await balancesOf(tx, cross.environment, [buyerId]);
  const missing = cross.buyer_paise - asAmount(balance?.available_paise ?? 0);
  if (missing > 0 && cross.environment === "live") return await askBank(tx, paying, now);
  return await hold(tx, { before: cross, paying, missing, now });
}

type Holding = {
  readonly before: CrossRow;
  readonly paying: CrossRow;
  readonly missing: number;
  readonly now: Date;
};

async function hold(tx: Tx, { before, paying, missing, now }: Holding): Promise<Change[]> {
  const after = moveToDeadline(paying, "fund", { now, calendar: await readCalendar(tx) });
  await setCrosses(tx, [after]);
  const deposit = {
    environment: after.environment,
    reference: fundingReference(after.cross_id),
    deskId: after.buyer_desk_id ?? "",
    firmId: after.buyer_firm_id ?? "",
    paise: missing,
    settlementId: null,
  };
  const taken = await takeDeposits(tx, missing > 0 ? [deposit] : [], now);
  assertHoldsWritten(await postEntries(tx, [...taken.entries, escrowEntry(after)], now));
  return [...taken.changes, ...changesOfCross({ action: "fund", before, after })];
}

/** The whole of it, so that it suffices whatever becomes of the balance until it arrives. */
async function askBank(tx: Tx, paying: CrossRow, now: Date): Promise<Change[]> {
  const after = { ...paying, version: paying.version + 1, updated_at: now };
  await setCrosses(tx, [after]);
  const question = {
    environment: after.environment,
    deskId: after.buyer_desk_id ?? "",
    port: "bank",
    kind: "deal_funding",
    subjectId: after.cross_id,
    facts: { firm_id: after.buyer_firm_id ?? "", paise: after.buyer_paise },
  } as const;
  await askOutside(tx, [question], now);
  const before = { ...paying, payment_ref: null };
  return changesOfCross({ action: "await_payment", isTold: false, before, after });
}
