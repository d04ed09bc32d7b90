// The month's pack: an archive of registers, ledgers, drafts and vouchers, with the ties of every total to
// the ledger. It is read in one snapshot, so the pack of a month that is over is always the same.

import { zipSync } from "fflate";

import { findHouse } from "../house/read-house.ts";
import { formatState } from "../house/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
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
import { periodSpan, refuseOtherPeriod } from "../kernel/months.ts";
import {
  financialYear,
  istDay,
  type IstMonth,
  istTimestamp,
  lastDayOfMonth,
  monthText,
} from "../kernel/time.ts";
import { accountKinds, type AccountKind, parseAccount } from "../ledger/rules.ts";
import type { Context } from "../platform/context.ts";
import type { Heavy } from "../platform/heavy/kinds.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { formatTable } from "../platform/sheets/format-table.ts";
import type { SheetTable, TableColumn, TableRow } from "../platform/sheets/table.ts";
import { listLegsBySettlement } from "../settlement/read-settlements.ts";
import { findScripLaw, listBillsOfMonth } from "../taxes/bills.ts";
import { findTaxesBySettlement, listInvoicesIssued, listTaxRates } from "../taxes/taxes.ts";
import { findRates } from "../taxes/tax-rules.ts";
import { readDeductions } from "../taxes/withholding.ts";
import { type ExemptPaper, type TaxedPaper, writeGstr1, writeTally } from "./pack-forms.ts";
import {
  buildTies,
  buildVouchers,
  findFee,
  findLegOrdinal,
  findValue,
  keyLeg,
  ledgerByKind,
  listMovedLegs,
  type MovedLeg,
  nameLedger,
  type Tie,
  tie,
} from "./pack-rules.ts";
import { listKindBalances, listPackFirms, listPostings, sumPostedSince } from "./store.ts";

/** More than a house posts in a month; a pack of more would not fit into an answer. */
const postingsMax = 500_000;

export type MonthPack = {
  readonly name: string;
  readonly content: Buffer;
  readonly ties: readonly Tie[];
};

export async function makeMonthPack(
  ctx: Pick<Context, "db" | "now"> & { readonly heavy: Heavy },
  { environment, period }: { readonly environment: Environment; readonly period: IstMonth },
): Promise<MonthPack> {
  refuseOtherPeriod(period);
  const dated = ctx.now();
  const facts = await ctx.db.transaction((tx) => gather(tx, { environment, period }), {
    snapshot: true,
  });
  const ties = [...buildTies(facts), ...tieBalances(facts)];
  const files: Record<string, Uint8Array> = {};
  const by = { environment, deskId: houseFirmId[environment] };
  for (const table of [
    ...buildRegisters(facts),
    ...buildLedgers(facts),
    buildTieTable(facts, ties),
  ]) {
    const name = table.sheet.toLowerCase().replaceAll(" ", "-");
    const file = await formatTable(ctx.heavy, table, { format: "xlsx", name, dated, by });
    files[`${name}.xlsx`] = Buffer.from(file.content);
  }
  files["gstr1-draft.json"] = Buffer.from(exactJson(buildReturn(facts, period)));
  files["tally.xml"] = Buffer.from([...writeTally(facts.vouchers)].join(""));
  files["READ-ME.txt"] = Buffer.from(describePack(period, dated, ties));
  const prefixed = Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [`${period}/${name}`, bytes]),
  );
  const content = Buffer.from(zipSync(prefixed, { mtime: new Date(2000, 0, 1) }));
  return { name: `accounts-${environment}-${period}.zip`, content, ties };
}

type MonthFacts = Awaited<ReturnType<typeof gather>>;

async function gather(
  db: Db,
  { environment, period }: { readonly environment: Environment; readonly period: IstMonth },
) {
  const span = { environment, ...periodSpan(period) };
  const postings = await listPostings(db, span, postingsMax + 1);
  if (postings.length > postingsMax) {
    throw unprocessable({ path: "period", problem: `has more than ${postingsMax} postings` });
  }
  const ids = new Set(
    postings.filter((one) => findLegOrdinal(one) !== undefined).map(({ subject }) => subject),
  );
  const dealt = [...(await listLegsBySettlement(db, [...ids])).values()].flat();
  const legs = new Map(dealt.map((leg) => [keyLeg(leg), leg]));
  const moved = listMovedLegs(postings, legs);
  const taxes = [...(await findTaxesBySettlement(db, [...ids])).values()]
    .flat()
    .filter(({ taxed_at }) => taxed_at >= span.from && taxed_at < span.to);
  const accounts = postings.flatMap(({ from_account, to_account }) => [from_account, to_account]);
  const firmIds = accounts.flatMap((account) => {
    const parsed = parseAccount(account);
    return "firmId" in parsed ? [parsed.firmId] : [];
  });
  const parties = dealt.flatMap((leg) => [leg.seller_firm_id, leg.buyer_firm_id]);
  const firms = await listPackFirms(db, [...new Set([...firmIds, ...parties])]);
  const firmById = new Map(firms.map((firm) => [firm.firm_id, firm]));
  // Firms of one PAN are one party, whatever desk they are of; a name alone may be that of several.
  const names = new Map(
    firms.map(({ firm_id, legal_name, pan }) => [firm_id, `${legal_name}, ${pan ?? firm_id}`]),
  );
  const last = lastDayOfMonth(period);
  const year = financialYear(span.from);
  const sumTax = (field: "cgst_paise" | "sgst_paise" | "igst_paise" | "tds_paise") =>
    sumPaise(taxes.map((tax) => (tax.kind === "invoice" ? tax[field] : -tax[field])));
  return {
    period,
    postings,
    legs,
    moved,
    legTaxes: taxes,
    firmById,
    names,
    vouchers: buildVouchers(postings, { legs, names }),
    taxes: {
      cgst: sumTax("cgst_paise"),
      sgst: sumTax("sgst_paise"),
      igst: sumTax("igst_paise"),
      tds: sumTax("tds_paise"),
    },
    bills: await listBillsOfMonth(db, environment, { first: `${period}-01`, last }),
    invoices: await listInvoicesIssued(db, { ...span, year, firmId: null }),
    deductions: await readDeductions(db, span),
    house: await findHouse(db, environment, last),
    law: await findScripLaw(db, environment, last),
    rates: await listTaxRates({ db }, environment),
    balances: await listKindBalances(db, environment),
    since: await sumPostedSince(db, environment, span.to),
  };
}

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

/** The accounts of the house, line by line; the bank's beside them. */
function buildLedgers(facts: MonthFacts): SheetTable[] {
  const { postings, legs, names } = facts;
  const lines = postings.flatMap((posting) => {
    const ordinal = findLegOrdinal(posting);
    const leg =
      ordinal === undefined
        ? undefined
        : legs.get(keyLeg({ settlement_id: posting.subject, ordinal }));
    const named = { deal: undefined, kind: posting.kind, names };
    const side = (own: string, other: string, paise: number) => ({
      kind: parseAccount(own).kind,
      row: [
        istTimestamp(posting.at),
        nameLedger(own, named),
        posting.kind,
        posting.subject,
        leg?.scrip_no ?? null,
        nameLedger(other, named),
        paise > 0 ? paise : null,
        paise < 0 ? -paise : null,
      ] satisfies TableRow,
    });
    const { from_account: from, to_account: to, paise } = posting;
    return [side(from, to, -paise), side(to, from, paise)];
  });
  const columns: readonly SheetColumn[] = [
    ["at", "time"],
    ["account", "text", 26],
    ["entry", "text", 16],
    ["about", "text", 34],
    ["scrip_no", "text", 22],
    ["other_account", "text", 32],
    ["in_rupees", "money"],
    ["out_rupees", "money"],
  ];
  const ofKind = (counts: (kind: AccountKind) => boolean) =>
    lines.filter(({ kind }) => counts(kind)).map(({ row }) => row);
  const houses = kindsInOrder
    .filter((kind) => accountKinds[kind].of === "house")
    .flatMap((own) => ofKind((kind) => kind === own));
  return [
    // Money at the bank is what the outside is below zero by.
    buildTable(
      facts,
      "Bank ledger",
      columns,
      ofKind((kind) => kind === "external_bank").map((row) => [
        ...row.slice(0, 6),
        row[7] ?? null,
        row[6] ?? null,
      ]),
    ),
    buildTable(facts, "House ledger", columns, houses),
    buildTable(
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
    ),
  ];
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
