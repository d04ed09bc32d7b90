// The papers of a firm's deals, for the operator: the contract note of each, and the bills of supply of
// what was delivered. Desks read their own under each settlement.

import { requireAnyFirm } from "../firms/find-firms.ts";
import { type PageQuery, pageSizeDefault } from "../kernel/page.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { sumParts } from "../kernel/money.ts";
import type { Context } from "../platform/context.ts";
import type { FileAnswer } from "../platform/http/documents.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { listLegsBySettlement, listVisibleSettlements } from "../settlement/read-settlements.ts";
import { listBillsOfSettlements } from "../taxes/bills.ts";
import { listSupplied, readBillOfSupply, valueOfSupply } from "./bills-of-supply.ts";
import { readContractNote } from "./contract-notes.ts";
import { buildNoteNo } from "./position-rules.ts";

export const paperKinds = ["contract_note", "bill_of_supply"] as const;
type PaperKind = (typeof paperKinds)[number];

/** The firm's deals of a span, newest first, a row for each side of it that the firm is on. */
export async function listFirmPapers(
  ctx: Context,
  asked: PageQuery & {
    readonly firm_id: string;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  },
) {
  const { visible } = await openReader(ctx, asked.firm_id);
  const { from, to } = parseQuerySpan(asked);
  const page = await listVisibleSettlements(ctx, visible, {
    limit: asked.limit ?? pageSizeDefault,
    cursor: asked.cursor,
    from: from?.toISOString(),
    to: to?.toISOString(),
  });
  const ids = page.rows.map(({ settlement_id }) => settlement_id);
  const [legsById, bills] = await Promise.all([
    listLegsBySettlement(ctx.db, ids),
    listBillsOfSettlements(ctx.db, ids),
  ]);
  const billsById = Map.groupBy(bills, ({ settlement_id }) => settlement_id);
  const papers = page.rows.flatMap((settlement) => {
    const { settlement_id, scheme, created_at: dealt_at, sides } = settlement;
    const legs = legsById.get(settlement_id) ?? [];
    const numbered = billsById.get(settlement_id) ?? [];
    return sides.map(({ side, status, face_paise, all_in_paise, legs: own }) => {
      const scripNos = new Set(own.map(({ scrip_no }) => scrip_no));
      const ofSide = legs.filter(({ scrip_no }) => scripNos.has(scrip_no));
      const first = Math.min(...ofSide.map(({ ordinal }) => ordinal));
      return {
        settlement_id,
        dealt_at,
        scheme,
        side,
        status,
        face_paise,
        all_in_paise,
        note_no: buildNoteNo(settlement_id, side, first),
        bills: listSupplied(settlement, { legs: ofSide, numbered }).map((supply) => ({
          kind: supply.kind,
          number: supply.bill?.bill_no ?? null,
          date: supply.on,
          total_paise: sumParts(supply.legs.map(valueOfSupply)),
        })),
      };
    });
  });
  return { papers, next_cursor: page.paging?.next_cursor ?? null };
}

/** The PDF of a paper, with nothing of another firm. */
export async function readFirmPaper(
  ctx: Context,
  {
    firm_id: firmId,
    settlement_id,
    paper,
    letterhead,
  }: {
    readonly firm_id: string;
    readonly settlement_id: string;
    readonly paper: PaperKind;
    readonly letterhead: Letterhead;
  },
): Promise<FileAnswer> {
  const reader = await openReader(ctx, firmId);
  const asked = { settlement_id, letterhead, format: "pdf" } as const;
  const file =
    paper === "contract_note"
      ? await readContractNote(ctx, reader, asked)
      : await readBillOfSupply(ctx, reader, asked);
  if (!("content" in file)) throw new Error("a PDF is a file");
  return file;
}

async function openReader({ db }: Pick<Context, "db">, firmId: string) {
  const { environment, desk_id: deskId } = await requireAnyFirm(db, firmId);
  return { environment, visible: { deskId, firmId } };
}
