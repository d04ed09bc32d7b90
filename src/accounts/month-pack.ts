// The month's pack: an archive of registers, ledgers, drafts and vouchers, with the ties of every total to
// the ledger. The month is read in one snapshot, so the pack of a month that is over is always the same; a
// thread builds it (`build-pack.ts`).

import { findTaxpayers } from "../firms/find-firms.ts";
import { findHouse } from "../house/read-house.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { periodSpan, refuseOtherPeriod } from "../kernel/months.ts";
import { financialYear, type IstMonth, lastDayOfMonth } from "../kernel/time.ts";
import { readKindSums, readMoneyMoves } from "../ledger/read-books.ts";
import { accountFirm, type Posted } from "../ledger/rules.ts";
import type { Context } from "../platform/context.ts";
import type { Heavy } from "../platform/heavy/kinds.ts";
import type { Pace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { listLegsBySettlement } from "../settlement/read-settlements.ts";
import { findScripLaw, listBillsOfMonth } from "../taxes/bills.ts";
import { findTaxesBySettlement, listInvoicesIssued, listTaxRates } from "../taxes/taxes.ts";
import { readDeductions } from "../taxes/withholding.ts";
import { buildPack, type MonthRead, packRows } from "./build-pack.ts";
import { findLegOrdinal, type PackLeg, type Tie } from "./pack-rules.ts";

/** What a thread has the memory for: some 20,000 deals. A command has more. */
const postingsMaxDefault = 120_000;
/** Bounds one statement: decoding more rows at once would block the event loop. */
const spanMs = 2 * 3_600_000;
const settlementsAtOnce = 250;

type MonthPack = {
  readonly name: string;
  readonly content: Buffer;
  readonly ties: readonly Tie[];
};

type PackedMonth = {
  readonly environment: Environment;
  readonly period: IstMonth;
  readonly postingsMax?: number;
};

export async function makeMonthPack(
  ctx: Pick<Context, "db" | "now"> & { readonly heavy: Heavy },
  { environment, period, postingsMax = postingsMaxDefault }: PackedMonth,
): Promise<MonthPack> {
  refuseOtherPeriod(period);
  const dated = ctx.now();
  const asked = { by: { environment, deskId: houseFirmId[environment] } };
  const read = async (pace: Pace) =>
    await ctx.db.transaction((tx) => readMonth(tx, { environment, period, postingsMax }, pace), {
      snapshot: true,
    });
  const month = await ctx.heavy.inPieces("month pack", read, asked);
  const { content, ties } = await ctx.heavy.run(buildPack, { ...month, dated }, asked);
  const name = `accounts-${environment}-${period}.zip`;
  return { name, content: Buffer.from(content.buffer, content.byteOffset, content.length), ties };
}

async function readMonth(
  db: Db,
  { environment, period, postingsMax }: Required<PackedMonth>,
  pace: Pace,
): Promise<Omit<MonthRead, "dated">> {
  const span = { environment, ...periodSpan(period) };
  const postings: Uint8Array[] = [];
  const settlementIds = new Set<string>();
  const firmIds = new Set<string>();
  let count = 0;
  for (let fromMs = span.from.getTime(); fromMs < span.to.getTime(); fromMs += spanMs) {
    const to = new Date(Math.min(fromMs + spanMs, span.to.getTime()));
    const posted = await readMoneyMoves(db, { environment, from: new Date(fromMs), to });
    count += posted.length;
    if (count > postingsMax) {
      const problem = `has more than ${postingsMax} postings: the command makes a pack of it`;
      throw unprocessable({ path: "period", problem });
    }
    noteSubjects(posted, { settlementIds, firmIds });
    postings.push(...(await packRows(posted, pace)));
  }
  const legs: Uint8Array[] = [];
  const taxes: Uint8Array[] = [];
  const ids = [...settlementIds];
  for (let at = 0; at < ids.length; at += settlementsAtOnce) {
    const some = ids.slice(at, at + settlementsAtOnce);
    const dealt = [...(await listLegsBySettlement(db, some)).values()].flat();
    for (const leg of dealt) firmIds.add(leg.seller_firm_id).add(leg.buyer_firm_id);
    const decided = [...(await findTaxesBySettlement(db, some)).values()]
      .flat()
      .filter(({ taxed_at }) => taxed_at >= span.from && taxed_at < span.to);
    legs.push(...(await packRows(dealt.map(pickLeg), pace)));
    taxes.push(...(await packRows(decided, pace)));
  }
  const last = lastDayOfMonth(period);
  const year = financialYear(span.from);
  const days = { first: `${period}-01`, last };
  return {
    environment,
    period,
    postings,
    legs,
    taxes,
    bills: await packRows(await listBillsOfMonth(db, environment, days), pace),
    invoices: await packRows(await listInvoicesIssued(db, { ...span, year, firmId: null }), pace),
    deductions: await packRows(await readDeductions(db, span), pace),
    firms: [...(await findTaxpayers(db, [...firmIds])).values()],
    house: await findHouse(db, environment, last),
    law: await findScripLaw(db, environment, last),
    rates: await listTaxRates({ db }, environment),
    ...(await readKindSums(db, environment, span.to)),
  };
}

/** Which deals and firms are to be read besides. */
function noteSubjects(
  postings: readonly Posted[],
  noted: { readonly settlementIds: Set<string>; readonly firmIds: Set<string> },
): void {
  for (const posting of postings) {
    if (findLegOrdinal(posting) !== undefined) noted.settlementIds.add(posting.subject);
    for (const account of [posting.from_account, posting.to_account]) {
      const firmId = accountFirm(account);
      if (firmId !== undefined) noted.firmIds.add(firmId);
    }
  }
}

/** What the pack needs of a leg. */
function pickLeg(leg: PackLeg): PackLeg {
  return {
    settlement_id: leg.settlement_id,
    ordinal: leg.ordinal,
    scrip_no: leg.scrip_no,
    scheme: leg.scheme,
    face_paise: leg.face_paise,
    seller_firm_id: leg.seller_firm_id,
    buyer_firm_id: leg.buyer_firm_id,
    seller_paise: leg.seller_paise,
    buyer_paise: leg.buyer_paise,
    seller_fee_paise: leg.seller_fee_paise,
    seller_gst_paise: leg.seller_gst_paise,
    buyer_fee_paise: leg.buyer_fee_paise,
    buyer_gst_paise: leg.buyer_gst_paise,
  };
}
