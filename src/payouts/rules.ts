// A payout is money that is paid to a firm's bank account.
//
//     ┌─instruct─▶ instructed ──confirm──▶ paid ──bounce──┐
//     │ ◀──void──────┘ └──return──────────────────────────┤
//   scheduled ──send──▶ sent ──confirm──▶ paid            │
//     │   ▲               └────return───▶ returned ◀──────┘
//   hold release                              ▲
//     ▼   │                                   │
//     held ────────────── recall ─────────────┘   (also from scheduled)
//
//   instructed  it is in a file for the bank; only the bank's answer moves it, unless two operators
//               void the file
//   held        the firm is suspended, its account is new or unverified, or the ledger is not sound
//   returned    the money is the firm's balance again; the operator can send it as another payout
//
// A payout is a row of `payouts` and a pending entry in the books, so its money cannot be spent twice;
// the bank's answer posts or voids the entry. Its lines tie every paisa to an order. The payouts due to
// one payee in one run leave as one remittance, by the rail of the sum. A worker sends sandbox money;
// live money leaves in files or by an operator. A deposit is a row of `deposits` under the bank's
// reference, which counts once.

import type { Hold } from "../firms/hold-rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { RailLimits } from "../taxes/tax-rules.ts";

export const payoutStates = [
  "scheduled",
  "held",
  "instructed",
  "sent",
  "paid",
  "returned",
] as const;

/** The source of the money: a settlement, or a withdrawal of the firm's balance. */
export const payoutKinds = ["settlement", "withdrawal"] as const;

export type PayoutKind = (typeof payoutKinds)[number];

export type PayoutState = (typeof payoutStates)[number];

export const payoutLifecycle = {
  noun: "payout",
  initial: ["scheduled", "held"],
  states: payoutStates,
  moves: {
    hold: { from: ["scheduled"], to: "held", by: "clock" },
    release: { from: ["held"], to: "scheduled", by: "clock" },
    instruct: { from: ["scheduled"], to: "instructed", by: "operator" },
    void: { from: ["instructed"], to: "scheduled", by: "operator" },
    send: { from: ["scheduled"], to: "sent", by: "operator" },
    confirm: { from: ["instructed", "sent"], to: "paid", by: "bank" },
    return: { from: ["instructed", "sent"], to: "returned", by: "bank" },
    bounce: { from: ["paid"], to: "returned", by: "bank" },
    recall: { from: ["scheduled", "held"], to: "returned", by: "operator" },
  },
} as const satisfies Lifecycle<PayoutState>;

/**
 * In which states operators do what. What is in a file is answered by the bank's statement or with the
 * whole file. Money that is held is released by whoever sends it, once nothing holds it any more.
 */
export const payoutActs = {
  release: ["scheduled", "held"],
  send: ["scheduled", "held"],
  confirm: ["sent"],
  return: ["scheduled", "held", "sent"],
  resend: ["returned"],
} as const satisfies Readonly<Record<string, readonly PayoutState[]>>;

export type PayoutAct = keyof typeof payoutActs;

export type PayoutAction = keyof typeof payoutLifecycle.moves;

export const rails = ["RTGS", "NEFT", "IMPS"] as const;

export type Rail = (typeof rails)[number];

/** NEFT takes any amount. */
export function chooseRail(paise: number, { rtgs_from_paise, imps_to_paise }: RailLimits): Rail {
  if (paise >= rtgs_from_paise) return "RTGS";
  return paise <= imps_to_paise ? "IMPS" : "NEFT";
}

/** An account without its full number. */
type MaskedAccount = {
  /** Null for the sandbox's own account. */
  readonly accountId: string | null;
  readonly ifsc: string;
  readonly last4: string;
};

export type Payee = {
  readonly account: MaskedAccount | null;
  readonly holds: readonly Hold[];
};

/** The account of sandbox firms that have given none, so that every sale is paid. */
const sandboxAccount: MaskedAccount = { accountId: null, ifsc: "SIMB0000001", last4: "0001" };

export function resolveAccount({ account }: Payee, environment: Environment): MaskedAccount | null {
  return account ?? (environment === "sandbox" ? sandboxAccount : null);
}

export function noPayout(payoutId: string): Failure {
  return new Failure("not_found", `no payout ${payoutId}`);
}

/** The conflict of a UTR that names other money: one UTR is one payment. */
export function utrUsed(message: string): Failure {
  return new Failure("conflict", message, { detail: { reason: "utr_used" } });
}

type PayoutHold = { readonly reason: string; readonly until: Date | null };

/**
 * The reason to hold a payout; undefined when it may leave. Asked when a payout is scheduled, put into
 * a file, released and sent, and by the approvals of these.
 */
export function findHold(
  payee: Payee,
  { environment, ledgerSound }: { environment: Environment; ledgerSound: boolean },
): PayoutHold | undefined {
  const [hold] = payee.holds;
  if (hold) return { reason: hold.reason, until: hold.until };
  if (!resolveAccount(payee, environment)) return { reason: "no_bank_account", until: null };
  return ledgerSound ? undefined : { reason: "ledger_broken", until: null };
}

/** The interval of reviews of an unsent payout, at which holds begin and end. */
const lookEveryMs = { sandbox: 1_000, live: 60_000 } as const satisfies Record<Environment, number>;

export function computeNextLook(environment: Environment, now: Date): Date {
  return new Date(now.getTime() + lookEveryMs[environment]);
}

export const eventByState = {
  scheduled: "payout.scheduled",
  held: "payout.held",
  instructed: "payout.instructed",
  sent: "payout.sent",
  paid: "payout.paid",
  returned: "payout.returned",
} as const satisfies Record<PayoutState, string>;

/** The reference of the simulated bank's deposit for a settlement or a cross. */
export function buildFundingReference(subjectId: string): string {
  return `SIM${subjectId.slice(-19).toUpperCase()}`;
}
