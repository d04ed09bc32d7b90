// Accounts, entries and the arithmetic of the books.
//
//   account    named by its kind and, for a firm's account, by the firm
//   movement   an amount from one account to another: two postings that sum to zero
//   entry      movements that take effect together, or not at all
//
//   pending ──┬── posted      held back on the giver's side, then moved
//             └── voided      released without effect; either happens once
//   posted                    moved at once
//
// An entry is named by environment, kind, subject and ordinal, and written once under its name: a retry
// gets `already_written`. Funding is a pending entry, release posts it, a refund voids it; legs that end
// separately are entries of their own, told apart by the ordinal.
//
//   firm_cash, desk_commission                     a firm's; never below zero, holds included
//   firm_dues                                      a firm's; below zero by what it owes the house
//   house_cash, house_fees, *_payable              the house's; may be below zero
//   external_bank                                  the outside; below zero by what is with us
//   firm_credits, house_credits, external_customs  credits: one owner each, no balance
//
// What a set leaves available to a firm that owes is set off by entries of the same set (`dues.ts`).
//
// Accounts are opened by their first use. A balance is one row: posted, escrow, pending out, pending in;
// available is posted less escrow and pending out. A payout holds as pending out, everything else as
// escrow. Accounts of the house and the outside are in every entry and refuse nothing, so each is kept
// in 16 stripes, of which a set takes one at random.
//
// A credit enters the books from customs by the first entry that moves it and leaves by a `credit_exit`
// when its holding ends. In between it moves from its owner only (`wrong_owner`), and one pending entry
// at a time has it (`credit_pending`). Entries are numbered while balances are locked, so a firm's
// entries are in the order in which they took effect; `ledger_firm_entries` has one line per posted
// entry and firm, which is what a statement reads. The service's role cannot change entries.

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { canonicalJson } from "../kernel/json.ts";
import { type PaiseSum, subtractPaise } from "../kernel/money.ts";

type AccountTraits = {
  readonly of: "firm" | "house" | "outside";
  readonly holds: "paise" | "credits";
  /** Whether it may not fall below zero. A firm's own accounts may not. */
  readonly floor: boolean;
};

export const accountKinds = {
  /** A firm's money with us. */
  firm_cash: { of: "firm", holds: "paise", floor: true },
  /** A desk's earnings on its clients' deals. */
  desk_commission: { of: "firm", holds: "paise", floor: true },
  /** Negative: a firm's debt to the house, as after the reversal of a deal that was paid out. */
  firm_dues: { of: "firm", holds: "paise", floor: false },
  firm_credits: { of: "firm", holds: "credits", floor: true },
  house_cash: { of: "house", holds: "paise", floor: false },
  house_fees: { of: "house", holds: "paise", floor: false },
  /** Tax on fees that is not yet divided into CGST, SGST and IGST. */
  gst_payable: { of: "house", holds: "paise", floor: false },
  cgst_payable: { of: "house", holds: "paise", floor: false },
  sgst_payable: { of: "house", holds: "paise", floor: false },
  igst_payable: { of: "house", holds: "paise", floor: false },
  /** Tax withheld from sellers. */
  tds_payable: { of: "house", holds: "paise", floor: false },
  house_credits: { of: "house", holds: "credits", floor: true },
  /** Money on our bank account without a known owner; negative for unexplained debits. */
  unmatched_cash: { of: "house", holds: "paise", floor: false },
  /** The bank's side of deposits and payouts: minus the money on our bank account. */
  external_bank: { of: "outside", holds: "paise", floor: false },
  /** The source and destination of credits. */
  external_customs: { of: "outside", holds: "credits", floor: false },
} as const satisfies Readonly<Record<string, AccountTraits>>;

export type AccountKind = keyof typeof accountKinds;

/** Accounts with money of the house and of the outside, whose balances are striped. */
export const stripedKinds = Object.entries(accountKinds)
  .filter(([, { of, holds }]) => of !== "firm" && holds === "paise")
  .map(([kind]) => kind);

type KindOwnedBy<Of> = {
  [Kind in AccountKind]: (typeof accountKinds)[Kind]["of"] extends Of ? Kind : never;
}[AccountKind];

export type Account =
  | { readonly kind: KindOwnedBy<"firm">; readonly firmId: string }
  | { readonly kind: KindOwnedBy<"house" | "outside"> };

/** Whether a pending entry of each kind holds money in escrow or as a payout. */
export const entryKinds = {
  deposit: "escrow",
  deal_hold: "escrow",
  deal_settlement: "escrow",
  /** A buyer's money for a cross, until its settlement holds it leg by leg. */
  cross_escrow: "escrow",
  commission: "escrow",
  fee: "escrow",
  refund: "escrow",
  payout: "pending_out",
  payout_return: "escrow",
  reversal: "escrow",
  /** A refund taken back from its buyer, because customs has transferred the credit after all. */
  late_transfer: "escrow",
  /** What a side that was late comes to owe, and what the other side gets once that is paid. */
  default: "escrow",
  /** The taxes of a leg: GST on the fee, divided, and tax withheld from the seller. */
  tax: "escrow",
  /** Dues set off from a firm's cash or commission; about what made that money available. */
  dues: "escrow",
  /** A credit that its owner used or moved elsewhere. */
  credit_exit: "escrow",
} as const satisfies Readonly<Record<string, "escrow" | "pending_out">>;

export type EntryKind = keyof typeof entryKinds;
export type HeldAs = (typeof entryKinds)[EntryKind];

export type Movement = { readonly from: Account; readonly to: Account } & (
  | { readonly paise: number }
  | { readonly scripNo: string }
);

/** The unique name of an entry. */
export type EntryName = {
  readonly environment: Environment;
  readonly kind: EntryKind;
  /** The id of the order, settlement, cross or payout that it is about. */
  readonly subject: string;
  /** Tells entries of one kind about one subject apart. */
  readonly ordinal?: number;
};

export type Entry = EntryName & {
  readonly phase: "posted" | "pending";
  readonly movements: readonly Movement[];
};

export type Resolution = EntryName & { readonly as: "posted" | "voided" };

export type EntryRefusal =
  | { readonly reason: "already_written" }
  | { readonly reason: "wrong_owner"; readonly scripNo: string }
  /** Another pending entry will move this credit. */
  | { readonly reason: "credit_pending"; readonly scripNo: string }
  | {
      readonly reason: "insufficient_funds";
      readonly account: Account;
      readonly availablePaise: PaiseSum;
      readonly shortPaise: PaiseSum;
    };

/** The conflict of an amount that an account does not have. */
export function insufficientFunds(message: string, available: PaiseSum): Failure {
  return new Failure("conflict", message, {
    detail: { reason: "insufficient_funds", available_paise: available },
  });
}

/** The conflict of what a firm may not do with its money or its credits while it owes. */
export function duesOutstanding(dues: PaiseSum, available: PaiseSum = 0): Failure {
  return new Failure("conflict", `the firm owes us ${dues} paise, which come first`, {
    detail: { reason: "dues_outstanding", available_paise: available, dues_paise: dues },
  });
}

/** The conflict of money that changed while something was decided on it. */
export function balanceMoved(): Failure {
  return new Failure("conflict", "a balance moved meanwhile: try again", {
    detail: { reason: "balance_moved" },
  });
}

/** Refuses where a balance no longer has what was decided on it. */
export function refuseMoved(written: readonly Written<EntryRefusal>[]): void {
  const isShort = written.some((item) => !item.ok && item.refusal.reason === "insufficient_funds");
  if (isShort) throw balanceMoved();
}

export type ResolutionRefusal = {
  readonly reason: "not_pending" | "already_posted" | "already_voided";
};

export type Written<Refusal> =
  | { readonly ok: true; readonly entryNo: number }
  | { readonly ok: false; readonly refusal: Refusal };

export function accountName(account: Account): string {
  return "firmId" in account ? `${account.kind}:${account.firmId}` : account.kind;
}

export function parseAccount(name: string): Account {
  const [kind, firmId] = name.split(":");
  return (firmId === undefined ? { kind } : { kind, firmId }) as Account; // Written by accountName.
}

/** The firm of a firm's account. */
export function accountFirm(name: string): string | undefined {
  const end = name.indexOf(":");
  return end < 0 ? undefined : name.slice(end + 1);
}

export function entryKey({ environment, kind, subject, ordinal = 0 }: EntryName): string {
  return `${environment} ${kind} ${ordinal} ${subject}`;
}

/** What names are made of: no character that would need a quote, and never the word null alone. */
const namePattern = /^[A-Za-z0-9_#/.-]{5,64}$/;

/** What is wrong with the name of an entry; one like that is a bug of ours. */
export function findNameFault({ subject, ordinal = 0 }: EntryName): string | undefined {
  if (!namePattern.test(subject)) return "misnames its subject";
  return Number.isSafeInteger(ordinal) && ordinal >= 0 ? undefined : "has no such ordinal";
}

/** What is wrong with an entry whoever's books it is for; one like that is a bug of ours. */
export function findFault(entry: Entry): string | undefined {
  const { movements } = entry;
  const fault = findNameFault(entry);
  if (fault) return fault;
  if (movements.length === 0) return "moves nothing";
  for (const movement of movements) {
    const { from, to } = movement;
    const moved = "paise" in movement ? "paise" : "credits";
    if (accountName(from) === accountName(to)) return `moves within ${accountName(from)}`;
    for (const account of [from, to]) {
      const traits: AccountTraits = accountKinds[account.kind];
      if (traits.holds !== moved) return `moves ${moved} on ${account.kind}`;
      if ((traits.of === "firm") !== "firmId" in account) return `misnames ${account.kind}`;
      if ("firmId" in account && !namePattern.test(account.firmId)) return "misnames a firm";
    }
    if ("paise" in movement && !(Number.isSafeInteger(movement.paise) && movement.paise > 0)) {
      return `moves ${movement.paise} paise`;
    }
    if ("scripNo" in movement && !namePattern.test(movement.scripNo)) return "misnames a credit";
  }
  return undefined;
}

/** Throws at the first item that was refused, for callers whose own rules have ruled that out. */
export function assertWritten(results: readonly Written<{ readonly reason: string }>[]): void {
  for (const result of results) {
    if (!result.ok) throw new Error(`the books refused: ${canonicalJson(result.refusal)}`);
  }
}

export type Balance = {
  posted_paise: PaiseSum;
  escrow_paise: PaiseSum;
  pending_out_paise: PaiseSum;
  pending_in_paise: PaiseSum;
};

/** What a balance still allows to be taken: everything posted that no hold keeps back. */
export function availableBalance({
  posted_paise,
  escrow_paise,
  pending_out_paise,
}: Readonly<Balance>): PaiseSum {
  return subtractPaise(subtractPaise(posted_paise, escrow_paise), pending_out_paise);
}

/** A movement as the books keep it: the amount is paise, or the one credit that is named. */
export type MovementRow = {
  readonly from_account: string;
  readonly to_account: string;
  readonly scrip_no: string | null;
  readonly amount: number;
};

/** What names an account's balance. A firm is in one environment, so its accounts are too. */
export function balanceName(environment: Environment, account: string): string {
  return accountFirm(account) === undefined ? `${account}:${environment}` : account;
}

/** What names a credit in the books. */
export function creditName(environment: Environment, scripNo: string): string {
  return `${environment} ${scripNo}`;
}

/** A movement of money, as the books have it. */
export type Posted = {
  readonly entry_no: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly from_account: string;
  readonly to_account: string;
  readonly paise: number;
};

/** A sum of accounts of one kind. */
export type KindSum = { readonly kind: AccountKind; readonly paise: PaiseSum };
