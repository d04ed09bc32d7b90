import { chooseOwnCredits } from "../cover/choose-bundle.ts";
import { type CreditForSale, findForSale } from "../credits/find-for-sale.ts";
import { findDeliverable } from "../credits/reserve-credits.ts";
import { notSellableReasonOf } from "../credits/rules.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import type { Caller } from "../kernel/caller.ts";
import { type FieldProblem, notFound, unprocessable } from "../kernel/failure.ts";
import type { Paise } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayNumber, istDay } from "../kernel/time.ts";
import { creditNotSellable } from "../orders/refusals.ts";
import type { Db } from "../platform/postgres.ts";
import { amountDaysMin } from "../rates/rules.ts";
import type { Lot } from "./wanted.ts";

/** What a cross is about. */
export type ChosenLot = {
  readonly scheme: Scheme;
  /** 0 when the seller has nothing of the kind. */
  readonly facePaise: Paise;
  /** Null where the seller, whom nobody here knows, is to choose. */
  readonly scripNos: readonly string[] | null;
};

/** The seller's credits where it is a firm of the caller's desk; otherwise what the caller says. */
export async function chooseLot(
  db: Db,
  caller: Caller,
  lot: Lot,
  { seller, now }: { readonly seller: FirmOfDesk | undefined; readonly now: Date },
): Promise<ChosenLot> {
  const { scripNos, scheme, facePaise } = lot;
  if (seller && scripNos) return await namedLot(db, caller, { ...lot, scripNos }, { seller, now });
  if (scheme === undefined || facePaise === undefined) {
    throw new Error("a lot that is not named by credits of the desk has a scheme and a face");
  }
  if (!seller) return { scheme, facePaise, scripNos: scripNos ?? null };
  return await ownCredits(db, { firmId: seller.firm_id, scheme, facePaise }, now);
}

/** A firm's own long-lived credits whose sum is the largest within a face. */
export async function ownCredits(
  db: Db,
  wanted: { readonly firmId: string; readonly scheme: Scheme; readonly facePaise: Paise },
  now: Date,
): Promise<ChosenLot & { readonly scripNos: readonly string[] }> {
  const { firmId, scheme } = wanted;
  const life = { daysMin: amountDaysMin, today: istDay(now) };
  const credits = await findDeliverable(db, { firmId, scheme, ...life });
  const { offers, covered_paise: facePaise } = chooseOwnCredits(
    credits.map((credit) => ({ ...credit, expires_on: dayNumber(credit.expires_on) })),
    wanted.facePaise,
  );
  return { scheme, facePaise, scripNos: offers.map((offer) => offer.scrip_no) };
}

type Selling = { readonly seller: FirmOfDesk; readonly now: Date };

async function namedLot(
  db: Db,
  caller: Caller,
  lot: Lot & { readonly scripNos: readonly string[] },
  { seller, now }: Selling,
): Promise<ChosenLot> {
  const { scripNos } = lot;
  const asked = scripNos.map((scripNo) => ({ caller, scripNo, firmId: seller.firm_id }));
  const found = await findForSale(db, asked);
  const credits = found.filter((credit) => credit !== undefined);
  const [first] = credits;
  if (!first || credits.length < scripNos.length) throw notFound();
  const facePaise = credits.reduce((sum, credit) => sum + credit.face_paise, 0);
  const problems = differences(credits, { scheme: first.scheme, facePaise, lot });
  if (problems.length > 0) throw unprocessable(...problems);
  const facts = { firmState: seller.connection_state, today: istDay(now) };
  for (const credit of credits) {
    const reason = notSellableReasonOf(credit, facts);
    if (reason) throw creditNotSellable(credit.scrip_no, reason);
  }
  return { scheme: first.scheme, facePaise, scripNos };
}

/** What the caller says about credits that are known here must be so. */
function differences(
  credits: readonly CreditForSale[],
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
