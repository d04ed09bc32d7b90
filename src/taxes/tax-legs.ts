// The taxes of legs, and what the house supplies with them, in the transaction that delivers or reverses
// them.

import { findTaxpayers } from "../firms/find-firms.ts";
import type { Environment } from "../kernel/caller.ts";
import { sumParts, sumPaise, addPaise, type Paise } from "../kernel/money.ts";
import { financialYear, financialYearStart, istDay } from "../kernel/time.ts";
import type { Entry } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  buildTaxEntries,
  type Certificate,
  isWithheldFrom,
  type LegTax,
  toPayeeKey,
  type Rates,
  findRates,
  type TaxableLeg,
  taxSide,
  type Taxpayer,
  type PayeeYear,
} from "./tax-rules.ts";
import { addToCertificates, lockValidCertificates } from "./certificate-store.ts";
import { recordReturns, recordSupplies } from "./bills.ts";
import {
  type AddedSum,
  addToSums,
  insertSums,
  insertTaxes,
  listKnownPayees,
  listRates,
  listTaxes,
  lockSums,
} from "./tax-store.ts";

/** Entries for the books, and the tax withheld from sellers by leg key. */
export type TaxedLegs = {
  readonly entries: readonly Entry[];
  readonly withheld: ReadonlyMap<string, Paise>;
};

const untaxed: TaxedLegs = { entries: [], withheld: new Map() };

/** The key of a leg in maps across settlements. */
export function toLegKey(settlementId: string, ordinal: number): string {
  return `${settlementId} ${ordinal}`;
}

/** The certificates of payees that are valid on the day, by PAN. */
type Certificates = Map<string, Certificate>;

type TaxContext = {
  readonly environment: Environment;
  readonly rates: Rates;
  readonly taxpayers: ReadonlyMap<string, Taxpayer>;
  readonly now: Date;
};

/** Taxes the legs delivered now, all of one environment. */
export async function taxDelivered(
  tx: Tx,
  environment: Environment,
  legs: readonly TaxableLeg[],
  now: Date,
): Promise<TaxedLegs> {
  if (legs.length === 0) return untaxed;
  await recordSupplies(tx, legs, now);
  const day = istDay(now);
  const rates = findRates(day, await tx.run(listRates({ environment, upTo: day })));
  if (!rates.gst && !rates.tds) return untaxed;
  const taxpayers = await findTaxpayers(tx, [
    ...new Set(legs.flatMap((leg) => leg.sides.map(({ firmId }) => firmId))),
  ]);
  const taxing = { environment, rates, taxpayers, now };
  const years = await openYears(tx, legs, taxing);
  const certificates = await lockCertificates(tx, taxing, years.size > 0);
  const taxes = decideTaxes(legs, taxing, { years, certificates });
  await addToCertificates(tx, taxes);
  if (taxes.length > 0) await insertTaxes(tx, taxes, now);
  if (years.size > 0) {
    const added = [...years.values()].map((year) => year.added);
    await addToSums(tx, { environment, year: financialYear(now) }, added);
  }
  return { entries: taxes.flatMap(buildTaxEntries), withheld: sumWithheld(taxes) };
}

/** The tax withheld when earlier legs of these settlements were delivered. */
export async function findWithheld(
  tx: Tx,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, Paise>> {
  if (settlementIds.length === 0) return new Map();
  return sumWithheld(await listTaxes(tx, settlementIds));
}

function sumWithheld(taxes: readonly LegTax[]): Map<string, Paise> {
  return new Map(
    taxes
      .filter(({ kind, tds_paise }) => kind === "invoice" && tds_paise > 0)
      .map((tax) => [toLegKey(tax.settlement_id, tax.ordinal), tax.tds_paise]),
  );
}

/** A payee's sums of the year, and what the legs of this set add to them. */
type OpenYear = { sums: PayeeYear; added: AddedSum };

function findPayee(taxpayers: ReadonlyMap<string, Taxpayer>, firmId: string): string {
  return toPayeeKey(taxpayers.get(firmId) ?? unknownTaxpayer, firmId);
}

const unknownTaxpayer: Taxpayer = { pan: null, gstin: null };

/** Locks the year sums of the sellers that are subject to TDS, and inserts missing ones. */
async function openYears(
  tx: Tx,
  legs: readonly TaxableLeg[],
  { environment, rates, taxpayers, now }: TaxContext,
): Promise<Map<string, OpenYear>> {
  const sellers = legs
    .filter((leg) => isWithheldFrom(leg, rates))
    .flatMap((leg) => leg.sides.filter(({ side }) => side === "sell"));
  const byPayee = new Map(sellers.map(({ firmId }) => [findPayee(taxpayers, firmId), firmId]));
  if (!rates.tds || byPayee.size === 0) return new Map();
  const year = financialYear(now);
  const key = { environment, year };
  const payees = [...byPayee.keys()];
  // Missing rows are inserted before known ones are locked: waiting for another's insert while holding
  // a row lock could deadlock.
  const known = new Set(await listKnownPayees(tx, key, payees));
  const missing = [...byPayee].filter(([payee]) => !known.has(payee));
  if (missing.length > 0) {
    await insertSums(tx, key, {
      payees: missing.map(([payee, firmId]) => ({ payee, firmId })),
      from: financialYearStart(year),
      before: now,
      withCrosses: rates.tds.with_crosses,
    });
  }
  const rows = await lockSums(tx, key, payees);
  return new Map(
    rows.map(({ payee, ...sums }) => [
      payee,
      { sums, added: { payee, sold: 0, taxed: 0, withheld: 0 } },
    ]),
  );
}

/** Taxes leg by leg in order: each uses up part of the threshold for the next. */
function decideTaxes(
  legs: readonly TaxableLeg[],
  { rates, taxpayers }: TaxContext,
  { years, certificates }: { years: Map<string, OpenYear>; certificates: Certificates },
): LegTax[] {
  const taxes: LegTax[] = [];
  for (const leg of legs) {
    for (const side of leg.sides) {
      const taxpayer = taxpayers.get(side.firmId) ?? unknownTaxpayer;
      const isCounted = side.side === "sell" && isWithheldFrom(leg, rates);
      const year = isCounted ? years.get(findPayee(taxpayers, side.firmId)) : undefined;
      const certificate = certificates.get(taxpayer.pan ?? "");
      const tax = taxSide(leg, side, { rates, taxpayer, year: year?.sums, certificate });
      if (tax) taxes.push(tax);
      if (certificate && tax?.tds_certificate === certificate.certificate_no) {
        const left_paise = certificate.left_paise - tax.tds_base_paise;
        certificates.set(taxpayer.pan ?? "", { ...certificate, left_paise });
      }
      if (!year) continue;
      const { tds_base_paise: taxed = 0, tds_paise: withheld = 0 } = tax ?? {};
      year.sums = {
        sold_paise: addPaise(year.sums.sold_paise, side.valuePaise),
        taxed_paise: addPaise(year.sums.taxed_paise, taxed),
      };
      const { added } = year;
      year.added = {
        payee: added.payee,
        sold: addPaise(added.sold, side.valuePaise),
        taxed: addPaise(added.taxed, taxed),
        withheld: addPaise(added.withheld, withheld),
      };
    }
  }
  return taxes;
}

/** Locked after the years of their payees. */
async function lockCertificates(
  tx: Tx,
  { environment, taxpayers, now }: TaxContext,
  isNeeded: boolean,
): Promise<Certificates> {
  if (!isNeeded) return new Map();
  const pans = [...taxpayers.values()].flatMap(({ pan }) => pan ?? []);
  const rows = await lockValidCertificates(tx, { environment, pans, on: istDay(now) });
  return new Map(
    rows.map(({ pan, certificate_no, rate_bps, limit_paise, used_paise }) => [
      pan,
      { certificate_no, rate_bps, left_paise: limit_paise - used_paise },
    ]),
  );
}

/** What a reversal gives back of the taxes, and how much of it to each seller. */
type UntaxedLegs = {
  readonly entries: readonly Entry[];
  readonly returned: ReadonlyMap<string, Paise>;
};

/** Undoes the taxes that were decided when the legs were delivered, whatever the rates are now. */
export async function untaxReversed(
  tx: Tx,
  legs: readonly (TaxableLeg & { readonly deliveredAt: Date })[],
  now: Date,
): Promise<UntaxedLegs> {
  const settlementIds = [...new Set(legs.map(({ settlementId }) => settlementId))];
  const kept = (await listTaxes(tx, settlementIds)).filter(({ kind }) => kind === "invoice");
  const back = kept.map((tax): LegTax => ({ ...tax, kind: "credit_note" }));
  await recordReturns(tx, settlementIds, now);
  await takeFromSums(tx, legs, back);
  await addToCertificates(tx, back);
  if (back.length > 0) await insertTaxes(tx, back, now);
  const returned = new Map<string, Paise>();
  for (const { firm_id, tds_paise } of back) {
    if (tds_paise > 0) returned.set(firm_id, sumParts([returned.get(firm_id) ?? 0, tds_paise]));
  }
  return { entries: back.flatMap(buildTaxEntries), returned };
}

/** Subtracts reversed legs. A year without sums stays so: they will be computed without the reversed. */
async function takeFromSums(
  tx: Tx,
  legs: readonly (TaxableLeg & { readonly deliveredAt: Date })[],
  back: readonly LegTax[],
): Promise<void> {
  const [first] = legs;
  if (!first) return;
  const { environment } = first;
  const day = istDay(first.deliveredAt);
  const rates = findRates(day, await tx.run(listRates({ environment, upTo: null })));
  const sold = legs
    .filter((leg) => !leg.isCross || rates.tds?.with_crosses === true)
    .flatMap((leg) =>
      leg.sides
        .filter(({ side }) => side === "sell")
        .map((side) => ({ ...side, leg, year: financialYear(leg.deliveredAt) })),
    );
  const taxpayers = await findTaxpayers(tx, [...new Set(sold.map(({ firmId }) => firmId))]);
  for (const [year, own] of Map.groupBy(sold, (side) => side.year)) {
    const added = own.map(({ leg, firmId, valuePaise }): AddedSum => {
      const tax = back.find(
        ({ ordinal, side, settlement_id }) =>
          settlement_id === leg.settlementId && ordinal === leg.ordinal && side === "sell",
      );
      return {
        payee: findPayee(taxpayers, firmId),
        sold: -valuePaise,
        taxed: -(tax?.tds_base_paise ?? 0),
        withheld: -(tax?.tds_paise ?? 0),
      };
    });
    const byPayee = [...Map.groupBy(added, ({ payee }) => payee)].map(([payee, parts]) => ({
      payee,
      sold: sumPaise(parts.map((part) => part.sold)),
      taxed: sumPaise(parts.map((part) => part.taxed)),
      withheld: sumPaise(parts.map((part) => part.withheld)),
    }));
    await lockSums(
      tx,
      { environment, year },
      byPayee.map(({ payee }) => payee),
    );
    await addToSums(tx, { environment, year }, byPayee);
  }
}
