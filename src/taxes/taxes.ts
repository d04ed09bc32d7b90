// Tax rates, and the invoices of fees that bear divided tax. A worker issues them after delivery: the
// numbers of a series have no gap, so numbering is serialized by a row lock, and deals should not wait
// for it. A set is numbered in one transaction with the row of its series, so a rollback uses no
// number.

import { findHouse } from "../house/read-house.ts";
import { type HouseInLaw, houseIncomplete } from "../house/rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
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
import type { Db } from "../platform/postgres/postgres.ts";
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
  lockSeries,
  raiseSeries,
  setInvoiceNos,
  type StoredTax,
  upsertRate,
} from "./tax-store.ts";
import {
  type DocumentKind,
  formatDocumentNo,
  type GstRate,
  type RateRow,
  refuseEarly,
  refuseGst,
  refuseTds,
  type TdsRate,
} from "./tax-rules.ts";

/** Without a state the house's is taken. */
type GstRateGiven = Omit<GstRate, "house_state"> & Partial<Pick<GstRate, "house_state">>;

/** A tax line from a day on; a null rate switches it off. */
type SetTax = { readonly environment: Environment; readonly from: IstDay } & (
  | { readonly line: "gst"; readonly rate: GstRateGiven | null }
  | { readonly line: "tds"; readonly rate: TdsRate | null }
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
  const rate = tax.rate && tax.line === "gst" ? locateGst(tax.rate, house) : tax.rate;
  if (tax.rate && tax.line === "tds") {
    refuseTds(tax.rate);
    if (environment === "live" && !house?.tan) throw houseIncomplete(["tan"]);
  }
  const is_on = rate !== null;
  const row: RateRow = { environment, line, effective_from: from, is_on, ...blank, ...rate };
  await ctx.db.transaction(async (tx) => {
    await upsertRate(tx, row, now);
    await recordChanges(tx, actor, [buildTaxChange(row)], now);
  });
  return row;
}

/** The rate with the state of the house on its first day, which a state that is given has to be. */
function locateGst(rate: GstRateGiven, house: HouseInLaw | undefined): GstRate {
  const located = { ...rate, house_state: rate.house_state ?? house?.state_code ?? "" };
  refuseGst(located, house?.state_code ?? null);
  return located;
}

export type StoredLegTax = StoredTax;
export type FeeInvoice = InvoiceRow;

/** Every rate ever set, the latest of each line first. */
export async function listTaxRates(
  { db }: Pick<Context, "db">,
  environment: Environment | null,
): Promise<readonly RateRow[]> {
  return await listRates(db, { environment, upTo: null });
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
function buildTaxChange(after: RateRow): Change {
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
  return await ctx.db.transaction(async (tx) => {
    const before = await lockSeries(tx, environment, { kind, year });
    const due = await listUninvoiced(tx, environment, {
      kind,
      limit: setSizeMax,
      ...choice,
    });
    note([...new Set(due.map(({ settlement_id }) => settlement_id))]);
    if (due.length === 0) return 0;
    const after = before + due.length;
    // Two transactions can start a new series at once; the second stops here and retries later.
    if (!(await raiseSeries(tx, environment, { kind, year, before, after }))) return 0;
    const invoices = due.map(({ ordinals, ...row }, at) => {
      const number = before + at + 1;
      const invoice_no = formatDocumentNo(kind, year, number);
      const invoice: InvoiceRow = { ...row, financial_year: year, number, invoice_no, issued_at };
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
    return due.length;
  });
}
