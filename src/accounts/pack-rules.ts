// The month's pack for the accountant, from what was posted in the month:
//
//   legs        what was delivered or came back gives the registers of sales, purchases and fees
//   postings    every movement of money is a line of a voucher, under the ledger's name in accounts
//   ties        each total of a register beside what was posted to the accounts that it is about
//
// What a leg means follows from who sold and who bought (`taxes/bills.ts`): the money that the house keeps
// or gives in a sale or a purchase is their value, and between two clients it is fee.

import { isHouse } from "../kernel/ids.ts";
import { addPaise, negatePaise, type PaiseSum, sumPaise, valueBeforeFee } from "../kernel/money.ts";
import type { Side } from "../kernel/scheme.ts";
import { istDay, type IstDay } from "../kernel/time.ts";
import { type AccountKind, type EntryKind, parseAccount, type Posted } from "../ledger/rules.ts";

/** A leg of a deal, of which the pack needs this. */
export type PackLeg = {
  readonly settlement_id: string;
  readonly ordinal: number;
  readonly scrip_no: string;
  readonly scheme: string;
  readonly face_paise: number;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly seller_paise: number;
  readonly buyer_paise: number;
  readonly seller_fee_paise: number;
  readonly seller_gst_paise: number;
  readonly buyer_fee_paise: number;
  readonly buyer_gst_paise: number;
};

export type PackFirm = {
  readonly firm_id: string;
  readonly legal_name: string;
  readonly pan: string | null;
  readonly gstin: string | null;
};

type Deal = "sale" | "purchase" | "between";

function classify({ seller_firm_id, buyer_firm_id }: PackLeg): Deal {
  if (isHouse(seller_firm_id)) return "sale";
  return isHouse(buyer_firm_id) ? "purchase" : "between";
}

/** A leg whose money moved on a day; `sign` is -1 where it was reversed. */
export type MovedLeg = {
  readonly leg: PackLeg;
  readonly deal: Deal;
  readonly on: IstDay;
  readonly sign: 1 | -1;
};

const dealKinds: readonly EntryKind[] = ["deal_hold", "deal_settlement"];

/** The place of the leg that an entry is about; undefined for other entries. */
export function findLegOrdinal({
  kind,
  ordinal,
}: Pick<Posted, "kind" | "ordinal">): number | undefined {
  if (dealKinds.includes(kind) || kind === "reversal") return ordinal;
  // Two entries for each leg: taking a refund back, and what its seller gets.
  return kind === "late_transfer" ? Math.floor(ordinal / 2) : undefined;
}

export function keyLeg({ settlement_id, ordinal }: Pick<PackLeg, "settlement_id" | "ordinal">) {
  return `${settlement_id} ${ordinal}`;
}

/** The leg that a posting is about, and what it was. */
export function findLeg(posting: Posted, legs: ReadonlyMap<string, PackLeg>): PackLeg | undefined {
  const ordinal = findLegOrdinal(posting);
  if (ordinal === undefined) return undefined;
  return legs.get(keyLeg({ settlement_id: posting.subject, ordinal }));
}

/** The legs that the postings settled or reversed, each once, in the order of their money. */
export function listMovedLegs(
  postings: readonly Posted[],
  legs: ReadonlyMap<string, PackLeg>,
): MovedLeg[] {
  const moved = new Map<string, MovedLeg>();
  for (const posting of postings) {
    const leg = findLeg(posting, legs);
    // A refund that is only taken back has not settled its leg yet.
    const isTaken = posting.kind === "late_transfer" && posting.ordinal % 2 === 0;
    if (!leg || (isTaken && !isHouse(leg.seller_firm_id))) continue;
    const sign = posting.kind === "reversal" ? -1 : 1;
    const key = `${keyLeg(leg)} ${sign}`;
    if (moved.has(key)) continue;
    moved.set(key, { leg, deal: classify(leg), on: istDay(posting.at), sign });
  }
  return [...moved.values()];
}

/** The value of what the house sold or bought, before the client's fee. */
export function findValue({ leg, deal }: Pick<MovedLeg, "leg" | "deal">): number {
  const fee = findFee(leg, deal === "sale" ? "buy" : "sell");
  return deal === "sale"
    ? valueBeforeFee("buy", leg.buyer_paise, fee)
    : valueBeforeFee("sell", leg.seller_paise, fee);
}

export function findFee(leg: PackLeg, side: Side) {
  return side === "sell"
    ? { feePaise: leg.seller_fee_paise, gstPaise: leg.seller_gst_paise }
    : { feePaise: leg.buyer_fee_paise, gstPaise: leg.buyer_gst_paise };
}

/** The names of accounts; of those of a client, of all clients together. */
export const ledgerByKind: Readonly<Record<AccountKind, string>> = {
  firm_cash: "Clients",
  firm_dues: "Dues of clients",
  desk_commission: "Commission payable",
  house_cash: "House funds",
  house_fees: "Fees",
  gst_payable: "Output GST, undivided",
  cgst_payable: "Output CGST",
  sgst_payable: "Output SGST",
  igst_payable: "Output IGST",
  tds_payable: "TDS payable",
  unmatched_cash: "Suspense",
  external_bank: "Bank",
  firm_credits: "Scrips of clients",
  house_credits: "Scrips of the house",
  external_customs: "Scrips at customs",
};

const houseCashOf = {
  sale: "Scrip sales, exempt",
  purchase: "Scrip purchases, exempt",
  between: "Margin between clients",
} as const satisfies Record<Deal, string>;

/** The name of an account in the accountant's books; the house's money of a deal is its sale or purchase. */
export function nameLedger(
  account: string,
  {
    deal,
    kind,
    names,
  }: { deal: Deal | undefined; kind: EntryKind; names: ReadonlyMap<string, string> },
): string {
  const parsed = parseAccount(account);
  if ("firmId" in parsed) {
    const name = names.get(parsed.firmId) ?? parsed.firmId;
    return parsed.kind === "desk_commission" ? `Commission payable, ${name}` : name;
  }
  if (parsed.kind === "house_cash" && deal) return houseCashOf[deal];
  if (parsed.kind === "house_cash" && kind === "commission") return "Commission to desks";
  return ledgerByKind[parsed.kind];
}

type VoucherLine = { readonly ledger: string; readonly paise: PaiseSum };

/** What happened at once, as lines that sum to zero: what a ledger is debited with is above it. */
export type Voucher = {
  readonly no: number;
  readonly on: IstDay;
  readonly type:
    | "Sales"
    | "Purchase"
    | "Receipt"
    | "Payment"
    | "Journal"
    | "Credit Note"
    | "Debit Note";
  readonly about: string;
  readonly lines: readonly VoucherLine[];
};

const typeByKind: Partial<Record<EntryKind, Voucher["type"]>> = {
  deposit: "Receipt",
  payout_return: "Receipt",
  payout: "Payment",
};

function findType(kind: EntryKind, deal: Deal | undefined): Voucher["type"] {
  if (deal === "sale") return kind === "reversal" ? "Credit Note" : "Sales";
  if (deal === "purchase") return kind === "reversal" ? "Debit Note" : "Purchase";
  return typeByKind[kind] ?? "Journal";
}

/** The numbers of the papers of a leg, or of those that took it back. */
export type PaperNumbers = ReadonlyMap<string, readonly string[]>;

export function keyPapers(leg: Pick<PackLeg, "settlement_id" | "ordinal">, isBack: boolean) {
  return `${keyLeg(leg)} ${isBack ? "back" : "out"}`;
}

type VoucherFacts = {
  readonly legs: ReadonlyMap<string, PackLeg>;
  readonly names: ReadonlyMap<string, string>;
  readonly papers: PaperNumbers;
};

/** A voucher for each entry: who gives is debited, since the books owe every account what it has. */
export function buildVouchers(
  postings: readonly Posted[],
  { legs, names, papers }: VoucherFacts,
): Voucher[] {
  return [...Map.groupBy(postings, ({ entry_no }) => entry_no)].flatMap(([no, own]) => {
    const [first] = own;
    if (!first) return [];
    const leg = findLeg(first, legs);
    const deal = leg && classify(leg);
    const named = { deal, kind: first.kind, names };
    const sides = own.flatMap(({ from_account, to_account, paise }) => [
      { ledger: nameLedger(from_account, named), paise },
      { ledger: nameLedger(to_account, named), paise: -paise },
    ]);
    const lines = [...Map.groupBy(sides, ({ ledger }) => ledger)]
      .map(([ledger, parts]) => ({ ledger, paise: sumPaise(parts.map(({ paise }) => paise)) }))
      .filter(({ paise }) => paise !== 0);
    if (lines.length === 0) return [];
    const numbers = leg ? papers.get(keyPapers(leg, first.kind === "reversal")) : undefined;
    const about = [first.subject, ...(leg ? [leg.scrip_no] : []), ...(numbers ?? [])].join(" ");
    return [{ no, on: istDay(first.at), type: findType(first.kind, deal), about, lines }];
  });
}

/** What was posted to accounts of a kind, of entries for which this holds. */
function sumPosted(
  postings: readonly Posted[],
  kinds: readonly AccountKind[],
  counts: (posting: Posted) => boolean = () => true,
): PaiseSum {
  const isMeant = (account: string) => kinds.includes(parseAccount(account).kind);
  let sum: PaiseSum = 0;
  for (const posting of postings) {
    const { from_account, to_account, paise } = posting;
    const change = (isMeant(to_account) ? paise : 0) - (isMeant(from_account) ? paise : 0);
    if (change !== 0 && counts(posting)) sum = addPaise(sum, change);
  }
  return sum;
}

/** A total of a register, and what the ledger has of it. */
export type Tie = {
  readonly total: string;
  readonly register_paise: PaiseSum;
  readonly ledger_paise: PaiseSum;
  readonly ties: boolean;
};

export function tie(total: string, register: PaiseSum, ledger: PaiseSum): Tie {
  return { total, register_paise: register, ledger_paise: ledger, ties: register === ledger };
}

type Tied = {
  readonly postings: readonly Posted[];
  readonly legs: ReadonlyMap<string, PackLeg>;
  readonly moved: readonly MovedLeg[];
  readonly taxes: {
    readonly cgst: PaiseSum;
    readonly sgst: PaiseSum;
    readonly igst: PaiseSum;
    readonly tds: PaiseSum;
  };
  readonly vouchers: readonly Voucher[];
};

export function buildTies({ postings, legs, moved, taxes, vouchers }: Tied): Tie[] {
  const selectDeal = (deal: Deal) => (posting: Posted) => {
    const leg = findLeg(posting, legs);
    return leg !== undefined && classify(leg) === deal;
  };
  const sumLegs = (of: (one: MovedLeg) => PaiseSum) =>
    sumPaise(moved.map((one) => (one.sign === 1 ? of(one) : negatePaise(of(one)))));
  const sumValue = (deal: Deal) => sumLegs((one) => (one.deal === deal ? findValue(one) : 0));
  const fees = (field: "fee" | "gst") =>
    sumLegs(({ leg }) => leg[`seller_${field}_paise`] + leg[`buyer_${field}_paise`]);
  const house = (deal: Deal) => sumPosted(postings, ["house_cash"], selectDeal(deal));
  const undivided = sumPaise([
    fees("gst"),
    ...[taxes.cgst, taxes.sgst, taxes.igst].map(negatePaise),
  ]);
  const booked = (ledger: string) =>
    negatePaise(
      sumPaise(
        vouchers
          .flatMap(({ lines }) => lines)
          .filter((line) => line.ledger === ledger)
          .map(({ paise }) => paise),
      ),
    );
  return [
    tie("sales", sumValue("sale"), house("sale")),
    tie("purchases", sumValue("purchase"), negatePaise(house("purchase"))),
    tie(
      "kept between clients besides fees",
      sumLegs(({ leg, deal }) =>
        deal === "between"
          ? leg.buyer_paise -
            leg.seller_paise -
            (leg.buyer_fee_paise + leg.buyer_gst_paise) -
            (leg.seller_fee_paise + leg.seller_gst_paise)
          : 0,
      ),
      house("between"),
    ),
    tie("fees", fees("fee"), sumPosted(postings, ["house_fees"])),
    tie("CGST", taxes.cgst, sumPosted(postings, ["cgst_payable"])),
    tie("SGST", taxes.sgst, sumPosted(postings, ["sgst_payable"])),
    tie("IGST", taxes.igst, sumPosted(postings, ["igst_payable"])),
    tie("GST that is not divided", undivided, sumPosted(postings, ["gst_payable"])),
    tie("TDS", taxes.tds, sumPosted(postings, ["tds_payable"])),
    tie("vouchers, fees", booked("Fees"), sumPosted(postings, ["house_fees"])),
    tie("vouchers, sales", booked(houseCashOf.sale), house("sale")),
    tie(
      "vouchers, purchases",
      negatePaise(booked(houseCashOf.purchase)),
      negatePaise(house("purchase")),
    ),
    tie(
      "vouchers, bank",
      negatePaise(booked("Bank")),
      negatePaise(sumPosted(postings, ["external_bank"])),
    ),
    tie("vouchers, TDS", booked("TDS payable"), sumPosted(postings, ["tds_payable"])),
    tie(
      "vouchers, all lines",
      sumPaise(vouchers.flatMap(({ lines }) => lines.map(({ paise }) => paise))),
      0,
    ),
  ];
}
