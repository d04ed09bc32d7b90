// Lines of the bank's statement of the account that holds all live money. A line is matched, or it
// waits in a queue for an operator:
//
//   new ──┬─match──▶ matched                      a remittance, a deposit, or a known entry
//         ├─repeat─▶ repeated                     an earlier file had it
//         └─queue──▶ queued ──┬─assign──▶ assigned              an operator says whose it is
//                             └─send_back──▶ returning ─return─▶ returned   the bank's debit confirms it
//
// Money is a firm's deposit when the line names the firm or one of its deals and the remitter is that
// firm, by account or by name. A third party's money with the right reference is queued.

import { createHash } from "node:crypto";

import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { IstDay } from "../kernel/time.ts";
import { utrForm } from "../kernel/ids.ts";

export const bankLineStates = [
  "new",
  "repeated",
  "matched",
  "queued",
  "assigned",
  "returning",
  "returned",
] as const;

export type BankLineState = (typeof bankLineStates)[number];

export const bankLineLifecycle = {
  noun: "bank line",
  initial: ["new"],
  states: bankLineStates,
  moves: {
    match: { from: ["new"], to: "matched", by: "bank" },
    repeat: { from: ["new"], to: "repeated", by: "bank" },
    queue: { from: ["new"], to: "queued", by: "bank" },
    assign: { from: ["queued"], to: "assigned", by: "operator" },
    send_back: { from: ["queued"], to: "returning", by: "operator" },
    return: { from: ["returning"], to: "returned", by: "bank" },
  },
} as const satisfies Lifecycle<BankLineState>;

export type Direction = "credit" | "debit";

/** A line as the bank wrote it. */
export type StatementLine = {
  readonly ordinal: number;
  readonly day: IstDay;
  readonly direction: Direction;
  readonly paise: number;
  /** The bank's reference of the transaction. */
  readonly reference: string;
  readonly narration: string;
  readonly remitterName: string;
  readonly remitterAccount: string;
  /** The balance after the line. */
  readonly balancePaise: number | null;
};

/** Keeps capitals and digits only: banks change case and drop punctuation. */
export function normalize(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/** The reference, if it has the form of a UTR. */
export function parseUtr(reference: string): string | null {
  const squeezed = normalize(reference);
  return utrForm.test(squeezed) ? squeezed : null;
}

/** As NEFT and RTGS give them: the bank's four letters first, and a serial number last. */
const transferUtr = /^(?:[A-Z]{4}[A-Z0-9]{6}\d{6}|[A-Z]{4}[A-Z0-9]{6}\d{12})$/;
const ownReference = /^SD[0-9A-HJKMNP-TV-Z]{14}$/;
/** Words that banks put between the rail and its number. */
const instantUtr =
  /(?<![A-Z0-9])(?:IMPS|UPI)(?:[^A-Z0-9]+(?:CR|DR|IN|INW|P2A|P2P|P2M|REF|RRN|NO|TXN))*[^A-Z0-9]*(\d{12})(?![A-Z0-9])/g;

/**
 * The UTRs of a line, the likeliest first: what the bank's column says, then what the narration has in
 * the form of NEFT or RTGS, or right after IMPS or UPI. Other long words may be account numbers.
 */
export function listUtrs({
  reference,
  narration,
}: Pick<StatementLine, "reference" | "narration">): string[] {
  const text = narration.toUpperCase();
  const words = text.match(/[A-Z0-9]+/g) ?? [];
  const transfers = words.filter((each) => transferUtr.test(each) && !ownReference.test(each));
  const instant = [...text.matchAll(instantUtr)].map(([, digits = ""]) => digits);
  const first = parseUtr(reference);
  return [...new Set([...(first === null ? [] : [first]), ...transfers, ...instant])];
}

/**
 * The identity of each line: the same line in two files has the same key. Equal lines in one file are
 * numbered.
 */
export function buildLineKeys(lines: readonly StatementLine[]): string[] {
  const seen = new Map<string, number>();
  return lines.map(({ day, direction, paise, reference, narration }) => {
    const name = normalize(reference) || createHash("sha256").update(narration).digest("hex");
    const alike = `${day} ${direction} ${paise} ${name}`;
    const before = seen.get(alike) ?? 0;
    seen.set(alike, before + 1);
    return createHash("sha256").update(`${alike} ${before}`).digest("hex");
  });
}

/** A deterministic reference for a line whose own is missing or taken. */
export function buildReference(lineKey: string): string {
  return `BL${lineKey.slice(0, 18).toUpperCase()}`;
}

const idBody = "[0-9A-HJKMNP-TV-Z]{26}";
const dealOrFirm = new RegExp(`(?=((?:STL|CRS|FRM)${idBody}))`, "g");
const remittance = /(?=(SD[0-9A-HJKMNP-TV-Z]{14}))/g;
const word = /[A-Z0-9]{12,22}/g;

/** Everything in the text that looks like a reference or an id; most of it exists nowhere. */
export function findMentions({ reference, narration }: StatementLine) {
  const text = normalize(`${reference} ${narration}`);
  const words = `${reference} ${narration}`.toUpperCase().match(word) ?? [];
  return {
    remittances: [...new Set([...text.matchAll(remittance)].map(([, found = ""]) => found))],
    /** Settlements, crosses and firms. */
    ids: [...new Set([...text.matchAll(dealOrFirm)].map(([, found = ""]) => toId(found)))],
    utrs: [...new Set(words)],
    text,
  };
}

function toId(squeezed: string): string {
  return `${squeezed.slice(0, 3)}_${squeezed.slice(3)}`.toLowerCase();
}

/** The account and the names of a firm. */
export type Remitter = { readonly accountNo: string | null; readonly names: readonly string[] };

export function isRemitter(
  { remitterAccount, remitterName }: StatementLine,
  { accountNo, names }: Remitter,
): boolean {
  const account = normalize(remitterAccount);
  const name = normalize(remitterName);
  const isAccount = account !== "" && accountNo !== null && account === normalize(accountNo);
  return isAccount || (name !== "" && names.some((known) => normalize(known) === name));
}

/** A remittance that a line may be about. */
export type KnownRemittance = {
  readonly leadId: string;
  readonly fileId: string | null;
  readonly paise: number;
  readonly isVoid: boolean;
};

/** The firm, and the deal if one is named, that a deposit is for. */
export type KnownTarget = { readonly firmId: string; readonly dealId: string | null };

export type MatchContext = {
  readonly remittances: ReadonlyMap<string, KnownRemittance>;
  /** Remittances by the bank's own reference. */
  readonly byUtr: ReadonlyMap<string, KnownRemittance>;
  /** Queued lines that were sent back, by the UTR of the payment back. */
  readonly returning: ReadonlyMap<string, { readonly lineId: string; readonly paise: number }>;
  readonly targets: ReadonlyMap<string, KnownTarget>;
  /** The payment references of buyers for their crosses. */
  readonly payments: readonly { readonly name: string; readonly target: KnownTarget }[];
  readonly remitters: ReadonlyMap<string, Remitter>;
};

/** What to do with a line; operators decide about queued ones. */
export type LinePlan =
  | {
      readonly to: "remittance";
      readonly lead_id: string;
      readonly file_id: string | null;
      readonly outcome: "paid" | "returned";
    }
  | { readonly to: "sent_back"; readonly line_id: string }
  | { readonly to: "deposit"; readonly firm_id: string; readonly deal_id: string | null }
  | { readonly to: "queue"; readonly reason: QueueReason };

export const queueReasons = [
  "no_reference",
  "unknown_reference",
  "ambiguous_reference",
  "amount_differs",
  "third_party",
  "voided_file",
  "already_answered",
  "reference_used",
  "firm_left",
] as const;

export type QueueReason = (typeof queueReasons)[number];

const planQueue = (reason: QueueReason): LinePlan => ({ to: "queue", reason });

export function planLine(line: StatementLine, known: MatchContext): LinePlan {
  const mentions = findMentions(line);
  const ours = mentions.remittances.flatMap((name) => known.remittances.get(name) ?? []);
  const outcome = line.direction === "debit" ? "paid" : "returned";
  const [remitted, ...others] = ours;
  if (others.length > 0) return planQueue("ambiguous_reference");
  if (remitted) return planRemittance(line, remitted, outcome);
  const back = mentions.utrs.flatMap((utr) => known.returning.get(utr) ?? [])[0];
  if (back && line.direction === "debit") {
    return back.paise === line.paise
      ? { to: "sent_back", line_id: back.lineId }
      : planQueue("amount_differs");
  }
  const byUtr = mentions.utrs.flatMap((utr) => known.byUtr.get(utr) ?? [])[0];
  if (byUtr) return planRemittance(line, byUtr, outcome);
  if (line.direction === "debit") {
    return planQueue(line.reference === "" ? "no_reference" : "unknown_reference");
  }
  return planDeposit(line, mentions, known);
}

function planRemittance(
  line: StatementLine,
  { leadId, fileId, paise, isVoid }: KnownRemittance,
  outcome: "paid" | "returned",
): LinePlan {
  if (isVoid) return planQueue("voided_file");
  if (paise !== line.paise) return planQueue("amount_differs");
  return { to: "remittance", lead_id: leadId, file_id: fileId, outcome };
}

function planDeposit(
  line: StatementLine,
  { ids, text }: ReturnType<typeof findMentions>,
  { targets, payments, remitters }: MatchContext,
): LinePlan {
  const named = [
    ...ids.flatMap((id) => targets.get(id) ?? []),
    ...payments.filter(({ name }) => text.includes(normalize(name))).map(({ target }) => target),
  ];
  const deals = new Map(
    named.filter(({ dealId }) => dealId !== null).map((each) => [each.dealId, each]),
  );
  const firms = new Set(named.map(({ firmId }) => firmId));
  const [firmId] = firms;
  if (firmId === undefined) {
    return planQueue(ids.length === 0 ? "no_reference" : "unknown_reference");
  }
  if (firms.size > 1 || deals.size > 1) return planQueue("ambiguous_reference");
  const remitter = remitters.get(firmId);
  if (!remitter || !isRemitter(line, remitter)) return planQueue("third_party");
  const [dealId = null] = deals.keys();
  return { to: "deposit", firm_id: firmId, deal_id: dealId };
}

/** A buyer's payment reference shorter than this is not searched for: it would match by chance. */
export const paymentNameLengthMin = 6;
