// Tax rates, and the invoices of fees that bear divided tax. A worker issues them after delivery: the
// numbers of a series have no gap, so numbering is serialized by a row lock, and deals should not wait
// for it.

import { findHouse } from "../house/read-house.ts";
import { type HouseInLaw, houseIncomplete } from "../house/rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import type { Bps } from "../kernel/money.ts";
import { houseFirmId } from "../kernel/ids.ts";
import {
  financialYear,
  financialYearEnd,
  financialYearStart,
  isCalendarDay,
  type IstDay,
  istDay,
} from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  type Choice,
  noOffenders,
  type Offenders,
  workInParts,
} from "../platform/postgres/offenders.ts";
import type { Db, Query } from "../platform/postgres/postgres.ts";
import {
  findUninvoicedKinds,
  insertInvoices,
  type InvoicePage,
  type InvoiceRow,
  type InvoiceSearch,
  listInvoices,
  listInvoicesBySettlement,
  listNewestInvoices,
  listRates,
  listTaxes,
  listUninvoiced,
  setInvoiceNos,
  type StoredTax,
  upsertRate,
} from "./tax-store.ts";
import { numberSeries } from "./number-series.ts";
import {
  type DocumentKind,
  type FeeLaw,
  findRates,
  type GstRate,
  type RailLimits,
  type RateRow,
  refuseEarly,
  refuseFeeLaw,
  refuseGst,
  refuseRailLimits,
  refuseScripLaw,
  refuseTds,
  type ScripLaw,
  type TdsRate,
} from "./tax-rules.ts";

/** Without an Act or a payment code none is cited. */
type TdsRateGiven = Omit<TdsRate, "act" | "payment_code"> &
  Partial<Pick<TdsRate, "act" | "payment_code">>;

/** Without a state the house's is taken. */
type GstRateGiven = Omit<GstRate, "house_state"> & Partial<Pick<GstRate, "house_state">>;

/** A tax line from a day on; a null rate switches it off. */
export type SetTax = { readonly environment: Environment; readonly from: IstDay } & (
  | { readonly line: "gst"; readonly rate: GstRateGiven | null }
  | { readonly line: "tds"; readonly rate: TdsRateGiven | null }
  | { readonly line: "scrip"; readonly rate: ScripLaw | null }
  | { readonly line: "fee"; readonly rate: FeeLaw | null }
  | { readonly line: "rails"; readonly rate: RailLimits | null }
);

const blank = {
  cgst_bps: null,
  sgst_bps: null,
  igst_bps: null,
  house_state: null,
  section: null,
  rate_bps: null,
  threshold_paise: null,
  with_crosses: null,
  hsn: null,
  exemption: null,
  sac: null,
  gst_bps: null,
  act: null,
  payment_code: null,
  rtgs_from_paise: null,
  imps_to_paise: null,
  citation: null,
} as const;

export async function setTax(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  tax: SetTax,
): Promise<RateRow> {
  const now = ctx.now();
  const { environment, line, from } = tax;
  if (!isCalendarDay(from)) throw unprocessable({ path: "from", problem: "must be a day" });
  refuseEarly(environment, from, istDay(now));
  const house = await findHouse(ctx.db, environment, from);
  const { fee } = findRates(from, await ctx.db.run(listRates({ environment, upTo: from })));
  const rate =
    tax.rate && tax.line === "gst" ? locateGst(tax.rate, house, fee?.gst_bps ?? 0) : tax.rate;
  if (tax.rate && tax.line === "tds") {
    refuseTds({ act: null, payment_code: null, ...tax.rate });
    if (environment === "live" && !house?.tan) throw houseIncomplete(["tan"]);
  }
  if (tax.rate && tax.line === "scrip") refuseScripLaw(tax.rate);
  if (tax.rate && tax.line === "fee") refuseFeeLaw(tax.rate);
  if (tax.rate && tax.line === "rails") refuseRailLimits(tax.rate);
  if (!tax.rate && tax.line === "rails") {
    throw unprocessable({ path: "line", problem: "must be a tax: limits of rails are set anew" });
  }
  const row: RateRow = {
    environment,
    line,
    effective_from: from,
    is_on: rate !== null,
    confirmed_by: actor.id,
    ...blank,
    ...rate,
  };
  await ctx.db.transaction(async (tx) => {
    await upsertRate(tx, row, now);
    await recordChanges(tx, actor, [buildTaxChange(row)], now);
  });
  return row;
}

/** The rate with the state of the house on its first day, which a state that is given has to be. */
function locateGst(rate: GstRateGiven, house: HouseInLaw | undefined, gstBps: Bps): GstRate {
  const located = { ...rate, house_state: rate.house_state ?? house?.state_code ?? "" };
  refuseGst(located, { state: house?.state_code ?? null, gstBps });
  return located;
}

export type StoredLegTax = StoredTax;
export type FeeInvoice = InvoiceRow;

/** Every rate ever set, the latest of each line first. */
export async function listTaxRates(
  { db }: { readonly db: Db },
  environment: Environment | null,
): Promise<readonly RateRow[]> {
  return await db.run(listRates({ environment, upTo: null }));
}

/** Which amounts the rails take today. */
export function findRailLimits(environment: Environment, now: Date): Query<RailLimits> {
  const today = istDay(now);
  return listRates({ environment, upTo: today }).map((rows) => {
    const { rails } = findRates(today, rows);
    if (!rails) throw new Error("limits of rails came with the program and do not end");
    return rails;
  });
}

/** The same in a transaction. */
export async function listInvoicesIssued(
  db: Db,
  search: InvoiceSearch,
): Promise<readonly InvoiceRow[]> {
  return await listInvoices(db, search);
}

export async function listFeeInvoices(
  { db }: Pick<Context, "db">,
  search: InvoiceSearch,
): Promise<readonly InvoiceRow[]> {
  return await listInvoices(db.planned, search);
}

/** A page of the fee invoices of a financial year, the newest first. */
export async function listNewestFeeInvoices(
  { db }: Pick<Context, "db">,
  { year, from, to, ...page }: InvoicePage & Pick<InvoiceSearch, "year">,
): Promise<readonly InvoiceRow[]> {
  const [begins, ends] = [financialYearStart(year), financialYearEnd(year)];
  return await listNewestInvoices(db.planned, {
    ...page,
    from: from && from > begins ? from : begins,
    to: to && to < ends ? to : ends,
  });
}

/** The taxes of legs, by settlement. */
export async function findTaxesBySettlement(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredTax[]>> {
  if (settlementIds.length === 0) return new Map();
  const rows = await listTaxes(db, settlementIds);
  return Map.groupBy(rows, (row) => row.settlement_id);
}

/** The documents of a settlement, in the order of their numbers. */
export async function listInvoicesOfSettlement(
  db: Db,
  settlementId: string,
): Promise<readonly InvoiceRow[]> {
  return await listInvoicesBySettlement(db, [settlementId]);
}

const setSizeMax = 500;

/** Issues one set of each series. */
export async function issueInvoices(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let issued = 0;
  for (const series of await findUninvoicedKinds(ctx.db)) {
    issued += await workInParts(offenders, (choice, note) =>
      issueSeries(ctx, { ...series, choice, note }),
    );
  }
  return issued > 0 ? "more" : "idle";
}

/** Rates belong to no desk: their changes are recorded on the house's desk. */
export function buildTaxChange(after: RateRow): Change {
  const { environment, line, effective_from } = after;
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: "tax.set",
    entity: { type: "tax", id: `${line}:${effective_from}`, version: 1, href: "/v1/statements" },
    after,
  };
}

type IssueInput = {
  readonly environment: Environment;
  readonly kind: DocumentKind;
  readonly choice: Choice;
  readonly note: (ids: readonly string[]) => void;
};

async function issueSeries(
  ctx: Pick<Context, "db" | "now">,
  { environment, kind, choice, note }: IssueInput,
): Promise<number> {
  const issued_at = ctx.now();
  const year = financialYear(issued_at);
  const upTo = istDay(issued_at);
  const { fee } = findRates(upTo, await ctx.db.run(listRates({ environment, upTo })));
  const issued = { financial_year: year, sac: fee?.sac ?? null, issued_at };
  return await numberSeries(
    ctx,
    { environment, kind, year },
    {
      list: (tx) => listUninvoiced(tx, environment, { kind, limit: setSizeMax, ...choice }),
      note,
      async store(tx, numbered) {
        const invoices = numbered.map(({ ordinals, no: invoice_no, ...row }) => {
          const invoice: InvoiceRow = { ...row, ...issued, invoice_no };
          return { invoice, legs: ordinals.map((ordinal) => ({ ...invoice, ordinal })) };
        });
        await insertInvoices(
          tx,
          invoices.map(({ invoice }) => invoice),
        );
        await setInvoiceNos(
          tx,
          invoices.flatMap(({ legs }) => legs),
        );
      },
    },
  );
}
