// Bills of supply: exempt goods that change hands are papered by whoever supplies them, which follows from
// the legs of a deal.
//
//   the house sells       it supplies the client: its bill has a number of its series of the year
//   the house buys        the client supplies the house
//   between two clients   the seller supplies the buyer, in the book, in crosses and within groups; what
//                         the house keeps of it is a fee, with its tax
//
// What a client supplies is a draft in its name, which it numbers itself. What the house supplied is
// written down in the transaction that delivers it; a worker numbers it, for the reasons that hold for
// fee invoices. A reversal is papered by a return of the supply.

import type { Environment } from "../kernel/caller.ts";
import { financialYear, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { findHouse } from "../house/read-house.ts";
import {
  type BillRow,
  findUnbilledSeries,
  insertBills,
  insertSupplies,
  listBills,
  listBillsByDay,
  listSupplies,
  listUnbilled,
  setBillNos,
  type SupplyRow,
} from "./tax-store.ts";
import { numberSeries } from "./number-series.ts";
import { findRates, type ScripLaw, type TaxableLeg } from "./tax-rules.ts";
import { listRates } from "./tax-store.ts";

/** Writes down what the house supplied with the legs delivered now. */
export async function recordSupplies(
  tx: Tx,
  legs: readonly TaxableLeg[],
  now: Date,
): Promise<void> {
  const supplied = legs.flatMap(({ environment, settlementId, ordinal, sides }) =>
    // The house's own side is left out: where nobody else sells, it does.
    sides
      .filter(() => sides.every(({ side }) => side === "buy"))
      .map(({ firmId, valuePaise }): SupplyRow => ({
        settlement_id: settlementId,
        ordinal,
        kind: "bill_of_supply",
        environment,
        financial_year: financialYear(now),
        supplied_on: istDay(now),
        firm_id: firmId,
        value_paise: valuePaise,
        bill_no: null,
      })),
  );
  if (supplied.length > 0) await insertSupplies(tx, supplied);
}

/** Writes down that what the house supplied in these settlements came back. */
export async function recordReturns(
  tx: Tx,
  settlementIds: readonly string[],
  now: Date,
): Promise<void> {
  const supplied = await listSupplies(tx, settlementIds);
  if (supplied.length === 0) return;
  const back = { kind: "supply_return", bill_no: null, supplied_on: istDay(now) } as const;
  await insertSupplies(
    tx,
    supplied.map((row) => ({ ...row, ...back, financial_year: financialYear(now) })),
  );
}

const setSizeMax = 500;

/** Issues one set of bills of each series. */
export async function issueBills(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const issued_at = ctx.now();
  let issued = 0;
  for (const series of await findUnbilledSeries(ctx.db)) {
    const { environment, kind, year: financial_year } = series;
    const house = await findHouse(ctx.db, environment, istDay(issued_at));
    issued += await workInParts(offenders, (choice, note) =>
      numberSeries(ctx, series, {
        list: (tx) => listUnbilled(tx, series, { limit: setSizeMax, ...choice }),
        note,
        async store(tx, numbered) {
          const bills = numbered.map(({ ordinals, no: bill_no, ...row }) => {
            const place_of_supply = findPlace(row.recipient_gstin, house?.state_code ?? null);
            const bill: BillRow = {
              ...row,
              environment,
              kind,
              financial_year,
              bill_no,
              place_of_supply,
              issued_at,
            };
            return { bill, supplies: ordinals.map((ordinal) => ({ ...bill, ordinal })) };
          });
          await insertBills(
            tx,
            bills.map(({ bill }) => bill),
          );
          await setBillNos(
            tx,
            bills.flatMap(({ supplies }) => supplies),
          );
        },
      }),
    );
  }
  return issued > 0 ? "more" : "idle";
}

/** The state in the recipient's GSTIN; of one without, that of the supplier. */
export function findPlace(gstin: string | null, supplierState: string | null): string | null {
  return gstin?.slice(0, 2) ?? supplierState;
}

export type BillWithLegs = BillRow & { readonly ordinals: readonly number[] };

/** The house's bills of settlements that have their number, by it. */
export async function listBillsOfSettlements(
  db: Db,
  settlementIds: readonly string[],
): Promise<BillWithLegs[]> {
  return await addOrdinals(db, await listBills(db, settlementIds));
}

/** The house's bills of what was supplied on these days, by their numbers. */
export async function listBillsOfMonth(
  db: Db,
  environment: Environment,
  days: Parameters<typeof listBillsByDay>[2],
): Promise<BillWithLegs[]> {
  return await addOrdinals(db, await listBillsByDay(db, environment, days));
}

async function addOrdinals(db: Db, bills: readonly BillRow[]): Promise<BillWithLegs[]> {
  if (bills.length === 0) return [];
  const supplies = await listSupplies(db, [...new Set(bills.map((bill) => bill.settlement_id))]);
  const byNo = Map.groupBy(supplies, ({ bill_no }) => bill_no);
  return bills.map((bill) => ({
    ...bill,
    ordinals: (byNo.get(bill.bill_no) ?? []).map(({ ordinal }) => ordinal),
  }));
}

/** What the law says of scrips on a day. */
export async function findScripLaw(
  db: Db,
  environment: Environment,
  on: string,
): Promise<ScripLaw | undefined> {
  return findRates(on, await db.run(listRates({ environment, upTo: on }))).scrip;
}
