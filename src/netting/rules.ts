// What netting decides on: the credits of the firms of a group, the duty that these firms will owe,
// and which credit may pay which duty. An assignment says which requirement each credit pays. The
// best assignment has, in lexicographic order:
//
//   1. the least uncovered duty
//   2. the fewest moves: a credit moves when it pays a requirement of another firm
//   3. the fewest credits
//   4. the earliest expiry: credits queue by expiry, then scrip number; of two assignments the better
//      one uses the first credit of the queue in which they differ
//
// Credits never pay more than the requirement, because the excess would be lost.

import type { CrossState } from "../crosses/rules.ts";
import type { CreditState } from "../credits/rules.ts";
import type { FirmState, Mandate } from "../firms/rules.ts";
import { Failure } from "../kernel/failure.ts";
import { type Bps, type Paise, sumPaise } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";

/** The fields of a member that decide whether and with whom it may deal. */
export type MemberFacts = {
  readonly firm_id: string;
  readonly pan: string | null;
  readonly connection_state: FirmState;
  readonly mandate: Mandate | null;
};

export type { CreditState, CrossState };

type GroupFirm = {
  readonly firm_id: string;
  readonly pan: string | null;
  readonly may_trade: boolean;
};

export type GroupCredit = {
  readonly scrip_no: string;
  readonly firm_id: string;
  readonly scheme: Scheme;
  readonly face_paise: number;
  readonly expires_on: IstDay;
  /** Whether it is sellable and priced, so that it can be moved to another firm. */
  readonly is_movable: boolean;
};

export type GroupRequirement = {
  readonly requirement_id: string;
  readonly firm_id: string;
  /** Null: either scheme may pay it. */
  readonly scheme: Scheme | null;
  readonly amount_paise: number;
  readonly due_on: IstDay;
  readonly version: number;
};

export type Holdings = {
  readonly firms: readonly GroupFirm[];
  readonly credits: readonly GroupCredit[];
  readonly requirements: readonly GroupRequirement[];
};

/** Credits and requirements in search order, and which credit may pay what. */
export type NettingBoard = {
  /** In queue order. */
  readonly credits: readonly GroupCredit[];
  /** The hardest to pay first: latest due, one scheme, smallest amount. */
  readonly requirements: readonly GroupRequirement[];
  /** By credit, its kind; credits of one kind may pay the same requirements. */
  readonly creditKinds: Int32Array;
  /** By kind, indexes of the requirements that it may pay, rising. */
  readonly requirementsByKind: readonly (readonly number[])[];
};

/** One credit that is to change hands. */
export type Proposal = {
  readonly from_firm_id: string;
  readonly to_firm_id: string;
  readonly scheme: Scheme;
  readonly scrip_no: string;
  readonly face_paise: Paise;
  readonly price_bps: Bps;
};

/** In an assignment, the index for a credit that pays nothing. */
export const none = -1;

export type Assignment = {
  /** By credit, the index of the requirement that it pays, or none. */
  readonly paid: Int32Array;
  /** Whether no assignment leaves less duty uncovered. */
  readonly isProven: boolean;
};

export function creditAt({ credits }: NettingBoard, place: number): GroupCredit {
  const credit = credits[place];
  if (!credit) throw new Error("a place of a credit is one of the board's");
  return credit;
}

export function requirementAt({ requirements }: NettingBoard, place: number): GroupRequirement {
  const requirement = requirements[place];
  if (!requirement) throw new Error("a place of a requirement is one of the board's");
  return requirement;
}

/** Sorts the holdings of a group for the search. */
export function buildBoard(holdings: Holdings): NettingBoard {
  const credits = holdings.credits.toSorted(
    (a, b) => compare(a.expires_on, b.expires_on) || compare(a.scrip_no, b.scrip_no),
  );
  const requirements = holdings.requirements.toSorted(
    (a, b) =>
      compare(b.due_on, a.due_on) ||
      Number(a.scheme === null) - Number(b.scheme === null) ||
      a.amount_paise - b.amount_paise ||
      compare(a.requirement_id, b.requirement_id),
  );
  return { credits, requirements, ...groupKinds({ ...holdings, credits, requirements }) };
}

/** Compares by code units, independent of the locale. */
export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Firms that may deal with every other firm are interchangeable, so their credits of one scheme and
 * expiry range are one kind.
 */
function groupKinds({
  firms,
  credits,
  requirements,
}: Holdings): Pick<NettingBoard, "creditKinds" | "requirementsByKind"> {
  const firmsById = new Map(firms.map((firm) => [firm.firm_id, firm]));
  const days = [...new Set(requirements.map(({ due_on }) => due_on))].toSorted(compare);
  const plain = findUnrestrictedFirms(firms);
  const kinds = new Map<string, number>();
  const requirementsByKind: (readonly number[])[] = [];
  const creditKinds = Int32Array.from(credits, (credit) => {
    const alive = days.findLastIndex((day) => day <= credit.expires_on);
    const whose = credit.is_movable && plain.has(credit.firm_id) ? "any" : credit.firm_id;
    const name = `${credit.scheme} ${alive} ${whose} ${credit.is_movable}`;
    const known = kinds.get(name);
    if (known !== undefined) return known;
    const pays = requirements.flatMap((requirement, place) =>
      mayPay(credit, requirement, firmsById) ? [place] : [],
    );
    kinds.set(name, requirementsByKind.length);
    return requirementsByKind.push(pays) - 1;
  });
  return { creditKinds, requirementsByKind };
}

/** A credit must have the scheme, be valid on the due day, and be with the firm or movable to it. */
export function mayPay(
  credit: GroupCredit,
  requirement: GroupRequirement,
  firmsById: ReadonlyMap<string, GroupFirm>,
): boolean {
  if (requirement.scheme !== null && requirement.scheme !== credit.scheme) return false;
  if (credit.expires_on < requirement.due_on) return false;
  if (!isMove(credit, requirement)) return true;
  return (
    credit.is_movable && mayDeal(firmsById.get(credit.firm_id), firmsById.get(requirement.firm_id))
  );
}

/** Firms of one PAN are one company and do not deal with each other. */
function mayDeal(giver: GroupFirm | undefined, taker: GroupFirm | undefined): boolean {
  return Boolean(giver?.may_trade && taker?.may_trade) && giver?.pan !== taker?.pan;
}

/** Firms that may deal with every firm of the group that trades. */
function findUnrestrictedFirms(firms: readonly GroupFirm[]): ReadonlySet<string> {
  const holders = Map.groupBy(firms, ({ pan }) => pan);
  const plain = firms.filter((firm) => firm.may_trade && holders.get(firm.pan)?.length === 1);
  return new Set(plain.map(({ firm_id }) => firm_id));
}

/** Whether the credit has to move to another firm to pay. */
export function isMove(credit: GroupCredit, requirement: GroupRequirement): boolean {
  return credit.firm_id !== requirement.firm_id;
}

/** A sum of paise; a conflict when it exceeds what one amount, and so one cross, can hold. */
export function exactSum(amounts: readonly number[]): number {
  const total = sumPaise(amounts);
  if (typeof total === "number") return total;
  throw new Failure("conflict", "the group's sums are larger than one amount can be", {
    detail: { reason: "sum_too_large", maximum_paise: Number.MAX_SAFE_INTEGER },
  });
}
