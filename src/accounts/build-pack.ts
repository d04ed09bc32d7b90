// Builds the month's pack in a thread, from what was read of the month: registers, ledgers, drafts and
// vouchers as files of one archive, and the ties of every total to the ledger.

import { deserialize, serialize } from "node:v8";

import { formatState, type HouseInLaw } from "../house/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId, isHouse } from "../kernel/ids.ts";
import { exactJson } from "../kernel/json.ts";
import {
  addPaise,
  negatePaise,
  type PaiseSum,
  scripHsn,
  subtractPaise,
  sumPaise,
} from "../kernel/money.ts";
import { istDay, type IstMonth, istTimestamp, monthText } from "../kernel/time.ts";
import {
  accountKinds,
  type AccountKind,
  parseAccount,
  type KindSum,
  type Posted,
} from "../ledger/rules.ts";
import { heavyKind, onThisThread } from "../platform/heavy/kinds.ts";
import { mapPaced, type Pace } from "../platform/heavy/pace.ts";
import { formatTable } from "../platform/sheets/format-table.ts";
import type { SheetTable, TableColumn, TableRow } from "../platform/sheets/table.ts";
import { writeZip, type ZippedFile } from "../platform/sheets/zip.ts";
import type { BillWithLegs } from "../taxes/bills.ts";
import type { FeeInvoice, StoredLegTax } from "../taxes/taxes.ts";
import { findRates, type RateRow, type ScripLaw } from "../taxes/tax-rules.ts";
import type { readDeductions } from "../taxes/withholding.ts";
import { type ExemptPaper, type TaxedPaper, writeGstr1, writeTally } from "./pack-forms.ts";
import {
  buildTies,
  buildVouchers,
  findFee,
  findLeg,
  findValue,
  keyLeg,
  keyPapers,
  ledgerByKind,
  listMovedLegs,
  type MovedLeg,
  nameLedger,
  type PackFirm,
  type PackLeg,
  type PaperNumbers,
  type Tie,
  tie,
} from "./pack-rules.ts";

/** Rows as bytes in blocks, which are handed to a thread far faster than objects. */
type PackedRows = readonly Uint8Array[];

/** Some hundred microseconds of work. */
const blockRows = 200;

export async function packRows(rows: readonly object[], pace: Pace): Promise<PackedRows> {
  const blocks: (readonly object[])[] = [];
  for (let at = 0; at < rows.length; at += blockRows) blocks.push(rows.slice(at, at + blockRows));
  return await mapPaced(blocks, (block) => serialize(block), pace);
}

function unpackRows<Row>(blocks: PackedRows): Row[] {
  return blocks.flatMap((block) => deserialize(block) as Row[]); // Written by `packRows`.
}

/** What was read of a month. */
export type MonthRead = {
  readonly environment: Environment;
  readonly period: IstMonth;
  readonly dated: Date;
  /** `Posted` */
  readonly postings: PackedRows;
  /** `PackLeg`: of every deal that was settled or reversed. */
  readonly legs: PackedRows;
  /** `StoredLegTax`: decided or taken back in the month. */
  readonly taxes: PackedRows;
  /** `BillWithLegs` */
  readonly bills: PackedRows;
  /** `FeeInvoice` */
  readonly invoices: PackedRows;
  /** `ShownDeduction` */
  readonly deductions: PackedRows;
  readonly firms: readonly PackFirm[];
  readonly house: HouseInLaw | undefined;
  readonly law: ScripLaw | undefined;
  readonly rates: readonly RateRow[];
  readonly balances: readonly KindSum[];
  readonly since: readonly KindSum[];
};

type BuiltPack = { readonly content: Uint8Array; readonly ties: readonly Tie[] };

export const buildPack = heavyKind("month pack", async (read: MonthRead): Promise<BuiltPack> => {
  const { environment, period, dated } = read;
  const facts = deriveFacts(read);
  const ties = [...buildTies(facts), ...tieBalances(facts)];
  const files: ZippedFile[] = [];
  const add = (name: string, pieces: ZippedFile["pieces"]) =>
    files.push({ name: `${period}/${name}`, pieces });
  const by = { environment, deskId: houseFirmId[environment] };
  for (const table of buildTables(facts, ties)) {
    const name = table.sheet.toLowerCase().replaceAll(" ", "-");
    const file = await formatTable(onThisThread, table, { format: "xlsx", name, dated, by });
    add(`${name}.xlsx`, [Buffer.from(file.content)]);
  }
  add("gstr1-draft.json", [exactJson(buildReturn(facts, period))]);
  add("tally.xml", writeTally(facts.vouchers));
  add("READ-ME.txt", [describePack(period, dated, ties)]);
  return { content: await writeZip(files), ties };
});

/** One after the other, so that the memory of one is free for the next. */
function* buildTables(facts: MonthFacts, ties: readonly Tie[]): Generator<SheetTable> {
  yield* buildRegisters(facts);
  yield* buildLedgers(facts);
  yield buildTieTable(facts, ties);
}

type MonthFacts = ReturnType<typeof deriveFacts>;

function deriveFacts(read: MonthRead) {
  const postings = unpackRows<Posted>(read.postings).toSorted(
    (one, other) => one.entry_no - other.entry_no,
  );
  const legs = new Map(unpackRows<PackLeg>(read.legs).map((leg) => [keyLeg(leg), leg]));
  const legTaxes = unpackRows<StoredLegTax>(read.taxes);
  const bills = unpackRows<BillWithLegs>(read.bills);
  const papers = listPapers(bills, legTaxes);
  // Firms of one PAN are one party, whatever desk they are of; a name alone may be that of several.
  const names = new Map(
    read.firms.map(({ firm_id, legal_name, pan }) => [firm_id, `${legal_name}, ${pan ?? firm_id}`]),
  );
  const sumTax = (field: "cgst_paise" | "sgst_paise" | "igst_paise" | "tds_paise") =>
    sumPaise(legTaxes.map((tax) => (tax.kind === "invoice" ? tax[field] : -tax[field])));
  return {
    ...read,
    postings,
    legs,
    legTaxes,
    names,
    moved: listMovedLegs(postings, legs),
    firmById: new Map(read.firms.map((firm) => [firm.firm_id, firm])),
    vouchers: buildVouchers(postings, { legs, names, papers }),
    taxes: {
      cgst: sumTax("cgst_paise"),
      sgst: sumTax("sgst_paise"),
      igst: sumTax("igst_paise"),
      tds: sumTax("tds_paise"),
    },
    bills,
    invoices: unpackRows<FeeInvoice>(read.invoices),
    deductions: unpackRows<ShownDeduction>(read.deductions),
  };
}

function listPapers(
  bills: readonly BillWithLegs[],
  legTaxes: readonly StoredLegTax[],
): PaperNumbers {
  const papers = [
    ...bills.flatMap(({ settlement_id, ordinals, kind, bill_no }) =>
      ordinals.map((ordinal) => ({
        key: keyPapers({ settlement_id, ordinal }, kind === "supply_return"),
        no: bill_no,
      })),
    ),
    ...legTaxes.flatMap((tax) => {
      const key = keyPapers(tax, tax.kind === "credit_note");
      return tax.invoice_no === null ? [] : [{ key, no: tax.invoice_no }];
    }),
  ];
  const groups = Map.groupBy(papers, ({ key }) => key);
  return new Map([...groups].map(([key, own]) => [key, own.map(({ no }) => no)]));
}

type ShownDeduction = Awaited<ReturnType<typeof readDeductions>>[number];

type SheetColumn = readonly [name: string, kind: TableColumn["kind"], width?: number];

/** A table of the month, titled by whose it is, with what its columns of money come to. */
function buildTable(
  { house, period }: Pick<MonthFacts, "house" | "period">,
  sheet: string,
  columns: readonly SheetColumn[],
  rows: readonly TableRow[],
): SheetTable {
  const title = `${sheet}, ${monthText(period)}`;
  return {
    sheet,
    title: house ? `${house.legal_name}: ${title}` : title,
    columns: columns.map(([name, kind, width]) => ({ name, kind, ...(width && { width }) })),
    rows,
    total: rows.length === 0 ? undefined : sumColumns(columns, rows),
  };
}

function sumColumns(columns: readonly SheetColumn[], rows: readonly TableRow[]): TableRow {
  const label = columns.findIndex(([, kind]) => kind === "text");
  return columns.map(([, kind], at) => {
    if (at === label) return "Total";
    return kind === "money" ? sumPaise(rows.map((row) => toPaise(row[at]))) : null;
  });
}

function toPaise(cell: TableRow[number] | undefined): PaiseSum {
  return typeof cell === "number" || typeof cell === "bigint" ? cell : 0;
}

function buildRegisters(facts: MonthFacts): SheetTable[] {
  const { moved, firmById, legTaxes, deductions } = facts;
  /** As the invoice has it, where there is one. */
  const party = (firmId: string, invoiceNo: string | null = null) => {
    const firm = firmById.get(firmId);
    const invoice = invoiceNo === null ? undefined : invoices.get(invoiceNo);
    const name = invoice?.recipient_name ?? firm?.legal_name ?? firmId;
    return [name, invoice ? findRecipientGstin(invoice, firmById) : (firm?.gstin ?? null)];
  };
  const signed = ({ sign }: MovedLeg, paise: PaiseSum) => (sign === 1 ? paise : negatePaise(paise));
  const bills = indexBills(facts);
  const invoices = new Map(facts.invoices.map((invoice) => [invoice.invoice_no, invoice]));
  const taxes = new Map(legTaxes.map((tax) => [`${keyLeg(tax)} ${tax.side} ${tax.kind}`, tax]));
  const dealRow = (one: MovedLeg, firmId: string) => [
    one.on,
    one.sign === 1 ? "supply" : "return",
    one.leg.settlement_id,
    one.leg.scrip_no,
    one.leg.scheme,
    ...party(firmId),
    signed(one, one.leg.face_paise),
    signed(one, findValue(one)),
  ];
  const dealColumns: readonly SheetColumn[] = [
    ["date", "text", 12],
    ["kind", "text", 9],
    ["settlement_id", "text", 34],
    ["scrip_no", "text", 22],
    ["scheme", "text", 9],
    ["party", "text", 32],
    ["gstin", "text"],
    ["face_rupees", "money"],
    ["value_rupees", "money"],
  ];
  const feeRows = moved.flatMap((one) =>
    (["sell", "buy"] as const).flatMap((side): TableRow[] => {
      const { leg } = one;
      const firmId = side === "sell" ? leg.seller_firm_id : leg.buyer_firm_id;
      const { feePaise, gstPaise } = findFee(leg, side);
      if (isHouse(firmId) || feePaise + gstPaise === 0) return [];
      const kind = one.sign === 1 ? "invoice" : "credit_note";
      const tax = taxes.get(`${keyLeg(leg)} ${side} ${kind}`);
      const amounts = [
        feePaise,
        gstPaise,
        tax?.cgst_paise ?? 0,
        tax?.sgst_paise ?? 0,
        tax?.igst_paise ?? 0,
      ];
      return [
        [
          one.on,
          tax?.invoice_no ?? null,
          leg.settlement_id,
          leg.scrip_no,
          side,
          ...party(firmId, tax?.invoice_no),
          tax?.place_of_supply ? formatState(tax.place_of_supply) : null,
          ...amounts.map((paise) => signed(one, paise)),
        ],
      ];
    }),
  );
  return [
    buildTable(
      facts,
      "Sales",
      [...dealColumns, ["bill_no", "text"], ["place_of_supply", "text", 24]],
      moved
        .filter(({ deal }) => deal === "sale")
        .map((one) => {
          const bill = bills.get(keyMoved(one));
          const own = dealRow(one, one.leg.buyer_firm_id);
          const place = bill?.place_of_supply ?? null;
          return [...own, bill?.bill_no ?? null, place && formatState(place)];
        }),
    ),
    buildTable(
      facts,
      "Purchases",
      dealColumns,
      moved
        .filter(({ deal }) => deal === "purchase")
        .map((one) => dealRow(one, one.leg.seller_firm_id)),
    ),
    buildTable(
      facts,
      "Fees",
      [
        ["date", "text", 12],
        ["invoice_no", "text"],
        ["settlement_id", "text", 34],
        ["scrip_no", "text", 22],
        ["side", "text", 6],
        ["party", "text", 32],
        ["gstin", "text"],
        ["place_of_supply", "text", 24],
        ["fee_rupees", "money"],
        ["gst_rupees", "money"],
        ["cgst_rupees", "money"],
        ["sgst_rupees", "money"],
        ["igst_rupees", "money"],
      ],
      feeRows,
    ),
    buildTable(
      facts,
      "Deductions",
      [
        ["date", "text", 12],
        ["kind", "text", 10],
        ["pan", "text", 12],
        ["name", "text", 32],
        ["act", "text", 6],
        ["section", "text", 26],
        ["payment_code", "text", 16],
        ["certificate_no", "text"],
        ["rate_percent", "percent"],
        ["amount_rupees", "money"],
        ["tax_rupees", "money"],
        ["settlement_id", "text", 34],
      ],
      deductions.map((row) => {
        const sign = row.kind === "invoice" ? 1 : -1;
        return [
          istDay(row.taxed_at),
          row.kind === "invoice" ? "deducted" : "returned",
          row.pan,
          row.legal_name,
          row.tds_act,
          row.tds_section,
          row.tds_code,
          row.tds_certificate,
          row.tds_bps,
          sign * row.base_paise,
          sign * row.tds_paise,
          row.settlement_id,
        ];
      }),
    ),
  ];
}

function keyMoved({ leg, sign }: MovedLeg): string {
  return `${keyLeg(leg)} ${sign === 1 ? "bill_of_supply" : "supply_return"}`;
}

/** The house's bills by the legs that moved. */
function indexBills({ bills }: Pick<MonthFacts, "bills">) {
  return new Map(
    bills.flatMap((bill) =>
      bill.ordinals.map((ordinal) => [`${keyLeg({ ...bill, ordinal })} ${bill.kind}`, bill]),
    ),
  );
}

const ledgerColumns: readonly SheetColumn[] = [
  ["at", "time"],
  ["account", "text", 26],
  ["entry", "text", 16],
  ["about", "text", 34],
  ["scrip_no", "text", 22],
  ["other_account", "text", 32],
  ["in_rupees", "money"],
  ["out_rupees", "money"],
];

/** What moved on the accounts of a kind, line by line. */
function listLines({ postings, legs, names }: MonthFacts, ledgerKind: AccountKind): TableRow[] {
  // Money at the bank is what the outside is below zero by.
  const sign = ledgerKind === "external_bank" ? -1 : 1;
  return postings.flatMap((posting) => {
    const { at, kind, subject, from_account: from, to_account: to } = posting;
    const named = { deal: undefined, kind, names };
    return [
      { own: from, other: to, paise: -sign * posting.paise },
      { own: to, other: from, paise: sign * posting.paise },
    ]
      .filter(({ own }) => parseAccount(own).kind === ledgerKind)
      .map(({ own, other, paise }) => [
        istTimestamp(at),
        nameLedger(own, named),
        kind,
        subject,
        findLeg(posting, legs)?.scrip_no ?? null,
        nameLedger(other, named),
        paise > 0 ? paise : null,
        paise < 0 ? -paise : null,
      ]);
  });
}

/** The bank's account, those of the house, and what accounts of each kind had, got, gave and have. */
function* buildLedgers(facts: MonthFacts): Generator<SheetTable> {
  const houses = kindsInOrder.filter((kind) => accountKinds[kind].of === "house");
  yield buildTable(facts, "Bank ledger", ledgerColumns, listLines(facts, "external_bank"));
  yield buildTable(
    facts,
    "House ledger",
    ledgerColumns,
    houses.flatMap((kind) => listLines(facts, kind)),
  );
  yield buildTable(
    facts,
    "Trial balance",
    [
      ["account", "text", 26],
      ["opening_debit_rupees", "money", 22],
      ["opening_credit_rupees", "money", 22],
      ["debit_rupees", "money"],
      ["credit_rupees", "money"],
      ["closing_debit_rupees", "money", 22],
      ["closing_credit_rupees", "money", 22],
    ],
    listBalances(facts).map(({ kind, opening, debit, credit, closing }) => [
      ledgerByKind[kind],
      ...splitBalance(opening),
      debit,
      credit,
      ...splitBalance(closing),
    ]),
  );
}

const kindsInOrder = Object.keys(accountKinds) as AccountKind[]; // It has no other keys.

/** As a debit or a credit: an account is credited with what comes to it. */
function splitBalance(paise: PaiseSum): [debit: PaiseSum | null, credit: PaiseSum | null] {
  return [paise < 0 ? negatePaise(paise) : null, paise > 0 ? paise : null];
}

/** Each kind of account: what it had at the month's end is what it has now less what came since. */
function listBalances({ balances, since, postings }: MonthFacts) {
  const debits = new Map<AccountKind, PaiseSum>();
  const credits = new Map<AccountKind, PaiseSum>();
  for (const { from_account, to_account, paise } of postings) {
    const [from, to] = [parseAccount(from_account).kind, parseAccount(to_account).kind];
    debits.set(from, addPaise(debits.get(from) ?? 0, paise));
    credits.set(to, addPaise(credits.get(to) ?? 0, paise));
  }
  const later = new Map(since.map(({ kind, paise }) => [kind, paise]));
  const order = (kind: AccountKind) => kindsInOrder.indexOf(kind);
  const inOrder = balances.toSorted((one, other) => order(one.kind) - order(other.kind));
  return inOrder.map(({ kind, paise }) => {
    const closing = subtractPaise(paise, later.get(kind) ?? 0);
    const [debit, credit] = [debits.get(kind) ?? 0, credits.get(kind) ?? 0];
    const opening = subtractPaise(addPaise(closing, debit), credit);
    return { kind, opening, debit, credit, closing };
  });
}

function tieBalances(facts: MonthFacts): Tie[] {
  const balances = listBalances(facts);
  const sum = (field: "opening" | "closing") => sumPaise(balances.map((each) => each[field]));
  const billed = sumPaise(
    facts.bills.map(({ kind, value_paise }) =>
      kind === "bill_of_supply" ? value_paise : -value_paise,
    ),
  );
  const bills = indexBills(facts);
  const numbered = facts.moved.filter((one) => bills.has(keyMoved(one)));
  return [
    tie("all accounts at the month's beginning", sum("opening"), 0),
    tie("all accounts at the month's end", sum("closing"), 0),
    tie(
      "bills of supply",
      billed,
      sumPaise(numbered.map((one) => (one.sign === 1 ? findValue(one) : -findValue(one)))),
    ),
    tie(
      "rows of the return of deductions",
      sumPaise(
        facts.deductions.map(({ kind, tds_paise }) =>
          kind === "invoice" ? tds_paise : -tds_paise,
        ),
      ),
      facts.taxes.tds,
    ),
  ];
}

function buildTieTable(facts: MonthFacts, ties: readonly Tie[]): SheetTable {
  const columns: readonly SheetColumn[] = [
    ["total", "text", 38],
    ["register_rupees", "money"],
    ["ledger_rupees", "money"],
    ["ties", "text", 8],
  ];
  return {
    ...buildTable(
      facts,
      "Ties",
      columns,
      ties.map(({ total, register_paise, ledger_paise, ties: isSame }) => [
        total,
        register_paise,
        ledger_paise,
        isSame ? "yes" : "NO",
      ]),
    ),
    total: undefined,
  };
}

/** As it was when the invoice was numbered; of one from before that was kept, what the firm has now. */
function findRecipientGstin(
  { firm_id, recipient_name, recipient_gstin }: MonthFacts["invoices"][number],
  firmById: MonthFacts["firmById"],
): string | null {
  return recipient_name === null ? (firmById.get(firm_id)?.gstin ?? null) : recipient_gstin;
}

function buildReturn(
  { house, law, rates, invoices, bills, firmById }: MonthFacts,
  period: IstMonth,
): object {
  const taxed = invoices.map((invoice): TaxedPaper => ({
    no: invoice.invoice_no,
    kind: invoice.kind,
    on: istDay(invoice.issued_at),
    gstin: findRecipientGstin(invoice, firmById),
    place: invoice.place_of_supply,
    sac: invoice.sac,
    gst_bps: findRates(istDay(invoice.issued_at), rates).fee?.gst_bps ?? 0,
    fee_paise: invoice.fee_paise,
    cgst_paise: invoice.cgst_paise,
    sgst_paise: invoice.sgst_paise,
    igst_paise: invoice.igst_paise,
  }));
  const exempt = bills.map((bill): ExemptPaper => ({
    no: bill.bill_no,
    kind: bill.kind,
    gstin: bill.recipient_gstin,
    place: bill.place_of_supply,
    hsn: law?.hsn ?? scripHsn,
    credits: bill.ordinals.length,
    value_paise: bill.value_paise,
  }));
  const { gstin = null, state_code: state = null } = house ?? {};
  return writeGstr1({ gstin, state, period, taxed, exempt });
}

function describePack(period: IstMonth, dated: Date, ties: readonly Tie[]): string {
  const loose = ties.filter(({ ties: isSame }) => !isSame).map(({ total }) => total);
  return `Accounts of ${monthText(period)}, made ${istTimestamp(dated)}. Amounts are rupees.

sales.xlsx, purchases.xlsx   what the house sold and bought, credit by credit; both are exempt
fees.xlsx                    what clients were charged, with the tax on it
deductions.xlsx              tax deducted at source, as rows of the return
bank-ledger.xlsx             what came to and left the bank account
house-ledger.xlsx            every account of the house, line by line
trial-balance.xlsx           what each kind of account had, got, gave and has
ties.xlsx                    each total beside what the ledger has of it
gstr1-draft.json             a draft of GSTR-1: check it before it is filed
tally.xml                    masters and vouchers for Tally: check them in a company for trials first

${loose.length === 0 ? "Every total ties to the ledger." : `DO NOT FILE. These totals do not tie: ${loose.join(", ")}.`}
`;
}
