// Lines of the bank's statement of the account that holds all live money. A line is matched, or it
// waits in a queue for an operator:
//
//   new ──┬─match──▶ matched                      a remittance, a deposit, or a known entry
//         ├─repeat─▶ repeated                     an earlier file had it
//         └─queue──▶ queued ──┬─assign──▶ assigned              an operator says whose it is
//                       ▲     │              │
//                       └─────┼─────undo─────┘                  an operator takes that back
//                             ├─send_back──▶ returning ─return─▶ returned   the bank's debit confirms it
//                             └─repeat──▶ repeated              an operator says that an earlier file had it
//
// An id finds the firm that money is for; the account that the bank has confirmed for that firm proves
// that it came from it. Where the bank's form has no column for accounts, the confirmed holder's name
// proves it. What is found and not proven waits: whoever knows an id or a name may write it.

import type { Remitter } from "../firms/rules.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { IstDay } from "../kernel/time.ts";
import { findMentions, hasName, normalize } from "./mention-rules.ts";

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
    repeat: { from: ["new", "queued"], to: "repeated", by: "bank" },
    queue: { from: ["new"], to: "queued", by: "bank" },
    assign: { from: ["queued"], to: "assigned", by: "operator" },
    undo: { from: ["assigned"], to: "queued", by: "operator" },
    send_back: { from: ["queued"], to: "returning", by: "operator" },
    return: { from: ["returning"], to: "returned", by: "bank" },
  },
} as const satisfies Lifecycle<BankLineState>;

export type Direction = "credit" | "debit";

export const lineActs = ["assign", "repeat", "return", "undo"] as const;

export type LineAct = (typeof lineActs)[number];

/** What operators can do with a line: only money that came is sent back. */
export function listLineActs({
  state,
  direction,
  repeats_line_id,
}: {
  readonly state: BankLineState;
  readonly direction: Direction;
  readonly repeats_line_id: string | null;
}): LineAct[] {
  const { assign, undo } = bankLineLifecycle.moves;
  const isQueued = assign.from.some((from) => from === state);
  const can: Readonly<Record<LineAct, boolean>> = {
    assign: isQueued,
    repeat: isQueued && repeats_line_id !== null,
    return: isQueued && direction === "credit",
    undo: undo.from.some((from) => from === state),
  };
  return lineActs.filter((act) => can[act]);
}

/** A line as the bank wrote it. */
export type StatementLine = {
  readonly ordinal: number;
  readonly day: IstDay;
  /** The bank's time of the line; the start of its day where the form has no times. */
  readonly valueAt: Date;
  readonly direction: Direction;
  readonly paise: number;
  /** The bank's reference of the transaction. */
  readonly reference: string;
  readonly narration: string;
  readonly remitterName: string;
  /** Null where the bank's form has no column for it. */
  readonly remitterAccount: string | null;
  /** The balance after the line. */
  readonly balancePaise: number | null;
};

type Proof = "account" | "name";

/** How the line proves that its money came from this firm; undefined when it does not. */
export function findProof(
  { remitterAccount, remitterName }: Pick<StatementLine, "remitterAccount" | "remitterName">,
  { accounts, name }: Pick<Remitter, "accounts" | "name">,
): Proof | undefined {
  if (remitterAccount !== null) {
    const from = normalize(remitterAccount);
    return from !== "" && accounts.some((own) => normalize(own) === from) ? "account" : undefined;
  }
  const from = normalize(remitterName);
  return from !== "" && name !== null && normalize(name) === from ? "name" : undefined;
}

/** A remittance that a line may be about. */
export type KnownRemittance = {
  readonly leadId: string;
  readonly firmId: string;
  readonly fileId: string | null;
  readonly paise: number;
  readonly isVoid: boolean;
  /** The account that the file instructed the bank to pay; null where no file did. */
  readonly account: string | null;
};

/** The firm, and the deal if one is named, that a deposit is for. */
export type KnownTarget = { readonly firmId: string; readonly dealId: string | null };

/** A payment that a cross waits for, by the name that its buyer gave it. */
type KnownPayment = {
  readonly name: string;
  readonly paise: number;
  readonly firmId: string;
  readonly crossId: string;
};

export type MatchContext = {
  readonly remittances: ReadonlyMap<string, KnownRemittance>;
  /** Remittances by the bank's own reference. */
  readonly byUtr: ReadonlyMap<string, KnownRemittance>;
  /** Queued lines that were sent back, by the UTR of the payment back. */
  readonly returning: ReadonlyMap<string, { readonly lineId: string; readonly paise: number }>;
  readonly targets: ReadonlyMap<string, KnownTarget>;
  /** Words that look like firms' own account numbers, by line, with the firm; undefined without one. */
  readonly numbered: ReadonlyMap<StatementLine, readonly (string | undefined)[]>;
  readonly payments: readonly KnownPayment[];
  readonly remitters: ReadonlyMap<string, Remitter>;
};

type FoundBy = "firm" | "deal" | "payment_ref";

/** What to do with a line; operators decide about queued ones. */
export type LinePlan =
  | {
      readonly to: "remittance";
      readonly lead_id: string;
      readonly file_id: string | null;
      readonly outcome: "paid" | "returned";
    }
  | { readonly to: "sent_back"; readonly line_id: string }
  | {
      readonly to: "deposit";
      readonly firm_id: string;
      readonly deal_id: string | null;
      readonly found_by: FoundBy;
      readonly proved_by: Proof;
    }
  | {
      readonly to: "queue";
      readonly reason: QueueReason;
      /** The only firm that ids in the line name; it says nothing of whose the money is. */
      readonly firm_id?: string | undefined;
    };

/** Why lines went where they went, in words for operators. */
export const lineReasons = {
  paid: "a payout of ours, which left",
  returned: "a payout of ours, which came back",
  sent_back: "money of the queue that we sent back",
  known: "its money was entered by hand before",
  deal: "names a deal and comes from its buyer",
  firm: "names a firm and comes from it",
  payment_ref: "has the buyer's name for the payment, its account and the exact amount",
  late: "names a deal whose deadline was over: the money is the buyer's balance",
  counted_before: "an earlier file had this line",
  house: "an operator says that it is the house's own",
  no_reference: "names nothing that we know the form of",
  unknown_reference: "names what does not exist",
  ambiguous_reference: "names several things, so it is not clear which",
  amount_differs: "the amount is another than that of the payment it names",
  third_party: "does not come from a confirmed account of the firm that it names",
  voided_file: "a payment of a payout file that was voided",
  already_answered: "the payment that it names was answered before",
  reference_used: "its reference brought other money",
  firm_left: "the firm that it names has left",
  firm_rejected: "the firm that it names was rejected",
  firm_may_not_trade: "the firm that it names may not trade, and no deal waits for this sum",
  perhaps_counted: "an earlier file may have had this line: it cannot be told",
} as const satisfies Readonly<Record<string, string>>;

export type LineReason = keyof typeof lineReasons;

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
  "firm_rejected",
  "firm_may_not_trade",
  "perhaps_counted",
] as const satisfies readonly LineReason[];

export type QueueReason = (typeof queueReasons)[number];

/** Why a line goes where its plan says, as long as nothing changes before it is applied. */
export function explainPlan(plan: LinePlan): LineReason {
  switch (plan.to) {
    case "remittance":
      return plan.outcome;
    case "sent_back":
      return "sent_back";
    case "deposit":
      return plan.found_by;
    case "queue":
      return plan.reason;
  }
}

const planQueue = (reason: QueueReason, firmId?: string): LinePlan => ({
  to: "queue",
  reason,
  ...(firmId !== undefined && { firm_id: firmId }),
});

export function planLine(line: StatementLine, known: MatchContext): LinePlan {
  const mentions = findMentions(line);
  const ours = mentions.remittances.flatMap((name) => known.remittances.get(name) ?? []);
  const [remitted, ...others] = ours;
  if (others.length > 0) return planQueue("ambiguous_reference");
  if (remitted) return planRemittance(line, remitted, known);
  const back = mentions.utrs.flatMap((utr) => known.returning.get(utr) ?? [])[0];
  if (back && line.direction === "debit") {
    return back.paise === line.paise
      ? { to: "sent_back", line_id: back.lineId }
      : planQueue("amount_differs");
  }
  const byUtr = mentions.utrs.flatMap((utr) => known.byUtr.get(utr) ?? [])[0];
  if (byUtr) return planRemittance(line, byUtr, known);
  if (line.direction === "debit") {
    return planQueue(line.reference === "" ? "no_reference" : "unknown_reference");
  }
  const numbered = known.numbered.get(line) ?? [];
  if (numbered.includes(undefined)) return planQueue("unknown_reference");
  return mentions.ids.length + numbered.length > 0
    ? planDeposit(line, mentions.ids, known)
    : planNamedPayment(line, known);
}

/** A bank gives no account with most returns; with somebody else's, the line is no return of ours. */
function planRemittance(
  line: StatementLine,
  { leadId, firmId, fileId, paise, isVoid, account }: KnownRemittance,
  { remitters }: MatchContext,
): LinePlan {
  if (isVoid) return planQueue("voided_file");
  if (paise !== line.paise) return planQueue("amount_differs");
  const outcome = line.direction === "debit" ? "paid" : "returned";
  const from = normalize(line.remitterAccount ?? "");
  const own = [...(account === null ? [] : [account]), ...(remitters.get(firmId)?.accounts ?? [])];
  if (outcome === "returned" && from !== "" && !own.some((each) => normalize(each) === from)) {
    return planQueue("third_party");
  }
  return { to: "remittance", lead_id: leadId, file_id: fileId, outcome };
}

function planDeposit(
  line: StatementLine,
  ids: readonly string[],
  { targets, numbered, remitters }: MatchContext,
): LinePlan {
  const named = [
    ...ids.flatMap((id) => targets.get(id) ?? []),
    ...listNumbered(line, numbered).map((firmId) => ({ firmId, dealId: null })),
  ];
  const [dealId = null, ...otherDeals] = new Set(named.flatMap((each) => each.dealId ?? []));
  const [firmId, ...otherFirms] = new Set(named.map((each) => each.firmId));
  if (firmId === undefined) return planQueue("unknown_reference");
  if (otherFirms.length > 0) return planQueue("ambiguous_reference");
  if (otherDeals.length > 0) return planQueue("ambiguous_reference", firmId);
  const remitter = remitters.get(firmId);
  const proof = remitter && findProof(line, remitter);
  if (!proof) return planQueue("third_party", firmId);
  const foundBy = dealId === null ? "firm" : "deal";
  return { to: "deposit", firm_id: firmId, deal_id: dealId, found_by: foundBy, proved_by: proof };
}

/** The firms whose own account numbers a line has. */
function listNumbered(line: StatementLine, numbered: MatchContext["numbered"]): string[] {
  return (numbered.get(line) ?? []).flatMap((firmId) => firmId ?? []);
}

/** A buyer's name for a payment with fewer letters and digits is not looked for: it stands by chance. */
const paymentNameLengthMin = 8;

/**
 * A buyer's name for its payment tells apart what came from its confirmed account; it never says whose
 * the money is.
 */
function planNamedPayment(line: StatementLine, { payments, remitters }: MatchContext): LinePlan {
  const [found, ...others] = payments.filter(({ name, paise, firmId }) => {
    const remitter = remitters.get(firmId);
    return (
      paise === line.paise &&
      normalize(name).length >= paymentNameLengthMin &&
      remitter !== undefined &&
      findProof(line, remitter) === "account" &&
      hasName(line, name)
    );
  });
  if (!found) return planQueue("no_reference");
  if (others.length > 0) return planQueue("ambiguous_reference");
  return {
    to: "deposit",
    firm_id: found.firmId,
    deal_id: found.crossId,
    found_by: "payment_ref",
    proved_by: "account",
  };
}

/**
 * What may be the money of whom, for lines that wait: the ids that a line names, and the firms whose
 * confirmed account it came from.
 */
export function listClaimants(
  line: StatementLine,
  { targets, numbered, remitters }: Pick<MatchContext, "targets" | "numbered" | "remitters">,
): string[] {
  if (line.direction === "debit") return [];
  const named = findMentions(line).ids.flatMap((id) => targets.get(id) ?? []);
  const ids = [
    ...named.map(({ firmId, dealId }) => dealId ?? firmId),
    ...listNumbered(line, numbered),
  ];
  const senders = [...remitters].filter(([, remitter]) => findProof(line, remitter) !== undefined);
  return [...new Set([...ids, ...senders.map(([firmId]) => firmId)])];
}
