// What a desk says takes two of its keys: one proposes, another one approves, and the act is carried out
// as the approving key's. Off until the desk says so.
//
//   proposed ──approve──▶ approved   it was carried out, in the same transaction
//       ├──────reject───▶ rejected   by a key that could approve it, or by its own
//       ├──────void─────▶ voided     the account is another, or the proposing key was revoked
//       └──────expire───▶ expired    nobody decided in time

import { isSamePerson } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";

/** `rules` changes what takes two keys. */
export const deskApprovalKinds = ["bank_change", "withdrawal", "offboarding", "rules"] as const;
export type DeskApprovalKind = (typeof deskApprovalKinds)[number];

export const deskApprovalStates = [
  "proposed",
  "approved",
  "rejected",
  "voided",
  "expired",
] as const;
export type DeskApprovalState = (typeof deskApprovalStates)[number];

export const deskApprovalLifecycle = {
  noun: "approval",
  initial: ["proposed"],
  states: deskApprovalStates,
  moves: {
    approve: { from: ["proposed"], to: "approved" },
    reject: { from: ["proposed"], to: "rejected" },
    void: { from: ["proposed"], to: "voided", by: "clock" },
    expire: { from: ["proposed"], to: "expired", by: "clock" },
  },
} as const satisfies Lifecycle<DeskApprovalState>;

export const approvalValidMs = 72 * 3_600_000;
export const openApprovalsMax = 100;
/** Withdrawals of a firm are summed over this time. */
export const withdrawnWithinMs = 24 * 3_600_000;
/** In live both keys are as they were for this long: neither was minted, reissued or renamed for it. */
const keyUnchangedMs = 24 * 3_600_000;

export type SecondKeyRules = {
  readonly bank_changes: boolean;
  readonly withdrawals_from_paise: number | null;
};

export const noRules: SecondKeyRules = { bank_changes: false, withdrawals_from_paise: null };

/** What a key is about to do. */
export type GatedAct = {
  readonly kind: DeskApprovalKind;
  readonly deskId: string;
  readonly firmId: string;
  /** The account that money goes to; `none` without one. */
  readonly fact: string;
  /** Of a withdrawal: its sum, with what the firm has withdrawn within 24 hours. */
  readonly paise?: number;
  /** The payout that it makes. */
  readonly payoutId?: string;
};

export function needsSecondKey(rules: SecondKeyRules, { kind, paise = 0 }: GatedAct): boolean {
  const from = rules.withdrawals_from_paise;
  switch (kind) {
    case "bank_change":
      return rules.bank_changes;
    case "withdrawal":
      return from !== null && paise >= from;
    case "offboarding":
      // What is left is paid out later, however much it is by then.
      return from !== null;
    case "rules":
      return true;
  }
}

export function secondKeyRequired({ kind, firmId }: GatedAct): Failure {
  return new Failure("conflict", "your desk says that this takes a second key: propose it", {
    detail: {
      reason: "second_key_required",
      kind,
      firm_id: firmId,
      propose_at: "POST /v1/approvals",
    },
  });
}

/** Whether a change lets one key do more than before. */
export function isLooser(before: SecondKeyRules, after: SecondKeyRules): boolean {
  if (before.bank_changes && !after.bank_changes) return true;
  const [was, is] = [before.withdrawals_from_paise, after.withdrawals_from_paise];
  return was !== null && (is === null || is > was);
}

/** What is known of a key that has not ended. */
export type KeyFacts = {
  readonly key_id: string;
  readonly name: string;
  readonly parent_key_id: string | null;
  /** When it was minted, reissued, renamed or narrowed last. */
  readonly updated_at: Date;
};

type KeyPair = { readonly approver: KeyFacts; readonly proposer: KeyFacts };

/** Why one key does not approve what another proposed; undefined where it may. */
function findPairProblem({ approver, proposer }: KeyPair): string | undefined {
  if (approver.key_id === proposer.key_id) return "same_key";
  if (isSamePerson(approver.name, proposer.name)) return "same_name";
  const isMinted =
    approver.parent_key_id === proposer.key_id || proposer.parent_key_id === approver.key_id;
  return isMinted ? "minted_by_the_other" : undefined;
}

const problemWords: Readonly<Record<string, string>> = {
  same_key: "another key must approve what this one proposed",
  same_name: "a key of another name must approve it",
  minted_by_the_other: "neither of the two keys may have minted the other",
};

export function refuseApprover(
  { proposedName, ...pair }: KeyPair & { readonly proposedName: string },
  { environment, now }: { readonly environment: Environment; readonly now: Date },
): void {
  const then = { ...pair, proposer: { ...pair.proposer, name: proposedName } };
  const problem = findPairProblem(pair) ?? findPairProblem(then);
  if (problem !== undefined) {
    throw new Failure("forbidden", problemWords[problem] ?? problem, {
      detail: { reason: "not_a_second_key", problem },
    });
  }
  if (environment !== "live") return;
  const changedAt = Math.max(
    pair.approver.updated_at.getTime(),
    pair.proposer.updated_at.getTime(),
  );
  const from = new Date(changedAt + keyUnchangedMs);
  if (from <= now) return;
  throw new Failure("forbidden", "one of the two keys was minted or changed within 24 hours", {
    detail: { reason: "key_changed_lately", from: from.toISOString() },
  });
}

/** A desk whose keys could never approve for one another would lock itself out. */
export function refuseWithoutPair(keys: readonly KeyFacts[]): void {
  const hasPair = keys.some((approver) =>
    keys.some((proposer) => findPairProblem({ approver, proposer }) === undefined),
  );
  if (hasPair) return;
  throw new Failure("conflict", "no two keys of your desk could approve for one another", {
    detail: { reason: "no_second_key" },
  });
}

/** The state at a time: an undecided one expires without a write. */
export function findApprovalState(
  { state, expires_at }: { readonly state: DeskApprovalState; readonly expires_at: Date },
  now: Date,
): DeskApprovalState {
  return state === "proposed" && expires_at <= now ? "expired" : state;
}
