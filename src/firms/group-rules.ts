// The allowed actions of a group, and the sums of its members' credits and duty.
//
// Sums are exact at any size.

import { Failure } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { type PaiseSum, readPaise, subtractPaise, sumPaise } from "../kernel/money.ts";

/** A group's members and their positions are read in one answer, so their number is limited. */
export const membersMax = 500;

type GroupFacts = { readonly member_count: number };

/** A group has no states; its number of members decides what is allowed. */
export function listGroupActions({ member_count }: GroupFacts): string[] {
  return [
    "update",
    ...(member_count < membersMax ? ["add_member"] : []),
    ...(member_count > 0 ? ["remove_member"] : ["delete"]),
  ];
}

/** Whether the firm is to be added; false when it is a member already. */
export function mustJoin(group: { group_id: string } & GroupFacts, current: string | null) {
  if (current === group.group_id) return false;
  if (current !== null) {
    throw new Failure("conflict", "the firm is in another group; take it out of that one first", {
      detail: { reason: "in_another_group", group_id: current },
    });
  }
  if (group.member_count < membersMax) return true;
  throw new Failure("conflict", `a group has at most ${membersMax} members`, {
    detail: { reason: "group_full", allowed_actions: listGroupActions(group) },
  });
}

/** Only an empty group can be deleted. */
export function refuseMembers(group: GroupFacts): void {
  if (group.member_count === 0) return;
  throw new Failure("conflict", "only a group without members can be deleted", {
    detail: {
      reason: "group_not_empty",
      member_count: group.member_count,
      allowed_actions: listGroupActions(group),
    },
  });
}

/** By days left until the credit expires; the last bucket has no end. */
export const expiryBuckets = [
  { bucket: "0-30", days_max: 30 },
  { bucket: "31-60", days_max: 60 },
  { bucket: "61-90", days_max: 90 },
  { bucket: "91-180", days_max: 180 },
  { bucket: "181-365", days_max: 365 },
  { bucket: "over-365", days_max: null },
] as const;

/** The first day of every bucket but the first, for `width_bucket` in the store. */
export const bucketStarts = expiryBuckets.flatMap(({ days_max }) =>
  days_max === null ? [] : [days_max + 1],
);

/** Credits that a firm can still use; suspended ones are left out. */
export const heldStates = ["listed", "reserved", "in_settlement"] as const;

/** Credits of one scheme in one bucket. */
type HeldSum = {
  readonly scheme: Scheme;
  readonly bucket: number;
  readonly count: number;
  readonly face_paise: string;
  readonly available_paise: string;
};

/** Duty of one scheme; null is duty that either scheme can pay. */
type OwedSum = {
  readonly scheme: Scheme | null;
  readonly count: number;
  readonly amount_paise: string;
};

export type MemberSums = {
  readonly firm_id: string;
  readonly legal_name: string;
  readonly held: readonly HeldSum[];
  readonly owed: readonly OwedSum[];
};

export function sumPositions(members: readonly MemberSums[]) {
  return {
    ...toPosition(
      members.flatMap(({ held }) => held),
      members.flatMap(({ owed }) => owed),
    ),
    members: members.map(({ firm_id, legal_name, held, owed }) => ({
      firm_id,
      legal_name,
      ...toPosition(held, owed),
    })),
  };
}

function toPosition(held: readonly HeldSum[], owed: readonly OwedSum[]) {
  return {
    schemes: schemes.map((scheme) =>
      sumSchemePosition(
        scheme,
        held.filter((sum) => sum.scheme === scheme),
        owed.filter((sum) => sum.scheme === scheme),
      ),
    ),
    any_scheme: sumOwed(owed.filter(({ scheme }) => scheme === null)),
  };
}

function sumSchemePosition(scheme: Scheme, held: readonly HeldSum[], owed: readonly OwedSum[]) {
  const credits = sumHeld(held);
  const requirements = sumOwed(owed);
  return {
    scheme,
    ...credits,
    ...requirements,
    net_paise: subtractPaise(credits.face_paise, requirements.requirement_paise),
    buckets: expiryBuckets.map((bucket, index) => ({
      ...bucket,
      ...sumHeld(held.filter((sum) => sum.bucket === index)),
    })),
  };
}

function sumHeld(held: readonly HeldSum[]) {
  return {
    credit_count: held.reduce((total, { count }) => total + count, 0),
    face_paise: sumExactly(held.map(({ face_paise }) => face_paise)),
    available_paise: sumExactly(held.map(({ available_paise }) => available_paise)),
  };
}

function sumOwed(owed: readonly OwedSum[]) {
  return {
    requirement_count: owed.reduce((total, { count }) => total + count, 0),
    requirement_paise: sumExactly(owed.map(({ amount_paise }) => amount_paise)),
  };
}

function sumExactly(amounts: readonly string[]): PaiseSum {
  return sumPaise(amounts.map(readPaise));
}
