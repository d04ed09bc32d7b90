import { formatState } from "../house/rules.ts";
import { rupeesText } from "../kernel/money.ts";
import { dayText, istDayStart } from "../kernel/time.ts";
import { heavyKind } from "../platform/heavy/kinds.ts";
import { drawPapers, type Paper } from "../platform/pdf.ts";
import type { Bill, BillsOfSupply, BillParty } from "./note-schema.ts";

/** Each bill starts on a new page. */
export const drawBills = heavyKind(
  "bills pdf",
  async (
    { bills, now }: { readonly bills: BillsOfSupply; readonly now: Date },
    stop,
  ): Promise<Uint8Array> => {
    const papers = bills.bills.map((bill) => toPaper(bills, bill));
    const [first, another] = bills.bills;
    const which = first && !another && first.number !== null ? first.number : bills.settlement_id;
    return await drawPapers({ papers, title: `Bill of supply, ${which}`, dated: now }, stop);
  },
);

/** The bills of what a return takes back: those of its credits. */
export function listTakenBack(
  { kind, lines }: Pick<Bill, "kind" | "lines">,
  bills: readonly Bill[],
): Bill[] {
  if (kind === "bill_of_supply") return [];
  const returned = new Set(lines.map(({ scrip_no }) => scrip_no));
  return bills.filter(
    (bill) =>
      bill.kind === "bill_of_supply" && bill.lines.some(({ scrip_no }) => returned.has(scrip_no)),
  );
}

function nameBill({ number, date }: Bill): string {
  return `${number ?? "the supplier's bill"} of ${dayText(istDayStart(date))}`;
}

function toPaper({ settlement_id: settlementId, bills }: BillsOfSupply, bill: Bill): Paper {
  const { supplier, recipient, number, place_of_supply: place } = bill;
  const taken = listTakenBack(bill, bills);
  const title = bill.kind === "supply_return" ? "Credit note for a supply" : "Bill of supply";
  return {
    title,
    subtitle: number === null ? "Number: to be given by the supplier" : `No. ${number}`,
    mark: bill.draft ? "DRAFT" : undefined,
    letterhead: { name: supplier.name, lines: describeLines(supplier) },
    sections: [
      {
        kind: "facts",
        columns: [
          [
            { label: "Recipient", value: recipient.name },
            { label: "GSTIN", value: recipient.gstin ?? "not registered" },
            { label: "IEC", value: recipient.iec ?? "not given" },
          ],
          [
            {
              label: "Place of supply",
              value: place === null ? "not known" : formatState(place),
            },
            { label: "Date", value: dayText(istDayStart(bill.date)) },
            { label: "Settlement", value: settlementId },
            ...(taken.length > 0
              ? [{ label: "Against", value: taken.map(nameBill).join(", ") }]
              : []),
          ],
        ],
      },
      {
        kind: "table",
        columns: [
          { head: "Scrip", width: 325.28 },
          { head: "HSN", width: 60 },
          { head: "Value ₹", width: 130, align: "right" },
        ],
        rows: [
          ...bill.lines.map((line) => ({
            cells: [
              `${line.scrip_no}\n${line.description}`,
              line.hsn,
              rupeesText(line.value_paise),
            ],
          })),
          { cells: ["Total", "", rupeesText(bill.total_paise)], strong: true },
        ],
      },
      { kind: "note", text: bill.total_words },
      {
        kind: "note",
        text: `Exempt from GST: ${bill.exemption}. No tax is charged. Values are to the paisa; nothing is rounded.`,
      },
      {
        kind: "note",
        text:
          bill.signatory === null
            ? `Draft in the name of ${supplier.name}, who numbers and signs it.`
            : `For ${supplier.name}: ${bill.signatory}`,
      },
    ],
  };
}

function describeLines({ address, gstin, iec }: BillParty): string[] {
  return [
    ...address,
    ...(gstin === null ? [] : [`GSTIN ${gstin}`]),
    ...(iec === null ? [] : [`IEC ${iec}`]),
  ];
}
