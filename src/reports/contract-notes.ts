import { listDepositsForSettlement } from "../payouts/deposits.ts";
import { loadFirm } from "../firms/find-firms.ts";
import { findLetterhead } from "../house/read-house.ts";
import type { Environment } from "../kernel/caller.ts";
import { sumParts, scripHsn, valueBeforeFee } from "../kernel/money.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { listPaymentsOfSettlement } from "../payouts/move-payout.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Document } from "../platform/http/documents.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type DealtLeg,
  listLegsBySettlement,
  readSettlement,
  type Settlement,
} from "../settlement/read-settlements.ts";
import { toSideFee } from "../settlement/rules.ts";
import {
  type FeeInvoice,
  listInvoicesOfSettlement,
  findTaxesBySettlement,
  type StoredLegTax,
} from "../taxes/taxes.ts";
import { sumDividedTax, describeWithholding } from "../taxes/tax-rules.ts";
import { drawNotes } from "./note-pdf.ts";
import { buildNoteNo } from "./position-rules.ts";
import type { ContractNotes, Note, NoteQuery } from "./note-schema.ts";

type SideOfDeal = Settlement["sides"][number];

/** Who reads papers: a desk those of its own firms, an operator those of one firm. */
export type PaperReader = { readonly environment: Environment; readonly visible: Visibility };

/** One deal's paper, and how it is asked for. */
export type PaperAsked = NoteQuery & {
  readonly settlement_id: string;
  readonly letterhead: Letterhead;
  readonly gone?: AbortSignal;
};

export async function readContractNote(
  ctx: Context,
  { environment, visible }: PaperReader,
  { settlement_id: settlementId, letterhead, format = "json", gone }: PaperAsked,
): Promise<Document<ContractNotes>> {
  const now = ctx.now();
  const notes = await ctx.db.transaction(
    async (tx): Promise<ContractNotes> => {
      const settlement = await readSettlement({ db: tx, now: () => now }, visible, settlementId);
      const dealt = { environment, on: istDay(new Date(settlement.created_at)) };
      const head = await findLetterhead(tx, dealt, letterhead);
      return {
        settlement_id: settlementId,
        as_of: istTimestamp(now),
        house: { ...head, address: [...head.address] },
        notes: await buildNotes(tx, settlement),
        version: settlement.version,
        allowed_actions: [],
      };
    },
    { snapshot: true },
  );
  if (format === "json") return notes;
  const name = `contract-note-${settlementId}.pdf`;
  const asked = { by: { environment, deskId: visible.deskId }, ...(gone && { signal: gone }) };
  const content = Buffer.from(await ctx.heavy.run(drawNotes, { notes, now }, asked));
  return { type: "application/pdf", name, content };
}

async function buildNotes(db: Db, settlement: Settlement): Promise<Note[]> {
  const { settlement_id: settlementId } = settlement;
  const legs = (await listLegsBySettlement(db, [settlementId])).get(settlementId) ?? [];
  const byNumber = new Map(legs.map((leg) => [leg.scrip_no, leg]));
  const payments = await listPayments(db, settlementId);
  const taxes = (await findTaxesBySettlement(db, [settlementId])).get(settlementId) ?? [];
  const invoices = taxes.length > 0 ? await listInvoicesOfSettlement(db, settlementId) : [];
  const notes: Note[] = [];
  for (const side of settlement.sides) {
    const firm = await loadFirm(db, side.firm_id);
    const own = side.legs.map((leg) => buildLeg(side, leg, byNumber.get(leg.scrip_no)));
    const sum = (field: "face_paise" | "value_paise" | "fee_paise" | "gst_paise") =>
      sumParts(own.map((leg) => leg[field]));
    const first = Math.min(...side.legs.map((leg) => byNumber.get(leg.scrip_no)?.ordinal ?? 0));
    notes.push({
      note_no: buildNoteNo(settlementId, side.side, first),
      firm_id: side.firm_id,
      side: side.side,
      scheme: settlement.scheme,
      status: side.status,
      dealt_at: settlement.created_at,
      order_ids: side.order_ids,
      firm: { legal_name: firm.legal_name, pan: firm.pan, gstin: firm.gstin },
      legs: own,
      face_paise: sum("face_paise"),
      value_paise: sum("value_paise"),
      fee_paise: sum("fee_paise"),
      gst_paise: sum("gst_paise"),
      all_in_paise: side.all_in_paise,
      settled_paise: side.settled_paise,
      undelivered_paise: side.undelivered_paise,
      payments: payments.filter(({ firmId }) => firmId === side.firm_id).map(viewPayment),
      ...describeTaxes(side, { taxes, invoices }),
    });
  }
  return notes;
}

function buildLeg(
  { side }: SideOfDeal,
  leg: SideOfDeal["legs"][number],
  dealt: DealtLeg | undefined,
): Note["legs"][number] {
  if (!dealt) throw new Error(`the deal of leg ${leg.scrip_no} was not found`);
  const fees = toSideFee(side, dealt);
  return {
    scrip_no: leg.scrip_no,
    price_bps: leg.price_bps,
    hsn: scripHsn,
    face_paise: leg.face_paise,
    value_paise: valueBeforeFee(side, leg.all_in_paise, fees),
    fee_paise: fees.feePaise,
    gst_paise: fees.gstPaise,
    all_in_paise: leg.all_in_paise,
    status: leg.status,
    default_by: leg.default_by,
    default_paise: leg.default_paise,
  };
}

type TaxFacts = {
  readonly taxes: readonly StoredLegTax[];
  readonly invoices: readonly FeeInvoice[];
};

/** The taxes of a side; no fields at all while no tax line is configured. */
function describeTaxes(
  { side, firm_id, settled_paise, status }: SideOfDeal,
  { taxes, invoices }: TaxFacts,
): Pick<Note, "taxes" | "net_paise" | "invoices"> {
  const own = taxes.filter((tax) => tax.side === side && tax.firm_id === firm_id);
  if (own.length === 0) return {};
  const standing = status === "reversed" ? [] : own;
  const withheld = standing.filter(({ tds_paise }) => tds_paise > 0);
  const withheldPaise = sumParts(withheld.map((tax) => tax.tds_paise));
  const divided = sumDividedTax(standing).map(({ paise, ...line }) => ({
    ...line,
    amount_paise: paise,
  }));
  const issued = invoices.filter((invoice) => invoice.side === side && invoice.firm_id === firm_id);
  // A certificate that is used up, or a new rate, divides the credits of one deal.
  const tds = [...Map.groupBy(withheld, describeWithholding)].map(([name, parts]) => ({
    kind: "tds" as const,
    name,
    rate_bps: parts[0]?.tds_bps ?? 0,
    amount_paise: sumParts(parts.map((tax) => tax.tds_paise)),
  }));
  return {
    taxes: [...divided, ...tds],
    ...(tds.length > 0 ? { net_paise: settled_paise - withheldPaise } : {}),
    invoices: issued.map(({ invoice_no, ...invoice }) => ({
      invoice_no,
      kind: invoice.kind,
      issued_at: istTimestamp(invoice.issued_at),
      place_of_supply: invoice.place_of_supply,
      sac: invoice.sac,
      fee_paise: invoice.fee_paise,
      gst_paise: invoice.cgst_paise + invoice.sgst_paise + invoice.igst_paise,
      cgst_paise: invoice.cgst_paise,
      sgst_paise: invoice.sgst_paise,
      igst_paise: invoice.igst_paise,
      ...findGstRates(own.find((tax) => tax.invoice_no === invoice_no)),
      against:
        invoice.kind === "credit_note"
          ? issued.filter(({ kind }) => kind === "invoice").map((taken) => taken.invoice_no)
          : [],
    })),
  };
}

/** By which the tax on a fee was divided. */
function findGstRates(tax: StoredLegTax | undefined) {
  const { cgst_bps = 0, sgst_bps = 0, igst_bps = 0 } = tax ?? {};
  return { cgst_bps, sgst_bps, igst_bps };
}

type FirmPayment = Note["payments"][number] & { readonly firmId: string };

async function listPayments(db: Db, settlementId: string): Promise<FirmPayment[]> {
  const deposits = await listDepositsForSettlement(db, settlementId);
  const payouts = await listPaymentsOfSettlement(db, settlementId);
  return [
    ...deposits.map(({ firm_id, reference, paise }) => ({
      firmId: firm_id,
      direction: "in" as const,
      utr: reference,
      amount_paise: paise,
      status: "received",
    })),
    ...payouts.map(({ firm_id, utr, paise, state }) => ({
      firmId: firm_id,
      direction: "out" as const,
      utr,
      amount_paise: paise,
      status: state,
    })),
  ];
}

function viewPayment({ firmId: _firmId, ...payment }: FirmPayment): Note["payments"][number] {
  return payment;
}
