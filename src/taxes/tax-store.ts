// Tax rates, the taxes of legs, the yearly sums of TDS, and the fee invoices and credit notes. A series
// of documents has one row with its last number, raised in the transaction that numbers them.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import type { TimeSpan } from "../kernel/query-time.ts";
import type { Side } from "../kernel/scheme.ts";
import type { FinancialYear, IstDay } from "../kernel/time.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import {
  type Db,
  fragment,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  day,
  hex,
  int,
  numeric,
  type RowOf,
  shape,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { DocumentKind, LegTax, RateRow, SeriesKind, SupplyKind } from "./tax-rules.ts";

const rateColumns = fragment`
  environment, line, effective_from, is_on, cgst_bps, sgst_bps, igst_bps, house_state, section,
  rate_bps, threshold_paise, with_crosses, hsn, exemption, sac, gst_bps, act, payment_code,
  rtgs_from_paise, imps_to_paise, citation, confirmed_by`;

/** All rates, or those in force by a day. */
export function listRates({
  environment,
  upTo,
}: {
  readonly environment: Environment | null;
  readonly upTo: IstDay | null;
}): Query<RateRow[]> {
  return query(sql`
    select ${rateColumns}
    from tax_rates
    where (${environment}::text is null or environment = ${environment})
      and (${upTo}::date is null or effective_from <= ${upTo})
    order by environment, line, effective_from desc`);
}

/** Replaces a rate of the same day, which is not in force yet. */
export async function upsertRate(tx: Tx, row: RateRow, now: Date): Promise<void> {
  await tx.rows(sql`
    insert into tax_rates (${rateColumns}, set_at)
    values (
      ${row.environment}, ${row.line}, ${row.effective_from}, ${row.is_on}, ${row.cgst_bps},
      ${row.sgst_bps}, ${row.igst_bps}, ${row.house_state}, ${row.section}, ${row.rate_bps},
      ${row.threshold_paise}, ${row.with_crosses}, ${row.hsn}, ${row.exemption},
      ${row.sac}, ${row.gst_bps}, ${row.act}, ${row.payment_code}, ${row.rtgs_from_paise},
      ${row.imps_to_paise}, ${row.citation}, ${row.confirmed_by}, ${now}
    )
    on conflict (environment, line, effective_from) do update
    set is_on = excluded.is_on, cgst_bps = excluded.cgst_bps, sgst_bps = excluded.sgst_bps,
      igst_bps = excluded.igst_bps, house_state = excluded.house_state,
      section = excluded.section, rate_bps = excluded.rate_bps,
      threshold_paise = excluded.threshold_paise, with_crosses = excluded.with_crosses,
      hsn = excluded.hsn, exemption = excluded.exemption, sac = excluded.sac,
      gst_bps = excluded.gst_bps, act = excluded.act, payment_code = excluded.payment_code,
      rtgs_from_paise = excluded.rtgs_from_paise, imps_to_paise = excluded.imps_to_paise,
      citation = excluded.citation, confirmed_by = excluded.confirmed_by,
      set_at = excluded.set_at`);
}

/** The row of a day is found right; a proposal may begin later than it was to. */
export async function confirmRate(
  tx: Tx,
  { environment, line, effective_from, confirmed_by }: RateRow,
  { from, now }: { readonly from: IstDay; readonly now: Date },
): Promise<void> {
  await tx.rows(sql`
    update tax_rates
    set confirmed_by = ${confirmed_by}, effective_from = ${effective_from}, set_at = ${now}
    where environment = ${environment} and line = ${line} and effective_from = ${from}`);
}

const legTaxes = table("leg_taxes", {
  settlement_id: text(),
  ordinal: int(),
  side: text<Side>(),
  kind: text<DocumentKind>(),
  environment: text<Environment>(),
  firm_id: text(),
  fee_paise: bigint(),
  place_of_supply: text().orNull,
  cgst_bps: int(),
  sgst_bps: int(),
  igst_bps: int(),
  cgst_paise: bigint(),
  sgst_paise: bigint(),
  igst_paise: bigint(),
  tds_act: text().orNull,
  tds_section: text().orNull,
  tds_code: text().orNull,
  tds_certificate: text().orNull,
  tds_bps: int(),
  tds_base_paise: bigint(),
  tds_paise: bigint(),
  taxed_at: time(),
  invoice_no: text().orNull,
});

export async function insertTaxes(tx: Tx, rows: readonly LegTax[], now: Date): Promise<void> {
  const shared = { taxed_at: now, invoice_no: null };
  await tx.rows(sql`
    insert into leg_taxes ${legTaxes.values(legTaxes.all, rows, shared)}`);
}

export type StoredTax = LegTax & { readonly invoice_no: string | null; readonly taxed_at: Date };

export const { list: listTaxes } = rowsBy(legTaxes, {
  key: ["settlement_id", "ordinal", "side", "kind"],
});

/** Payees travel as hexadecimal digits. */
type YearKey = { readonly environment: Environment; readonly year: FinancialYear };

type SumRow = {
  readonly payee: string;
  readonly sold_paise: PaiseSum;
  readonly taxed_paise: PaiseSum;
};

export async function listKnownPayees(
  db: Db,
  { environment, year }: YearKey,
  payees: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ payee: string }>(sql`
    select encode(payee, 'hex') as payee
    from tds_sums
    where environment = ${environment} and financial_year = ${year}
      and payee = any(select decode(hex, 'hex') from unnest(${payees}::text[]) as asked (hex))`);
  return rows.map(({ payee }) => payee);
}

export async function lockSums(
  tx: Tx,
  { environment, year }: YearKey,
  payees: readonly string[],
): Promise<SumRow[]> {
  return await tx.rows(sql`
    select encode(payee, 'hex') as payee, sold_paise, taxed_paise
    from tds_sums
    where environment = ${environment} and financial_year = ${year}
      and payee = any(select decode(hex, 'hex') from unnest(${payees}::text[]) as asked (hex))
    order by payee
    for update`);
}

const tdsSums = table("tds_sums", {
  payee: hex(),
  sold_paise: numeric(),
  taxed_paise: numeric(),
  withheld_paise: numeric(),
});
const payeesOfFirms = shape({ payee: hex(), firm_id: text() });

/** Starts a payee's year with its earlier deliveries. */
export async function insertSums(
  tx: Tx,
  { environment, year }: YearKey,
  {
    payees,
    from,
    before,
    withCrosses,
  }: {
    readonly payees: readonly { readonly payee: string; readonly firmId: string }[];
    readonly from: Date;
    readonly before: Date;
    readonly withCrosses: boolean;
  },
): Promise<void> {
  const asked = payeesOfFirms.rows(
    { payee: ({ payee }) => payee, firm_id: ({ firmId }) => firmId },
    payees,
  );
  await tx.rows(sql`
    insert into tds_sums (
      environment, financial_year, payee, sold_paise, taxed_paise, withheld_paise
    )
    select ${environment}, ${year}, asked.payee, coalesce(sum(sold.paise), 0), 0, 0
    from ${asked} as asked
    join firms as known on known.firm_id = asked.firm_id
    left join firms as own on own.environment = ${environment}
      and (own.firm_id = known.firm_id or own.pan = known.pan)
    left join lateral (
      select l.seller_paise + l.seller_fee_paise + l.seller_gst_paise as paise
      from settlement_legs as l
      join settlements as s on s.settlement_id = l.settlement_id and s.state <> 'reversed'
        and (${withCrosses} or s.origin_kind <> 'cross')
      where l.seller_desk_id = own.desk_id and l.seller_firm_id = own.firm_id
        and l.environment = ${environment} and l.state = 'delivered'
        and l.answered_at >= ${from} and l.answered_at < ${before}
    ) as sold on true
    group by asked.payee
    order by asked.payee
    on conflict do nothing`);
}

export type AddedSum = {
  readonly payee: string;
  readonly sold: PaiseSum;
  readonly taxed: PaiseSum;
  readonly withheld: PaiseSum;
};

/** A reversal adds negative amounts. */
export async function addToSums(
  tx: Tx,
  { environment, year }: YearKey,
  added: readonly AddedSum[],
): Promise<void> {
  const sums = tdsSums.rows(
    {
      payee: ({ payee }) => payee,
      sold_paise: ({ sold }) => sold,
      taxed_paise: ({ taxed }) => taxed,
      withheld_paise: ({ withheld }) => withheld,
    },
    added,
  );
  await tx.rows(sql`
    update tds_sums as t
    set sold_paise = greatest(t.sold_paise + a.sold_paise, 0),
      taxed_paise = greatest(t.taxed_paise + a.taxed_paise, 0),
      withheld_paise = greatest(t.withheld_paise + a.withheld_paise, 0)
    from ${sums} as a
    where t.environment = ${environment} and t.financial_year = ${year}
      and t.payee = a.payee`);
}

const feeInvoices = table("fee_invoices", {
  environment: text<Environment>(),
  financial_year: text(),
  kind: text<DocumentKind>(),
  number: bigint(),
  invoice_no: text(),
  firm_id: text(),
  settlement_id: text(),
  side: text<Side>(),
  recipient_name: text().orNull,
  recipient_gstin: text().orNull,
  sac: text().orNull,
  place_of_supply: text(),
  fee_paise: bigint(),
  cgst_paise: bigint(),
  sgst_paise: bigint(),
  igst_paise: bigint(),
  issued_at: time(),
});
export type InvoiceRow = RowOf<typeof feeInvoices>;

/** The fees of one side of a settlement that are on no invoice yet. */
type UninvoicedRow = Omit<
  InvoiceRow,
  "financial_year" | "number" | "invoice_no" | "sac" | "issued_at"
>;

export async function findUninvoicedKinds(
  db: Db,
): Promise<{ readonly environment: Environment; readonly kind: DocumentKind }[]> {
  return await db.rows(sql`
    select distinct environment, kind
    from leg_taxes
    where invoice_no is null and fee_paise > 0`);
}

/** Locks a series and returns its last number; the row lock serializes numbering. */
export async function lockSeries(
  tx: Tx,
  environment: Environment,
  { kind, year }: { readonly kind: SeriesKind; readonly year: FinancialYear },
): Promise<number> {
  const [row] = await tx.rows<{ last_number: number }>(sql`
    select last_number
    from invoice_series
    where environment = ${environment} and financial_year = ${year} and kind = ${kind}
    for update`);
  return row?.last_number ?? 0;
}

/** False when another transaction has started or raised the series since it was read. */
export async function raiseSeries(
  tx: Tx,
  environment: Environment,
  {
    kind,
    year,
    before,
    after,
  }: {
    readonly kind: SeriesKind;
    readonly year: FinancialYear;
    readonly before: number;
    readonly after: number;
  },
): Promise<boolean> {
  const raised = await tx.rows(sql`
    insert into invoice_series as s (environment, financial_year, kind, last_number)
    values (${environment}, ${year}, ${kind}, ${after})
    on conflict (environment, financial_year, kind) do update
    set last_number = excluded.last_number
    where s.last_number = ${before}
    returning 1`);
  return raised.length > 0;
}

/** One row per firm, settlement, side and place of supply. */
export async function listUninvoiced(
  tx: Tx,
  environment: Environment,
  { kind, limit, only, except }: Choice & { readonly kind: DocumentKind; readonly limit: number },
): Promise<(UninvoicedRow & { readonly ordinals: readonly number[] })[]> {
  return await tx.rows(sql`
    select due.*, f.legal_name as recipient_name, f.gstin as recipient_gstin
    from (
      select array_agg(ordinal order by ordinal) as ordinals, environment, kind, firm_id,
        settlement_id, side, place_of_supply, min(taxed_at) as first_at,
        sum(fee_paise)::bigint as fee_paise, sum(cgst_paise)::bigint as cgst_paise,
        sum(sgst_paise)::bigint as sgst_paise, sum(igst_paise)::bigint as igst_paise
      from leg_taxes
      where invoice_no is null and fee_paise > 0 and environment = ${environment}
        and kind = ${kind}
        and (${only}::text[] is null or settlement_id = any(${only}::text[]))
        and settlement_id <> all(${except}::text[])
      group by environment, kind, firm_id, settlement_id, side, place_of_supply
      order by first_at, settlement_id, side, firm_id, place_of_supply
      limit ${limit}
    ) as due
    join firms as f on f.environment = due.environment and f.firm_id = due.firm_id
    order by due.first_at, due.settlement_id, due.side, due.firm_id, due.place_of_supply`);
}

export const { insert: insertInvoices } = rowsBy(feeInvoices, {
  key: ["environment", "financial_year", "kind", "number"],
});

/** A side of a leg, and the invoice that it is on. */
type InvoicedLeg = Pick<InvoiceRow, "invoice_no" | "kind" | "settlement_id" | "side"> & {
  readonly ordinal: number;
};

/** Sets the number on the summed legs only: a leg delivered since then goes on the next invoice. */
export async function setInvoiceNos(tx: Tx, legs: readonly InvoicedLeg[]): Promise<void> {
  await tx.rows(sql`
    update leg_taxes as l
    set invoice_no = i.invoice_no
    from ${legTaxes.rows(["invoice_no", "kind", "settlement_id", "side", "ordinal"], legs)} as i
    where l.settlement_id = i.settlement_id and l.ordinal = i.ordinal and l.side = i.side
      and l.kind = i.kind and l.invoice_no is null`);
}

export type InvoiceSearch = TimeSpan & {
  readonly environment: Environment;
  readonly year: FinancialYear;
  readonly firmId: string | null;
};

export type InvoicePage = TimeSpan & {
  readonly environment: Environment;
  readonly firmId: string | undefined;
  /** The last number of the page before. */
  readonly before: string | undefined;
  readonly limit: number;
};

/** The newest first. */
export async function listNewestInvoices(
  db: Db,
  { environment, firmId, from, to, before, limit }: InvoicePage,
): Promise<InvoiceRow[]> {
  return await db.rows(sql`
    select ${feeInvoices.columns}
    from fee_invoices
    where environment = ${environment}
      and (${firmId ?? null}::text is null or firm_id = ${firmId ?? null})
      and (${from}::timestamptz is null or issued_at >= ${from})
      and (${to}::timestamptz is null or issued_at < ${to})
      and (${before ?? null}::text is null or (issued_at, invoice_no) < (
        select issued_at, invoice_no
        from fee_invoices
        where environment = ${environment} and invoice_no = ${before ?? null}))
    order by issued_at desc, invoice_no desc
    limit ${limit}`);
}

/** By their numbers. */
export async function listInvoices(
  db: Db,
  { environment, year, firmId, from, to }: InvoiceSearch,
): Promise<InvoiceRow[]> {
  return await db.rows(sql`
    select ${feeInvoices.columns}
    from fee_invoices
    where environment = ${environment} and financial_year = ${year}
      and (${firmId}::text is null or firm_id = ${firmId})
      and (${from}::timestamptz is null or issued_at >= ${from})
      and (${to}::timestamptz is null or issued_at < ${to})
    order by kind desc, number`);
}

export async function listInvoicesBySettlement(
  db: Db,
  settlementIds: readonly string[],
): Promise<InvoiceRow[]> {
  return await db.rows(sql`
    select ${feeInvoices.columns}
    from fee_invoices
    where settlement_id = any(${settlementIds}::text[])
    order by kind desc, financial_year, number`);
}

// What the house supplied to clients, and the bills of it.

const supplies = table("supplies", {
  settlement_id: text(),
  ordinal: int(),
  kind: text<SupplyKind>(),
  environment: text<Environment>(),
  financial_year: text(),
  supplied_on: day(),
  firm_id: text(),
  value_paise: bigint(),
  bill_no: text().orNull,
});
export type SupplyRow = RowOf<typeof supplies>;

export const { insert: insertSupplies, list: listSupplies } = rowsBy(supplies, {
  key: ["settlement_id", "kind", "ordinal"],
});

const billsOfSupply = table("bills_of_supply", {
  environment: text<Environment>(),
  financial_year: text(),
  kind: text<SupplyKind>(),
  number: bigint(),
  bill_no: text(),
  settlement_id: text(),
  supplied_on: day(),
  firm_id: text(),
  recipient_name: text(),
  recipient_iec: text().orNull,
  recipient_gstin: text().orNull,
  place_of_supply: text().orNull,
  value_paise: bigint(),
  issued_at: time(),
});
export type BillRow = RowOf<typeof billsOfSupply>;

type UnbilledSeries = {
  readonly environment: Environment;
  readonly kind: SupplyKind;
  readonly year: FinancialYear;
};

export async function findUnbilledSeries(db: Db): Promise<readonly UnbilledSeries[]> {
  return await db.rows(sql`
    select distinct environment, kind, financial_year as year
    from supplies
    where bill_no is null`);
}

type Unbilled = Pick<
  BillRow,
  | "settlement_id"
  | "supplied_on"
  | "firm_id"
  | "value_paise"
  | "recipient_name"
  | "recipient_iec"
  | "recipient_gstin"
> & { readonly ordinals: readonly number[] };

/** What was supplied to one firm in one settlement on one day, in the order of the days. */
export async function listUnbilled(
  tx: Tx,
  { environment, kind, year }: UnbilledSeries,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<Unbilled[]> {
  return await tx.rows(sql`
    select due.*, f.legal_name as recipient_name, f.iec as recipient_iec, f.gstin as recipient_gstin
    from (
      select environment, settlement_id, supplied_on, firm_id,
        sum(value_paise)::bigint as value_paise, array_agg(ordinal order by ordinal) as ordinals
      from supplies
      where bill_no is null and environment = ${environment} and kind = ${kind}
        and financial_year = ${year}
        and (${only}::text[] is null or settlement_id = any(${only}::text[]))
        and settlement_id <> all(${except}::text[])
      group by environment, settlement_id, supplied_on, firm_id
      order by supplied_on, settlement_id, firm_id
      limit ${limit}
    ) as due
    join firms as f on f.environment = due.environment and f.firm_id = due.firm_id
    order by due.supplied_on, due.settlement_id, due.firm_id`);
}

export const { insert: insertBills } = rowsBy(billsOfSupply, {
  key: ["environment", "financial_year", "kind", "number"],
});

type BilledSupply = Pick<SupplyRow, "bill_no" | "kind" | "settlement_id" | "ordinal">;

/** Sets the number on the summed credits only: one delivered since then goes on the next bill. */
export async function setBillNos(tx: Tx, billed: readonly BilledSupply[]): Promise<void> {
  await tx.rows(sql`
    update supplies as s
    set bill_no = b.bill_no
    from ${supplies.rows(["bill_no", "kind", "settlement_id", "ordinal"], billed)} as b
    where s.settlement_id = b.settlement_id and s.ordinal = b.ordinal and s.kind = b.kind
      and s.bill_no is null`);
}

/** By their numbers. */
export async function listBillsByDay(
  db: Db,
  environment: Environment,
  { first, last }: { readonly first: IstDay; readonly last: IstDay },
): Promise<BillRow[]> {
  return await db.rows(sql`
    select ${billsOfSupply.columns}
    from bills_of_supply
    where environment = ${environment} and supplied_on >= ${first}::date
      and supplied_on <= ${last}::date
    order by kind, financial_year, number`);
}

export async function listBills(db: Db, settlementIds: readonly string[]): Promise<BillRow[]> {
  return await db.rows(sql`
    select ${billsOfSupply.columns}
    from bills_of_supply
    where settlement_id = any(${settlementIds}::text[])
    order by kind, financial_year, number`);
}
