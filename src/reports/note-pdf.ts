import { formatState } from "../house/rules.ts";
import { percentText, rupeesText, sumParts } from "../kernel/money.ts";
import { dayText, parseInstant, timeText } from "../kernel/time.ts";
import { formatRate } from "../taxes/tax-rules.ts";
import { heavyKind } from "../platform/heavy/kinds.ts";
import { drawPapers, type Paper, type PdfSection, toPaperHead } from "../platform/pdf.ts";
import type { ContractNotes, Note } from "./note-schema.ts";

/** Each note starts on a new page. */
export const drawNotes = heavyKind(
  "notes pdf",
  async (
    { notes, now }: { readonly notes: ContractNotes; readonly now: Date },
    stop,
  ): Promise<Uint8Array> => {
    const papers = notes.notes.map((note) => paper(notes, note));
    return await drawPapers({ papers, title: titleNotes(notes), dated: now }, stop);
  },
);

/** `Contract note, Asha Exports, CN-01JD2M7Q4X8R5V6W9Y0ABCDEFG-S1` */
function titleNotes({ notes, settlement_id }: ContractNotes): string {
  const [note, another] = notes;
  if (!note || another) return `Contract notes, settlement ${settlement_id}`;
  return `Contract note, ${note.firm.legal_name}, ${note.note_no}`;
}

const marks: Readonly<Record<string, string>> = {
  failed: "NOT SETTLED",
  reversed: "REVERSED",
};

function paper({ house, settlement_id }: ContractNotes, note: Note): Paper {
  return {
    title: "Contract note",
    subtitle: `No. ${note.note_no}`,
    mark: marks[note.status],
    letterhead: toPaperHead(house),
    sections: [
      factsSection(settlement_id, note),
      legsSection(note),
      sumsSection(note),
      ...paymentSections(note),
      ...invoiceSections(note),
      {
        kind: "note",
        text: "Amounts are in Indian rupees. Times are IST. Scrip value is exempt from GST (HSN 4907); GST is on the fee only. The other side of the deal is not disclosed.",
      },
      { kind: "note", text: "Made by a computer; valid without a signature." },
    ],
  };
}

function factsSection(settlementId: string, note: Note): PdfSection {
  const dealtAt = parseInstant(note.dealt_at);
  if (!dealtAt) throw new Error(`${note.dealt_at} is not an instant`);
  return {
    kind: "facts",
    columns: [
      [
        { label: note.side === "sell" ? "Seller" : "Buyer", value: note.firm.legal_name },
        { label: "PAN", value: note.firm.pan ?? "not given" },
        { label: "GSTIN", value: note.firm.gstin ?? "not given" },
      ],
      [
        { label: "Settlement", value: settlementId },
        { label: "Orders", value: note.order_ids.join(", ") || "none" },
        { label: "Scheme", value: note.scheme },
      ],
      [
        { label: "Dealt", value: `${dayText(dealtAt)}, ${timeText(dealtAt)}` },
        { label: "Status", value: note.status.replaceAll("_", " ") },
        { label: "All-in", value: `₹ ${rupeesText(note.all_in_paise)}` },
      ],
    ],
  };
}

const legColumns = [
  { head: "Scrip", width: 122.28 },
  { head: "Face ₹", width: 84, align: "right" },
  { head: "Price", width: 51, align: "right" },
  { head: "Value ₹", width: 84, align: "right" },
  { head: "Fee ₹", width: 45, align: "right" },
  { head: "GST ₹", width: 45, align: "right" },
  { head: "All-in ₹", width: 84, align: "right" },
] as const;

function legsSection(note: Note): PdfSection {
  const money = (row: Pick<Note, "value_paise" | "fee_paise" | "gst_paise" | "all_in_paise">) => [
    rupeesText(row.value_paise),
    rupeesText(row.fee_paise),
    rupeesText(row.gst_paise),
    rupeesText(row.all_in_paise),
  ];
  return {
    kind: "table",
    columns: legColumns,
    rows: [
      ...note.legs.map((leg) => ({
        cells: [
          `${leg.scrip_no}\nHSN ${leg.hsn} · ${leg.status}`,
          rupeesText(leg.face_paise),
          percentText(leg.price_bps),
          ...money(leg),
        ],
      })),
      { cells: ["Total", rupeesText(note.face_paise), "", ...money(note)], strong: true },
    ],
  };
}

const sumColumns = [
  { head: "Particulars", width: 405.28 },
  { head: "Amount ₹", width: 110, align: "right" },
] as const;

/** The signed amounts that sum to the all-in amount. */
function sumsSection(note: Note): PdfSection {
  const taken = note.side === "sell" ? -1 : 1;
  const total = note.side === "sell" ? "Payable to you" : "Payable by you";
  const ofDefaults = (isOwn: boolean) =>
    sumParts(
      note.legs
        .filter(({ default_by }) => (default_by === note.side) === isOwn)
        .map(({ default_paise }) => default_paise),
    );
  const settled = [
    ["Settled so far", note.settled_paise],
    ["Not delivered", note.undelivered_paise],
    ["Owed by you for being late at customs", ofDefaults(true)],
    ["Due to you, as the other side was late at customs", ofDefaults(false)],
  ] as const;
  return {
    kind: "table",
    columns: sumColumns,
    rows: [
      { cells: ["Scrip value, HSN 4907, exempt from GST", rupeesText(note.value_paise)] },
      { cells: ["Fee", rupeesText(taken * note.fee_paise)] },
      { cells: ["GST on fee", rupeesText(taken * note.gst_paise)] },
      ...(note.taxes ?? [])
        .filter(({ kind }) => kind !== "tds")
        .map((tax) => ({ cells: [`of it ${tax.name}`, rupeesText(taken * tax.amount_paise)] })),
      { cells: [`All-in: ${total}`, rupeesText(note.all_in_paise)], strong: true },
      ...settled
        .filter(([, paise]) => paise > 0)
        .map(([name, paise]) => ({ cells: [name, rupeesText(paise)] })),
      ...withheldRows(note),
    ],
  };
}

/** Tax withheld from a seller. */
function withheldRows({ taxes = [], net_paise }: Note): { cells: string[]; strong?: boolean }[] {
  const withheld = taxes.filter(({ kind }) => kind === "tds");
  if (withheld.length === 0 || net_paise === undefined) return [];
  return [
    ...withheld.map(({ name, amount_paise }) => ({ cells: [name, rupeesText(-amount_paise)] })),
    { cells: ["Paid to you for what was settled", rupeesText(net_paise)], strong: true },
  ];
}

/** Each is a tax invoice for the fee, or a credit note that takes one back. */
function invoiceSections({ invoices = [] }: Note): PdfSection[] {
  return invoices.flatMap((invoice): PdfSection[] => {
    const { kind, sac, place_of_supply, against } = invoice;
    const name = kind === "invoice" ? "Tax invoice for the fee" : "Credit note for the fee";
    const taken = invoices.filter(({ invoice_no }) => against.includes(invoice_no));
    const back = taken.length > 0 ? `, against ${taken.map(nameInvoice).join(", ")}` : "";
    const parts = [
      [`Fee${sac === null ? "" : `, SAC ${sac}`}`, invoice.fee_paise],
      [`CGST ${formatRate(invoice.cgst_bps)} %`, invoice.cgst_paise],
      [`SGST or UTGST ${formatRate(invoice.sgst_bps)} %`, invoice.sgst_paise],
      [`IGST ${formatRate(invoice.igst_bps)} %`, invoice.igst_paise],
    ] as const;
    return [
      { kind: "heading", text: `${name}: No. ${nameInvoice(invoice)}${back}` },
      {
        kind: "table",
        columns: sumColumns,
        rows: [
          ...parts
            .filter(([, paise]) => paise > 0)
            .map(([what, paise]) => ({ cells: [what, rupeesText(paise)] })),
          {
            cells: [
              `Place of supply ${formatState(place_of_supply)}`,
              rupeesText(invoice.fee_paise + invoice.gst_paise),
            ],
            strong: true,
          },
        ],
      },
    ];
  });
}

/** A number is found by its day. */
function nameInvoice({ invoice_no, issued_at }: NonNullable<Note["invoices"]>[number]): string {
  return `${invoice_no} of ${dayText(new Date(issued_at))}`;
}

function paymentSections({ payments }: Note): PdfSection[] {
  if (payments.length === 0) return [];
  return [
    { kind: "heading", text: "Payments" },
    {
      kind: "table",
      columns: [
        { head: "What", width: 150 },
        { head: "UTR", width: 255.28 },
        { head: "Amount ₹", width: 110, align: "right" },
      ],
      rows: payments.map(({ direction, utr, amount_paise, status }) => ({
        cells: [
          `${direction === "out" ? "Payout to you" : "Received from you"}\n${status}`,
          utr ?? "not sent yet",
          rupeesText(amount_paise),
        ],
      })),
    },
  ];
}
