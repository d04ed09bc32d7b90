// The bills of supply of a settlement, as those see them who supplied or received (`taxes/bills.ts`).

import { loadFirm } from "../firms/find-firms.ts";
import { findHouse, findLetterhead } from "../house/read-house.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { isHouse } from "../kernel/ids.ts";
import { rupeesInWords, rupeesText, scripHsn, sumParts, valueBeforeFee } from "../kernel/money.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Document } from "../platform/http/documents.ts";
import type { Letterhead } from "../platform/pdf.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type DealtLeg,
  listLegsBySettlement,
  readSettlement,
  type Settlement,
} from "../settlement/read-settlements.ts";
import { toSideFee } from "../settlement/rules.ts";
import {
  type BillWithLegs,
  findPlace,
  findScripLaw,
  listBillsOfSettlements,
} from "../taxes/bills.ts";
import { formatSeries, type SupplyKind } from "../taxes/tax-rules.ts";
import { drawBills, listTakenBack } from "./bill-pdf.ts";
import type { PaperAsked, PaperReader } from "./contract-notes.ts";
import type { Bill, BillsOfSupply, BillParty } from "./note-schema.ts";

export async function readBillOfSupply(
  ctx: Context,
  { environment, visible }: PaperReader,
  { settlement_id: settlementId, letterhead, format = "json", gone }: PaperAsked,
): Promise<Document<BillsOfSupply>> {
  const now = ctx.now();
  const bills = await ctx.db.transaction(
    async (tx): Promise<BillsOfSupply> => {
      const settlement = await readSettlement({ db: tx, now: () => now }, visible, settlementId);
      return {
        settlement_id: settlementId,
        as_of: istTimestamp(now),
        bills: await buildBills({ db: tx, environment, letterhead }, settlement),
        version: settlement.version,
        allowed_actions: [],
      };
    },
    { snapshot: true },
  );
  if (format === "json") return bills;
  if (bills.bills.length === 0) throw nothingDelivered();
  const name = `bill-of-supply-${settlementId}.pdf`;
  const asked = { by: { environment, deskId: visible.deskId }, ...(gone && { signal: gone }) };
  const content = Buffer.from(await ctx.heavy.run(drawBills, { bills, now }, asked));
  return { type: "application/pdf", name, content };
}

type Reading = {
  readonly db: Db;
  readonly environment: Environment;
  readonly letterhead: Letterhead;
};

/** What one firm supplied to another on one day; `bill` is the house's, once it has its number. */
type Supply = {
  readonly kind: SupplyKind;
  readonly on: string;
  readonly legs: readonly DealtLeg[];
  /** One of them. */
  readonly leg: DealtLeg;
  readonly bill: BillWithLegs | undefined;
};

async function buildBills(reading: Reading, settlement: Settlement): Promise<Bill[]> {
  const { settlement_id: id } = settlement;
  const legs = (await listLegsBySettlement(reading.db, [id])).get(id) ?? [];
  const numbered = await listBillsOfSettlements(reading.db, [id]);
  const bills: Bill[] = [];
  for (const supply of listSupplied(settlement, { legs, numbered })) {
    bills.push(await buildBill(reading, supply));
  }
  return bills.map((bill) => ({
    ...bill,
    against: listTakenBack(bill, bills).flatMap(({ number }) => number ?? []),
  }));
}

/** What was delivered in a settlement and those who see it supplied or received, a bill of each. */
export function listSupplied(
  { sides, updated_at }: Settlement,
  {
    legs: all,
    numbered,
  }: { readonly legs: readonly DealtLeg[]; readonly numbered: readonly BillWithLegs[] },
): Supply[] {
  const own = new Set(sides.map(({ side, firm_id }) => `${side} ${firm_id}`));
  const legs = all.filter(
    (leg) =>
      leg.state === "delivered" &&
      (own.has(`sell ${leg.seller_firm_id}`) || own.has(`buy ${leg.buyer_firm_id}`)),
  );
  const reversedOn = sides.some(({ status }) => status === "reversed")
    ? istDay(new Date(updated_at))
    : undefined;
  return (["bill_of_supply", "supply_return"] as const).flatMap((kind) => {
    if (kind === "supply_return" && reversedOn === undefined) return [];
    const supplied = legs.map((leg) => {
      const bill = numbered.find(
        (each) => each.kind === kind && each.ordinals.includes(leg.ordinal),
      );
      const day = kind === "bill_of_supply" ? istDay(leg.answered_at ?? leg.dealt_at) : reversedOn;
      return { leg, bill, on: bill?.supplied_on ?? day ?? "" };
    });
    const groups = Map.groupBy(
      supplied,
      ({ leg, bill, on }) => `${leg.seller_firm_id} ${on} ${bill?.bill_no ?? ""}`,
    );
    return [...groups.values()].flatMap((group): Supply[] => {
      const [first] = group;
      return first ? [{ ...first, kind, legs: group.map(({ leg }) => leg) }] : [];
    });
  });
}

/** What one credit of a supply is billed at: the price of who supplies it. */
export function valueOfSupply(leg: DealtLeg): number {
  return isHouse(leg.seller_firm_id)
    ? valueBeforeFee("buy", leg.buyer_paise, toSideFee("buy", leg))
    : valueBeforeFee("sell", leg.seller_paise, toSideFee("sell", leg));
}

async function buildBill(reading: Reading, supply: Supply): Promise<Bill> {
  const { kind, on, legs, leg, bill } = supply;
  const { seller_firm_id: sellerFirmId, buyer_firm_id: buyerFirmId } = leg;
  const { environment } = reading;
  const byHouse = isHouse(sellerFirmId);
  const law = await findScripLaw(reading.db, environment, on);
  const supplier = await describeParty(reading, sellerFirmId, on);
  const recipient = bill
    ? {
        name: bill.recipient_name,
        iec: bill.recipient_iec,
        gstin: bill.recipient_gstin,
        address: [],
        state_code: bill.recipient_gstin?.slice(0, 2) ?? null,
      }
    : await describeParty(reading, buyerFirmId, on);
  const lines = legs.map((each) => ({
    scrip_no: each.scrip_no,
    hsn: law?.hsn ?? scripHsn,
    description: `${each.scheme} duty credit scrip, face ${rupeesText(each.face_paise)} rupees`,
    value_paise: valueOfSupply(each),
  }));
  const total_paise = sumParts(lines.map(({ value_paise }) => value_paise));
  const house = byHouse ? await findHouse(reading.db, environment, on) : undefined;
  return {
    kind,
    number: bill?.bill_no ?? null,
    series: bill ? formatSeries(kind, bill.financial_year) : null,
    date: on,
    supplier,
    recipient,
    place_of_supply: bill
      ? bill.place_of_supply
      : findPlace(recipient.gstin, supplier.state_code ?? recipient.state_code),
    lines,
    total_paise,
    total_words: rupeesInWords(total_paise),
    exemption: law?.exemption ?? "",
    signatory: house?.signatory ?? null,
    against: [],
    draft: bill === undefined,
  };
}

async function describeParty(
  { db, environment, letterhead }: Reading,
  firmId: string,
  on: string,
): Promise<BillParty> {
  if (!isHouse(firmId)) {
    const { legal_name: name, iec, gstin } = await loadFirm(db, firmId);
    return { name, iec, gstin, address: [], state_code: gstin?.slice(0, 2) ?? null };
  }
  const { name, address, gstin } = await findLetterhead(db, { environment, on }, letterhead);
  const house = await findHouse(db, environment, on);
  const { iec = null, state_code = null } = house ?? {};
  return { name, iec, gstin, address: [...address], state_code };
}

function nothingDelivered(): Failure {
  return new Failure("conflict", "nothing of this deal was delivered: there is no supply yet", {
    detail: { reason: "nothing_delivered" },
  });
}
